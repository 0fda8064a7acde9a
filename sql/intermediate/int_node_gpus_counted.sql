-- A row: one node with its GPUs: what gang sessions held on it, else the most that any session held on it or the usual
-- number of the cluster's nodes (the config's where no gang says), whichever is more.
with nodes as (select * from intermediate.int_nodes_keyed),
members as (select * from intermediate.int_session_nodes_merged),
sizes as (select * from intermediate.int_sessions_sized),
gangs as (select * from intermediate.int_gangs_found),
settings as (select * from meta.settings),

shares as (
    select
        session_key,
        gpu_count / nullif(node_count, 0) as gpus_per_node,
        session_key in (select session_key from gangs) as is_gang
    from sizes
    where gpu_evidence in ('source', 'parts')
),

held as (
    select
        members.node_key,
        max(coalesce(members.part_gpu_count, shares.gpus_per_node)) filter (where shares.is_gang) as in_gangs,
        max(coalesce(members.part_gpu_count, shares.gpus_per_node)) as in_any
    from members
    join shares using (session_key)
    group by members.node_key
),

usual as (
    select coalesce(mode(held.in_gangs), any_value(settings.gpus_per_node)) as gpus
    from settings
    left join held on true
),

final as (
    select nodes.node_key, coalesce(held.in_gangs, greatest(held.in_any, usual.gpus))::double as gpu_count
    from nodes
    left join held using (node_key)
    cross join usual
)

select * from final
