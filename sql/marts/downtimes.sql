-- A row: one downtime of the whole export.
with final as (
    select * from marts.downtimes_within('-infinity'::timestamptz, 'infinity'::timestamptz)
)

select * from final
