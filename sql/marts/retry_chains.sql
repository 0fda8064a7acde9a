-- A row: one retry chain of the whole export.
with final as (
    select * from marts.retry_chains_within('-infinity'::timestamptz, 'infinity'::timestamptz)
)

select * from final
