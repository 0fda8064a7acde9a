-- A row: one excluded node, owner and run name whose single-node sessions overlap the node's exclusions in
-- [window_start, window_end).
create or replace macro marts.exclusion_holders(window_start, window_end) as table
with exclusions as (select * from intermediate.int_node_exclusions_found),
members as (select * from intermediate.int_session_nodes_merged),
sizes as (select * from intermediate.int_sessions_sized),
sessions as (select * from intermediate.int_sessions_merged),
nodes as (select * from intermediate.int_nodes_keyed),

left_out as (
    select node_key, started_at as began_at, greatest(started_at, window_start) as started_at, least(until_at, window_end) as until_at
    from exclusions
    where started_at < window_end and until_at > window_start
),

single as (
    select members.node_key, members.session_key, members.started_at, members.until_at
    from members
    join sizes using (session_key)
    where sizes.node_count = 1 and members.until_at > members.started_at
),

met as (
    select
        left_out.node_key,
        single.session_key,
        single.started_at < left_out.began_at as was_first,
        hours_between(greatest(left_out.started_at, single.started_at), least(left_out.until_at, single.until_at)) as held_h
    from left_out
    join single
        on single.node_key = left_out.node_key
        and single.started_at < left_out.until_at
        and single.until_at > left_out.started_at
),

final as (
    select
        nodes.node,
        sessions.owner,
        sessions.run_name,
        count(distinct met.session_key) as sessions,
        sum(met.held_h) as held_h,
        count(*) as meetings,
        count(*) filter (where met.was_first) as held_first
    from met
    join sessions using (session_key)
    join nodes using (node_key)
    group by all
)

select * from final order by held_h desc, node, owner, run_name;
