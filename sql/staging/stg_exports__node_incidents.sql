-- A row: one incident of one node in one file.
with records as (select * from raw.incident_records),

final as (
    select file_id, line, incident_id, node, started_at, ended_at, kind, class, detail
    from records
)

select * from final
