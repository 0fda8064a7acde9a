-- A row: one stretch in which a node of the inventory is in service; unbounded where the config says nothing.
with nodes as (select * from intermediate.int_nodes_keyed),
periods as (select * from meta.node_periods),

final as (
    select
        nodes.node_key,
        coalesce(periods.from_at, '-infinity'::timestamptz) as from_at,
        coalesce(periods.to_at, 'infinity'::timestamptz) as to_at
    from nodes
    left join periods using (node)
    where nodes.is_inventory
)

select * from final
