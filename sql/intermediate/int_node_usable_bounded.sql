-- A row: one stretch in which a node is in service and neither down nor drained.
with services as (select * from intermediate.int_node_services_bounded),
nodes as (select * from intermediate.int_nodes_keyed),
node_states as (select * from intermediate.int_node_states_merged),

down as (
    select
        nodes.node_key,
        node_states.started_at as from_at,
        coalesce(node_states.ended_at, 'infinity'::timestamptz) as to_at
    from node_states
    join nodes using (node)
    where nodes.is_inventory and node_states.state_kind in ('down', 'drained', 'out_of_service')
),

edges as (
    select node_key, from_at as edge_at, 1 as in_service, 0 as is_down from services
    union all
    select node_key, to_at, -1, 0 from services
    union all
    select node_key, from_at, 0, 1 from down
    union all
    select node_key, to_at, 0, -1 from down
),

levels as (
    select
        node_key,
        edge_at as from_at,
        lead(edge_at) over steps as to_at,
        sum(in_service) over steps as in_service,
        sum(is_down) over steps as is_down
    from edges
    window steps as (partition by node_key order by edge_at rows between unbounded preceding and current row)
),

final as (
    select node_key, from_at, to_at
    from levels
    where in_service > 0 and is_down = 0 and from_at < to_at
)

select * from final
