-- A row: one stretch of [window_start, window_end) in which the numbers of usable and used nodes stay the same.
create or replace macro marts.capacity(window_start, window_end) as table
with usable as (select * from intermediate.int_node_usable_bounded),
members as (select * from intermediate.int_session_nodes_merged),
gangs as (select * from intermediate.int_gangs_found),
nodes as (select node_key from intermediate.int_nodes_keyed where is_inventory),
busy as (select * from intermediate.int_node_busy_merged),
candidates as (select node_key from intermediate.int_gang_candidates_classed),

gang_nodes as (
    select members.node_key, members.started_at, members.until_at
    from members
    semi join gangs using (session_key)
    semi join nodes using (node_key)
),

spans as (
    select
        from_at, to_at, 1 as usable, 0 as gang, 0 as other,
        if(node_key in (select node_key from candidates), 1, 0) as candidate
    from usable
    union all
    select started_at, until_at, 0, 1, 0, 0 from gang_nodes
    union all
    select started_at, until_at, 0, 0, 1, 0 from busy
),

clipped as (
    select greatest(from_at, window_start) as from_at, least(to_at, window_end) as to_at, usable, gang, other, candidate
    from spans
    where from_at < window_end and to_at > window_start
),

edges as (
    select from_at as edge_at, usable, gang, other, candidate from clipped
    union all
    select to_at, -usable, -gang, -other, -candidate from clipped
    union all
    select window_start, 0, 0, 0, 0
),

changes as (
    select edge_at, sum(usable) as usable, sum(gang) as gang, sum(other) as other, sum(candidate) as candidate
    from edges
    where isfinite(edge_at)
    group by edge_at
),

levels as (
    select
        edge_at as from_at,
        coalesce(lead(edge_at) over (order by edge_at), window_end) as to_at,
        (sum(usable) over steps)::bigint as usable_nodes,
        (sum(gang) over steps)::bigint as gang_nodes,
        (sum(other) over steps)::bigint as other_nodes,
        (sum(candidate) over steps)::bigint as candidate_nodes
    from changes
    window steps as (order by edge_at rows between unbounded preceding and current row)
),

final as (select * from levels where from_at < to_at and from_at < window_end)

select * from final order by from_at;
