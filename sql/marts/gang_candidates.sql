-- A row: one stretch of service of a node that gang sessions of a partition and GPU model could have taken.
with pools as (select * from intermediate.int_gang_pools_numbered),
candidates as (select node_key, unnest(pool_keys) as pool_key from intermediate.int_gang_candidates_classed),
services as (select * from intermediate.int_node_services_bounded),
nodes as (select * from intermediate.int_nodes_keyed),

final as (
    select
        pools.partition,
        pools.gpu_model,
        nodes.node,
        nullif(services.from_at, '-infinity'::timestamptz) as from_at,
        nullif(services.to_at, 'infinity'::timestamptz) as to_at
    from candidates
    join pools using (pool_key)
    join services using (node_key)
    join nodes using (node_key)
)

select * from final order by partition, gpu_model, node, from_at
