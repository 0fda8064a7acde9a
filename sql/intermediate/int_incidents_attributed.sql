-- A row: one incident that a session's end goes with: a session on that node that ended, not completed, at most
-- after_min before the incident and before_min after it, both included. Of several the nearest end counts.
with incidents as (select * from intermediate.int_incidents_found),
nodes as (select node_key, node from intermediate.int_nodes_keyed),
sessions as (select * from intermediate.int_sessions_merged),
members as (select * from intermediate.int_session_nodes_merged),
settings as (
    select
        to_microseconds((failures_before_min * 6e7)::bigint) as before_span,
        to_microseconds((failures_after_min * 6e7)::bigint) as after_span,
        greatest(((failures_before_min + failures_after_min) * 6e7)::bigint, 60000000) as bucket_us
    from meta.settings
),

spans as (
    select
        incidents.incident_id,
        nodes.node_key,
        incidents.started_at,
        incidents.started_at - settings.after_span as from_at,
        incidents.started_at + settings.before_span as to_at
    from incidents
    join nodes using (node)
    cross join settings
),

-- stretches of time as long as a span, so that ends meet by equality
bucketed as (
    select
        spans.*,
        unnest(
            generate_series(epoch_us(from_at) // settings.bucket_us, epoch_us(to_at) // settings.bucket_us)
        ) as bucket
    from spans
    cross join settings
),

ends as (
    select
        sessions.session_key,
        sessions.session_id,
        sessions.started_at,
        sessions.ended_at,
        epoch_us(sessions.ended_at) // settings.bucket_us as bucket
    from sessions
    cross join settings
    where sessions.has_started and sessions.ended_at is not null and sessions.end_reason <> 'completed'
        and epoch_us(sessions.ended_at) // settings.bucket_us in (select bucket from bucketed)
),

placed as (
    select ends.*, members.node_key, members.until_at
    from ends
    join members using (session_key)
),

meetings as (
    select
        bucketed.incident_id,
        placed.session_key,
        placed.session_id,
        placed.started_at,
        minutes_between(bucketed.started_at, placed.ended_at) as gap_min
    from placed
    join bucketed using (node_key, bucket)
    where placed.ended_at between bucketed.from_at and bucketed.to_at and placed.until_at >= bucketed.from_at
),

final as (
    select
        incident_id,
        arg_min(session_key, (abs(gap_min), gap_min, started_at, session_id)) as session_key,
        arg_min(gap_min, (abs(gap_min), gap_min, started_at, session_id)) as attribution_gap_min,
        count(*) as candidate_count
    from meetings
    group by incident_id
)

select * from final
