-- A row: one incident with what happened to its node next: the next attempt of the effort whose session it ended, the
-- gang session that went on in spite of it, the node's next gang session, and what else held or shut the node meanwhile.
with incidents as (select * from intermediate.int_incidents_found),
attributed as (select * from intermediate.int_incidents_attributed),
nodes as (select node_key, node from intermediate.int_nodes_keyed),
sessions as (select * from intermediate.int_sessions_merged where has_started and started_at is not null),
sizes as (select * from intermediate.int_sessions_sized),
lineages as (select * from intermediate.int_lineages_joined),
gangs as (select session_key from intermediate.int_gangs_found),
members as (select * from intermediate.int_session_nodes_merged),
states as (select * from intermediate.int_node_states_merged),
settings as (select * from meta.settings),

met as (
    select
        incidents.incident_id,
        incidents.node,
        nodes.node_key,
        incidents.started_at,
        attributed.session_key,
        attributed.attribution_gap_min
    from incidents
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
    select next_attempts.incident_id, bool_or(members.node_key = next_attempts.node_key) as is_kept
    from next_attempts
    join members using (session_key)
    group by next_attempts.incident_id
),

used as (
    select members.node_key, members.session_key, members.started_at, members.until_at, sizes.node_count,
        gangs.session_key is not null as is_gang
    from members
    join sizes using (session_key)
    left join gangs using (session_key)
    where members.node_key in (select node_key from met) and (gangs.session_key is not null or sizes.node_count = 1)
),

gang_uses as (select * from used where is_gang),
single_uses as (select * from used where not is_gang),

went_on as (
    select met.incident_id, gang_uses.session_key
    from met
    asof join gang_uses on gang_uses.node_key = met.node_key and gang_uses.started_at <= met.started_at
    cross join settings
    where met.session_key is null and minutes_between(met.started_at, gang_uses.until_at) > settings.failures_before_min
),

back as (
    select met.incident_id, gang_uses.started_at as back_at
    from met
    asof join gang_uses on gang_uses.node_key = met.node_key and gang_uses.started_at > met.started_at
),

held as (
    select met.incident_id, single_uses.started_at as held_at
    from met
    asof join single_uses on single_uses.node_key = met.node_key and single_uses.started_at > met.started_at
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
