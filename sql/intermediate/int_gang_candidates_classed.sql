-- A row: one node of the inventory that some gang session could have taken. Nodes that belong to the same pools are one
-- class. A node is of every partition (and GPU model) in which any session of the export ran on it; where none did, of
-- all.
with pools as (select * from intermediate.int_gang_pools_numbered),
sessions as (select * from intermediate.int_sessions_merged),
members as (select * from intermediate.int_session_nodes_merged),
nodes as (select * from intermediate.int_nodes_keyed),

places as (
    select partition, gpu_model, row_number() over ()::integer as place_key
    from (select distinct partition, gpu_model from sessions)
),

session_places as (
    select sessions.session_key, places.place_key
    from sessions
    join places
        on places.partition is not distinct from sessions.partition
        and places.gpu_model is not distinct from sessions.gpu_model
),

seen_keys as (
    select distinct members.node_key, session_places.place_key
    from members
    join session_places using (session_key)
),

seen as (
    select
        node_key,
        array_agg(distinct places.partition) filter (where places.partition is not null) as partitions,
        array_agg(distinct places.gpu_model) filter (where places.gpu_model is not null) as gpu_models
    from seen_keys
    join places using (place_key)
    group by node_key
),

candidates as (
    select nodes.node_key, pools.pool_key
    from nodes
    cross join pools
    left join seen using (node_key)
    where nodes.is_inventory
        and (pools.partition is null or seen.partitions is null or list_contains(seen.partitions, pools.partition))
        and (pools.gpu_model is null or seen.gpu_models is null or list_contains(seen.gpu_models, pools.gpu_model))
),

node_pools as (select node_key, list(pool_key order by pool_key) as pool_keys from candidates group by node_key),

final as (
    select
        node_key,
        dense_rank() over (order by pool_keys)::integer as class_key,
        pool_keys
    from node_pools
)

select * from final
