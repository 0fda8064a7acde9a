-- A row: one incident with what happened to its node next: the next attempt of the effort whose session it ended, the
-- gang session that went on in spite of it, the node's next gang session, and what else held or shut the node
-- meanwhile.
with incidents as (select * from intermediate.int_incidents_found),
attributed as (select * from intermediate.int_incidents_attributed),
nodes as (select node_key, node from intermediate.int_nodes_keyed),
sessions as (select * from intermediate.int_sessions_merged where has_started and started_at is not null),
sizes as (select * from intermediate.int_sessions_sized),
lineages as (select * from intermediate.int_lineages_joined),
gangs as (select session_key, started_at, until_at from intermediate.int_gangs_found),
members as (select * from intermediate.int_session_nodes_merged),
states as (select * from intermediate.int_node_states_merged),
settings as (select * from meta.settings),

met as materialized (
    select
        incidents.incident_id,
        incidents.node,
        nodes.node_key,
        incidents.started_at,
        incidents.started_at + to_microseconds((settings.failures_before_min * 6e7)::bigint) as late_at,
        attributed.session_key,
        attributed.attribution_gap_min
    from incidents
    cross join settings
    left join nodes using (node)
    left join attributed using (incident_id)
),

efforts as (
    select
        sessions.session_key,
        sessions.session_id,
        sessions.started_at,
        sessions.until_at,
        coalesce(
            'lineage ' || lineages.lineage_id,
            concat_ws(chr(31), 'name', sessions.owner, coalesce(sessions.run_name, sessions.session_id))
        ) as effort_key
    from sessions
    left join lineages using (session_key)
),

ended as (
    select
        met.incident_id,
        met.node_key,
        efforts.effort_key,
        -- the next one begins after this one both began and, within the clocks' tolerance, ended
        greatest(efforts.until_at - clock_tolerance(), efforts.started_at + to_microseconds(1)) as after_at
    from met
    join efforts using (session_key)
),

attempts as (
    select session_key, session_id, started_at, effort_key
    from efforts
    where effort_key in (select effort_key from ended)
),

next_attempts as (
    select ended.incident_id, ended.node_key, attempts.session_key, attempts.session_id, attempts.started_at
    from ended
    asof join attempts on attempts.effort_key = ended.effort_key and attempts.started_at >= ended.after_at
),

known_attempts as (
    select next_attempts.incident_id, members.node_key is not null as is_kept
    from next_attempts
    join sizes on sizes.session_key = next_attempts.session_key and sizes.node_count > 0
    left join members
        on members.session_key = next_attempts.session_key and members.node_key = next_attempts.node_key
),

-- first which gangs ran then, next whether on that node: a gang has very many nodes
-- steps are materialized, lest the optimizer groups all members before it looks up the few that are asked for
running as materialized (
    select met.incident_id, met.node_key, gangs.session_key
    from met
    join gangs on gangs.started_at <= met.started_at and gangs.until_at > met.late_at
    where met.session_key is null
),

running_there as materialized (select running.* from running join members using (session_key, node_key)),

went_on as (
    select incident_id, min(session_key) as session_key
    from running_there
    group by incident_id
),

-- only where the node was left, or no session ended, is it asked when a gang took it again
left_alone as (
    select met.incident_id, met.node_key, met.started_at
    from met
    left join known_attempts using (incident_id)
    left join went_on using (incident_id)
    where not known_attempts.is_kept or met.session_key is null and went_on.session_key is null
),

gang_uses as (
    select members.node_key, members.started_at
    from members
    semi join gangs using (session_key)
    semi join left_alone using (node_key)
),

back as (
    select left_alone.incident_id, gang_uses.started_at as back_at
    from left_alone
    asof join gang_uses on gang_uses.node_key = left_alone.node_key and gang_uses.started_at > left_alone.started_at
),

single_uses as (
    select members.node_key, members.started_at
    from members
    semi join (select session_key from sizes where node_count = 1) using (session_key)
    semi join left_alone using (node_key)
),

held as (
    select left_alone.incident_id, single_uses.started_at as held_at
    from left_alone
    asof join single_uses
        on single_uses.node_key = left_alone.node_key and single_uses.started_at > left_alone.started_at
),

shut as (
    select met.incident_id, if(bool_or(states.ended_at is null), null, max(states.ended_at)) as shut_until
    from met
    join states using (node)
    left join next_attempts using (incident_id)
    cross join settings
    where states.state_kind in ('down', 'drained', 'out_of_service')
        and coalesce(states.ended_at, states.observed_until) > met.started_at
        and states.started_at < coalesce(
            next_attempts.started_at,
            met.started_at + to_microseconds((settings.retries_manual_gap_max_h * 36e8)::bigint)
        )
    group by met.incident_id
),

final as (
    select
        met.incident_id,
        met.session_key,
        met.attribution_gap_min,
        next_attempts.session_key as next_session_key,
        known_attempts.is_kept as next_kept_node,
        went_on.session_key as running_session_key,
        shut.incident_id is not null as was_shut,
        shut.shut_until,
        back.back_at,
        coalesce(minutes_between(met.started_at, back.back_at) <= 60 * settings.retries_manual_gap_max_h, false)
            as is_soon_back,
        held.held_at is not null and held.held_at < coalesce(back.back_at, 'infinity'::timestamptz)
            and not coalesce(known_attempts.is_kept, true) as is_held
    from met
    left join next_attempts using (incident_id)
    left join known_attempts using (incident_id)
    left join went_on using (incident_id)
    left join back using (incident_id)
    left join held using (incident_id)
    left join shut using (incident_id)
    cross join settings
)

select * from final
