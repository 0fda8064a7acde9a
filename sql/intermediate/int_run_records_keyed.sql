-- A row: one run in one file, with the run and the process of it that the file is about. What an export calls a run by
-- its display name or its file's name is the run of that id, else the only run of that display name.
with records as (select * from staging.stg_exports__runs),
files as (select * from intermediate.int_files_dated),

logged_ids as (select distinct told_run_id from records where run_id_evidence = 'log'),

named_ids as (select distinct told_run_id from records where run_id_evidence in ('log', 'column')),

names as (
    select display_name as told_run_id, any_value(told_run_id) as named_run_id
    from records
    where run_id_evidence in ('log', 'column') and display_name is not null
    group by display_name
    having count(distinct told_run_id) = 1
),

resolved as (
    select
        records.*,
        files.file_order,
        case
            when records.run_id_evidence = 'log' or logged_ids.told_run_id is not null then records.told_run_id
            when records.run_id_evidence = 'column' and records.display_name is not null then records.told_run_id
            when records.run_id_evidence != 'column' and named_ids.told_run_id is not null then records.told_run_id
            else coalesce(names.named_run_id, records.told_run_id)
        end as run_id,
        case
            when records.is_log then coalesce(
                records.writer_id, records.process_started_at::varchar, records.first_at::varchar, records.file_id
            )
            else ''
        end as process_name
    from records
    join files using (file_id)
    left join logged_ids on logged_ids.told_run_id = records.told_run_id
    left join named_ids on named_ids.told_run_id = records.told_run_id
    left join names on names.told_run_id = records.told_run_id
),

final as (
    select
        row_number() over (order by file_order, told_run_id)::integer as record_key,
        dense_rank() over (order by run_id)::integer as run_key,
        dense_rank() over (order by run_id, is_log, process_name)::integer as process_key,
        -- of a log that was copied while it grew the longest copy holds all that the others hold
        not is_log or row_number() over copies = 1 as is_used,
        row_number() over (
            partition by run_id
            order by
                is_log, coalesce(process_started_at, started_at, first_at) nulls first,
                history_rows, end_evidence = 'exit_record', file_order
        )::integer as record_rank,
        resolved.*
    from resolved
    window copies as (
        partition by run_id, is_log, process_name
        order by history_rows desc, end_evidence = 'exit_record' desc, bytes_unread, file_order desc
    )
)

select * from final
