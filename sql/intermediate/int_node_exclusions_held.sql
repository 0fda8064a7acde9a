-- A row: one stretch in which an excluded node was held by a single-node session; is_full where one held all its GPUs.
with exclusions as (select * from intermediate.int_node_exclusions_found),
members as (select * from intermediate.int_session_nodes_merged),
sizes as (select * from intermediate.int_sessions_sized),
node_gpus as (select * from intermediate.int_node_gpus_counted),
settings as (select * from meta.settings),

excluded_nodes as (select distinct node_key from exclusions),

single as (
    select
        members.node_key,
        members.started_at,
        members.until_at,
        coalesce(members.part_gpu_count, sizes.gpu_count) / nullif(node_gpus.gpu_count, 0) as gpu_share
    from members
    join sizes using (session_key)
    join node_gpus using (node_key)
    semi join excluded_nodes using (node_key)
    where sizes.node_count = 1 and members.until_at > members.started_at
),

holding as (
    select single.node_key, single.started_at, single.until_at, if(single.gpu_share >= 1, 1, 0) as is_full
    from single
    cross join settings
    where coalesce(single.gpu_share, 0) >= settings.held_min_gpu_share
),

edges as (
    select node_key, started_at as edge_at, 1 as excluded, 0 as held, 0 as held_fully from exclusions
    union all
    select node_key, until_at, -1, 0, 0 from exclusions
    union all
    select node_key, started_at, 0, 1, is_full from holding
    union all
    select node_key, until_at, 0, -1, -is_full from holding
),

levels as (
    select
        node_key,
        edge_at as started_at,
        lead(edge_at) over steps as until_at,
        sum(excluded) over steps as excluded,
        sum(held) over steps as held,
        sum(held_fully) over steps as held_fully
    from edges
    window steps as (partition by node_key order by edge_at rows between unbounded preceding and current row)
),

final as (
    select node_key, started_at, until_at, held_fully > 0 as is_full
    from levels
    where excluded > 0 and held > 0 and started_at < until_at
)

select * from final
