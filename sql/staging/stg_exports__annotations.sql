-- A row: one remark of a person in one file.
with records as (select * from raw.annotation_records),

final as (
    select file_id, line, target, started_at, ended_at, cause, is_planned, note
    from records
)

select * from final
