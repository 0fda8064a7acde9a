-- A row: one save of a gang session. Where a run of the session logged its saves these are the session's, with what
-- telemetry shows of each; elsewhere those that telemetry shows are.
with seen as (select * from intermediate.int_checkpoint_saves_seen),
logged as (select * from intermediate.int_checkpoint_saves_logged),
paired as (select * from intermediate.int_checkpoint_saves_paired),
sessions as (select * from intermediate.int_checkpoint_sessions_measured),
ends as (select session_key, until_at from intermediate.int_sessions_merged),

shown as (
    select
        seen.session_key,
        paired.logged_number,
        min(seen.started_at) as telemetry_started_at,
        max(seen.ended_at) as telemetry_ended_at,
        max(seen.step_s) as step_s,
        sum(seen.bytes) as bytes,
        sum(seen.known_s) as known_s,
        sum(seen.mean_bytes_per_s * seen.known_s) / nullif(sum(seen.known_s), 0) as mean_bytes_per_s,
        max(seen.peak_bytes_per_s) as peak_bytes_per_s,
        max(seen.writer_nodes) as writer_nodes,
        max(seen.node_count) as node_count,
        min(seen.reporting_nodes) as reporting_nodes,
        sum(seen.util_stall_s) as util_stall_s,
        bool_and(seen.is_completed) as is_completed,
        bool_and(seen.is_span_seen) as is_span_seen
    from seen
    left join paired using (session_key, seen_number)
    group by seen.session_key, paired.logged_number, if(paired.logged_number is null, seen.seen_number, null)
),

by_log as (
    select
        logged.session_key,
        'logged' as save_evidence,
        logged.started_at,
        logged.ended_at,
        logged.save_s,
        shown.* exclude (session_key, logged_number, is_completed),
        logged.ended_at <= ends.until_at as is_completed
    from logged
    join ends using (session_key)
    left join shown using (session_key, logged_number)
),

by_telemetry as (
    select
        session_key,
        'telemetry' as save_evidence,
        telemetry_started_at as started_at,
        telemetry_ended_at as ended_at,
        null::double as save_s,
        shown.* exclude (session_key, logged_number)
    from shown
    where session_key not in (select session_key from logged)
),

both_kinds as (
    select * from by_log
    union all by name
    select * from by_telemetry
),

final as (
    select
        both_kinds.session_key,
        row_number() over (
            partition by both_kinds.session_key order by both_kinds.started_at, both_kinds.ended_at
        )::integer as save_number,
        both_kinds.* exclude (session_key) replace (coalesce(both_kinds.step_s, sessions.step_s) as step_s)
    from both_kinds
    join sessions using (session_key)
)

select * from final
