-- A row: one series of the telemetry, under its newest labels.
with seen as (select * from meta.series_seen),
series_days as (select * from marts.series_days),
nodes as (select node from intermediate.int_nodes_keyed where is_named),

described as (
    select
        series_id,
        any_value(metric) as metric,
        any_value(node_text) as node_text,
        any_value(gpu_index) as gpu_index,
        any_value(gpu_uuid) as gpu_uuid,
        last(labels order by last_at, labels) as labels,
        last(metric_kind order by last_at, metric_kind) as metric_kind,
        any_value(is_gridded) as is_gridded
    from seen
    group by series_id
),

counted as (
    select
        series_id,
        min(first_at) as first_at,
        max(last_at) as last_at,
        sum(sample_count)::bigint as sample_count,
        median(step_ms) as step_ms
    from series_days
    group by series_id
),

-- an address keeps its dots, a name loses its domain
shortened as (
    select
        *,
        case
            when regexp_full_match(node_text, '[0-9.]+|.*:.*') then node_text
            else coalesce(nullif(split_part(node_text, '.', 1), ''), node_text)
        end as short_text
    from described
),

short_nodes as (
    select split_part(node, '.', 1) as short_text, any_value(node) as node
    from nodes
    group by 1
    having count(*) = 1
),

final as (
    select
        series_id,
        metric,
        coalesce(nodes.node, short_nodes.node, short_text) as node,
        gpu_index,
        gpu_uuid,
        labels::json as labels,
        metric_kind,
        first_at,
        last_at,
        coalesce(sample_count, 0) as sample_count,
        step_ms / 1000 as step_s,
        is_gridded,
        coalesce(nodes.node, short_nodes.node) is not null as is_known_node
    from shortened
    left join counted using (series_id)
    left join nodes on nodes.node = node_text
    left join short_nodes using (short_text)
)

select * from final
