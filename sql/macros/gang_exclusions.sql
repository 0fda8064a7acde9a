-- A row: one gang session that starts in [window_start, window_end) and one candidate node that it leaves out then.
create or replace macro marts.gang_exclusions(window_start, window_end) as table
with leftovers as (select * from intermediate.int_gang_leftovers_stated),
gangs as (select * from intermediate.int_gangs_found),
nodes as (select * from intermediate.int_nodes_keyed),

final as (
    select gangs.session_id, gangs.started_at, nodes.node, leftovers.state
    from leftovers
    join gangs using (session_key)
    join nodes using (node_key)
    where gangs.started_at >= window_start and gangs.started_at < window_end
)

select * from final order by started_at, session_id, node;
