-- A row: one remark of a person about a session, an incident or a node; a remark repeated in later exports is one.
with annotations as (select * from staging.stg_exports__annotations),
files as (select * from intermediate.int_files_dated),

final as (
    select
        annotations.target,
        annotations.started_at,
        annotations.ended_at,
        annotations.cause,
        annotations.is_planned,
        annotations.note,
        arg_max(files.path, record_order(true, files.file_order, annotations.line)) as file,
        arg_max(annotations.line, record_order(true, files.file_order, annotations.line)) as line
    from annotations
    join files using (file_id)
    group by all
)

select * from final order by started_at, target, cause, note
