-- One row: from how many nodes on a session is a gang, and from how many on it can be a retry.
with sizes as (select * from intermediate.int_sessions_sized),
settings as (select * from meta.settings),

hours_by_size as (
    select node_count, sum(node_count * duration_h) as node_h, node_count >= 8 as is_large
    from sizes
    where node_count >= 2 and duration_h is not null
    group by node_count
),

usual as (
    select node_count
    from hours_by_size
    order by is_large desc, node_h desc, node_count desc
    limit 1
),

final as (
    select
        -- four fifths, rounded up, in whole numbers: 0.8 x 15 is above 12 in floating point
        coalesce(settings.gang_min_nodes, (usual.node_count * 4 + 4) // 5)::integer as gang_min_nodes,
        case
            when settings.gang_min_nodes is not null then 'config'
            when usual.node_count is not null then 'usual_size'
        end as gang_rule,
        usual.node_count as usual_node_count,
        coalesce(settings.retry_min_nodes, settings.gang_min_nodes, (usual.node_count * 4 + 4) // 5)::integer
            as retry_min_nodes
    from settings
    left join usual on true
)

select * from final
