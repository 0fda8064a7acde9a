-- A row: one started session whose end is known, with what the end means and the rule that said so.
with sessions as (select * from intermediate.int_sessions_merged),
members as (select * from intermediate.int_session_nodes_merged),
nodes as (select * from intermediate.int_nodes_keyed),
node_incidents as (select * from intermediate.int_node_incidents_merged),
node_states as (select * from intermediate.int_node_states_merged),
xid_events as (select * from intermediate.int_xid_events_grouped),
annotations as (select * from intermediate.int_annotations_targeted),
runs as (select * from intermediate.int_session_runs_measured),
maintenance as (select * from meta.maintenance),
settings as (select * from meta.settings),

ends as (select * from sessions where has_started and ended_at is not null),

in_maintenance as (
    select distinct ends.session_key
    from ends
    join maintenance
        on ends.ended_at >= coalesce(maintenance.from_at, '-infinity'::timestamptz)
        and ends.ended_at < coalesce(maintenance.to_at, 'infinity'::timestamptz)
),

-- a person knows that it was planned: a remark on the session, or on one of its nodes from a given time on
called_planned as (
    select ends.session_key
    from annotations
    join ends using (session_key)
    where annotations.is_planned
        and ends.ended_at between coalesce(annotations.started_at, '-infinity'::timestamptz)
            and coalesce(annotations.ended_at, 'infinity'::timestamptz)
    union
    select ends.session_key
    from annotations
    join members using (node_key)
    join ends on ends.session_key = members.session_key
    where annotations.is_planned
        and ends.ended_at between annotations.started_at and coalesce(annotations.ended_at, 'infinity'::timestamptz)
        and members.until_at >= annotations.started_at
),

began as (
    select node, started_at, null::timestamptz as over_at, 'incident_before' as end_rule from node_incidents
    union all
    select node, started_at, ended_at, 'node_down_before' from node_states where state_kind = 'down'
    union all
    -- a log whose clock drifts tells of no 'before'
    select node, event_at, null, 'xid_before' from xid_events where has_sure_time
),

-- stretches of before_min, so that what began meets the ends in its own and the next by equality
reach as (select greatest((failures_before_min * 6e7)::bigint, 60000000) as reach_us from meta.settings),

bucketed as (
    select nodes.node_key, began.*, unnest([0, 1]) + epoch_us(began.started_at) // reach.reach_us as bucket
    from began
    join nodes using (node)
    cross join reach
),

kills as (
    select
        members.node_key,
        ends.session_key,
        ends.started_at,
        ends.ended_at,
        epoch_us(ends.ended_at) // reach.reach_us as bucket
    from ends
    join members using (session_key)
    cross join reach
    where ends.end_reason = 'killed'
),

explained as (
    select kills.session_key, min(bucketed.end_rule) as end_rule
    from bucketed
    join kills using (node_key, bucket)
    cross join settings
    where bucketed.started_at <= kills.ended_at
        -- a node that was up again before the session began did not end it
        and coalesce(bucketed.over_at > kills.started_at, true)
        and minutes_between(bucketed.started_at, kills.ended_at) <= settings.failures_before_min
    group by kills.session_key
),

silent as (
    select ends.session_key
    from ends
    join runs using (session_key)
    cross join settings
    -- a sampled history may lack its last steps, and a run that had finished had no more to log
    where ends.end_reason = 'killed' and runs.is_covered and not runs.has_sampled and not runs.has_finished
        and minutes_between(
            greatest(ends.started_at, coalesce(runs.last_step_at, ends.started_at)), ends.ended_at
        ) >= settings.end_class_silent_min
),

ruled as (
    select
        ends.session_key,
        case
            when ends.end_reason = 'completed' then ['completed', 'end_reason']
            when in_maintenance.session_key is not null then ['planned', 'maintenance']
            when called_planned.session_key is not null then ['planned', 'annotation']
            when starts_with(ends.state_key, 'control-plane/') then ['failure', 'control_plane']
            when ends.end_reason in ('failed', 'node_fail', 'out_of_memory') then ['failure', 'end_reason']
            when ends.end_reason = 'preempted' then ['preempted', 'end_reason']
            when ends.end_reason = 'timeout' and ends.time_limit_min is null then ['unknown', 'no_time_limit']
            when ends.end_reason = 'timeout'
                and minutes_between(ends.started_at, ends.ended_at)
                    >= settings.end_class_limit_min_ratio * ends.time_limit_min
                then ['planned', 'time_limit']
            when ends.end_reason = 'timeout' and ends.started_at is not null then ['failure', 'before_time_limit']
            when ends.end_reason = 'killed' and explained.session_key is not null then ['failure', explained.end_rule]
            when silent.session_key is not null then ['failure', 'run_silent']
            when ends.end_reason = 'killed' then ['user', 'end_reason']
            else ['unknown', 'end_reason']
        end as ruling
    from ends
    left join in_maintenance using (session_key)
    left join called_planned using (session_key)
    left join explained using (session_key)
    left join silent using (session_key)
    cross join settings
),

final as (
    select session_key, ruling[1] as end_class, ruling[2] as end_rule
    from ruled
)

select * from final
