-- A row: one node of the inventory and how gang sessions left it out over the whole export.
with final as (
    select * from marts.node_exclusions('-infinity'::timestamptz, 'infinity'::timestamptz)
)

select * from final
