-- A row: one name that kernel logs give a node, and the node that it is: the same name, else the only one whose name
-- begins like that before its domain.
with events as (select distinct node from staging.stg_exports__kernel_events where node is not null),
logs as (select distinct node from staging.stg_exports__kernel_logs where node is not null),
nodes as (select node from intermediate.int_nodes_keyed where is_named),

names as (
    select
        node as log_node,
        if(regexp_full_match(node, '[0-9.]+|.*:.*'), node, split_part(node, '.', 1)) as short_text
    from (select node from events union select node from logs)
),

short_nodes as (
    select split_part(node, '.', 1) as short_text, any_value(node) as node
    from nodes
    group by 1
    having count(*) = 1
),

final as (
    select
        names.log_node,
        coalesce(nodes.node, short_nodes.node, names.short_text) as node,
        coalesce(nodes.node, short_nodes.node) is not null as is_known_node
    from names
    left join nodes on nodes.node = names.log_node
    left join short_nodes on short_nodes.short_text = names.short_text
)

select * from final
