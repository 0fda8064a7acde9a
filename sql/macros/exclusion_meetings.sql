-- A row: one time in which a single-node session held a node that gang sessions left out, within
-- [window_start, window_end).
create or replace macro marts.exclusion_meetings(window_start, window_end) as table
with exclusions as (select * from intermediate.int_node_exclusions_found),
members as (select * from intermediate.int_session_nodes_merged),
sizes as (select * from intermediate.int_sessions_sized),
sessions as (select * from intermediate.int_sessions_merged),
nodes as (select * from intermediate.int_nodes_keyed),

left_out as (
    select node_key, greatest(started_at, window_start) as started_at, least(until_at, window_end) as until_at
    from exclusions
    where started_at < window_end and until_at > window_start
),

single as (
    select members.node_key, members.session_key, members.started_at, members.until_at
    from members
    join sizes using (session_key)
    where sizes.node_count = 1 and members.until_at > members.started_at
),

final as (
    select
        nodes.node,
        sessions.session_id,
        sessions.owner,
        sessions.run_name,
        greatest(left_out.started_at, single.started_at) as started_at,
        least(left_out.until_at, single.until_at) as ended_at
    from left_out
    join single
        on single.node_key = left_out.node_key
        and single.started_at < left_out.until_at
        and single.until_at > left_out.started_at
    join sessions on sessions.session_key = single.session_key
    join nodes on nodes.node_key = left_out.node_key
)

select * from final;
