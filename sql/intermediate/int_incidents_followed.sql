-- A row: one incident with what happened to its node next: the next attempt of the effort whose session it ended, the
-- gang session that went on in spite of it, the node's next gang session, and what else held or shut the node
-- meanwhile.
with incidents as (select * from intermediate.int_incidents_found),
attributed as (select * from intermediate.int_incidents_attributed),
attempted as (select * from intermediate.int_incidents_attempted),
outlived as (select * from intermediate.int_incidents_outlived),
nodes as (select node_key, node from intermediate.int_nodes_keyed),
sizes as (select * from intermediate.int_sessions_sized),
gangs as (select session_key, started_at from intermediate.int_gangs_found),
-- read anew at each use: held in memory, its rows would be most of what this model needs
members as not materialized (select * from intermediate.int_session_nodes_merged),
states as (select * from intermediate.int_node_states_merged),
settings as (select * from meta.settings),

met as (
    select
        incidents.incident_id,
        incidents.node,
        nodes.node_key,
        incidents.started_at,
        attributed.session_key,
        attributed.attribution_gap_min,
        attempted.* exclude (incident_id),
        outlived.session_key as running_session_key
    from incidents
    left join nodes using (node)
    left join attributed using (incident_id)
    left join attempted using (incident_id)
    left join outlived using (incident_id)
),

-- only where the node was left, or no session ended, is it asked when a gang took it again
left_alone as (
    select incident_id, node_key, started_at
    from met
    where not next_kept_node or session_key is null and running_session_key is null
),

-- of all uses of a node only the first in each long stretch and those in the incident's own are looked at: in order of
-- time they would not fit into memory
long_stretch as (
    select greatest((epoch_us(max(started_at)) - epoch_us(min(started_at))) // sqrt(count(*))::bigint, 1) as length_us
    from gangs
),

gang_uses as not materialized (
    select members.node_key, members.started_at, epoch_us(members.started_at) // long_stretch.length_us as place
    from members
    cross join long_stretch
    semi join gangs using (session_key)
    semi join left_alone using (node_key)
),

incident_places as (
    select distinct left_alone.node_key, epoch_us(left_alone.started_at) // long_stretch.length_us as place
    from left_alone
    cross join long_stretch
),

telling_uses as (
    select node_key, min(started_at) as started_at
    from gang_uses
    group by node_key, place
    union all
    select gang_uses.node_key, gang_uses.started_at
    from gang_uses
    semi join incident_places using (node_key, place)
),

back as (
    select left_alone.incident_id, telling_uses.started_at as back_at
    from left_alone
    asof join telling_uses
        on telling_uses.node_key = left_alone.node_key and telling_uses.started_at > left_alone.started_at
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

-- until when any state that had begun by then shuts the node
shutting as (
    select
        node,
        started_at,
        max(ended_at) over so_far as closed_until,
        max(if(ended_at is null, observed_until, null)) over so_far as open_until
    from states
    where state_kind in ('down', 'drained', 'out_of_service')
    window so_far as (partition by node order by started_at)
),

looked_until as (
    select
        met.incident_id,
        met.node,
        met.started_at,
        coalesce(
            met.next_started_at,
            met.started_at + to_microseconds((settings.retries_manual_gap_max_h * 36e8)::bigint)
        ) as until_at
    from met
    cross join settings
),

shut as (
    select
        looked_until.incident_id,
        if(shutting.open_until > looked_until.started_at, null, shutting.closed_until) as shut_until
    from looked_until
    asof join shutting on shutting.node = looked_until.node and shutting.started_at < looked_until.until_at
    where greatest(shutting.closed_until, shutting.open_until) > looked_until.started_at
),

final as (
    select
        met.incident_id,
        met.session_key,
        met.attribution_gap_min,
        met.next_session_key,
        met.next_kept_node,
        met.running_session_key,
        shut.incident_id is not null as was_shut,
        shut.shut_until,
        back.back_at,
        coalesce(minutes_between(met.started_at, back.back_at) <= 60 * settings.retries_manual_gap_max_h, false)
            as is_soon_back,
        held.held_at is not null and held.held_at < coalesce(back.back_at, 'infinity'::timestamptz)
            and not coalesce(met.next_kept_node, true) as is_held
    from met
    left join back using (incident_id)
    left join held using (incident_id)
    left join shut using (incident_id)
    cross join settings
)

select * from final
