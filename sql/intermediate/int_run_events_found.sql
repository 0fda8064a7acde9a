-- A row: the start or the end of one process of a run, with the file that tells of it. An end that was not seen is
-- none.
with processes as (select * from intermediate.int_run_processes_merged),
places as (select * from intermediate.int_run_processes_ordered),
links as (select * from intermediate.int_run_processes_linked),
records as (select * from intermediate.int_run_records_keyed),
files as (select * from intermediate.int_files_dated),
sessions as (select session_key, session_id from intermediate.int_sessions_keyed),

told as (
    select
        records.process_key,
        arg_min(files.source, (not records.is_used, records.record_rank, records.record_key)) as source,
        arg_min(files.path, (not records.is_used, records.record_rank, records.record_key)) as file,
        arg_min(records.line, (not records.is_used, records.record_rank, records.record_key)) as line
    from records
    join files using (file_id)
    group by records.process_key
),

facts as (
    select processes.*, places.process, sessions.session_id, told.source, told.file, told.line
    from processes
    join places using (process_key)
    left join links using (process_key)
    left join sessions on sessions.session_key = links.session_key
    left join told on told.process_key = processes.process_key
),

final as (
    select process_key, run_id, 'run_started' as kind, started_at as event_at, session_id, source, file, line,
        concat(run_id, if(process > 1, concat(', process ', process), '')) as value
    from facts
    where started_at is not null
    union all
    select process_key, run_id, 'run_ended', ended_at, session_id, source, file, line,
        concat(run_id, if(process > 1, concat(', process ', process), ''), ': ', state)
    from facts
    where ended_at is not null and not is_censored
)

select * from final
