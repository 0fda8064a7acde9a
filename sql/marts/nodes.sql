-- A row: one node of the inventory.
with nodes as (select * from intermediate.int_nodes_keyed),
services as (select * from intermediate.int_node_services_bounded),
node_gpus as (select * from intermediate.int_node_gpus_counted),

served as (
    select node_key, min(from_at) as from_at, max(to_at) as to_at
    from services
    group by node_key
),

final as (
    select
        nodes.node,
        nullif(served.from_at, '-infinity'::timestamptz) as in_service_from,
        nullif(served.to_at, 'infinity'::timestamptz) as in_service_to,
        node_gpus.gpu_count,
        nodes.is_named
    from nodes
    join served using (node_key)
    join node_gpus using (node_key)
    where nodes.is_inventory
)

select * from final order by node
