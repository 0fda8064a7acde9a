-- A row: one process of a run: one log, or all that exports hold of the run.
with processes as (select * from intermediate.int_run_processes_merged),
places as (select * from intermediate.int_run_processes_ordered),
spans as (select * from intermediate.int_run_processes_spanned),
measured as (select * from intermediate.int_run_processes_measured),
restarts as (select process_key, is_run_restart, step_backs from intermediate.int_run_restarts_found),
links as (select * from intermediate.int_run_processes_linked),
sessions as (select session_key, session_id from intermediate.int_sessions_keyed),

final as (
    select
        processes.run_id,
        places.process,
        processes.is_log,
        processes.started_at,
        processes.ended_at,
        processes.is_censored,
        processes.state,
        processes.end_evidence,
        processes.exit_code,
        processes.host,
        processes.writer_id,
        sessions.session_id,
        links.link_rule,
        links.overlap_min,
        processes.starting_step,
        spans.first_step,
        spans.max_step,
        spans.last_step,
        spans.first_row_at as first_step_at,
        spans.last_row_at as last_step_at,
        coalesce(spans.history_rows, 0) as history_rows,
        processes.is_sampled,
        coalesce(measured.has_trained, false) as has_trained,
        if(processes.is_sampled, null, measured.training_from) as training_from,
        if(processes.is_sampled, null, spans.median_step_s) as median_step_s,
        coalesce(restarts.is_run_restart, false) as is_restart,
        restarts.step_backs,
        if(processes.is_sampled, null, coalesce(measured.rework_steps, 0)) as rework_steps,
        if(processes.is_sampled, null, coalesce(measured.rework_h, 0)) as rework_h
    from processes
    join places using (process_key)
    left join spans using (process_key)
    left join measured using (process_key)
    left join restarts using (process_key)
    left join links using (process_key)
    left join sessions on sessions.session_key = links.session_key
)

select * from final
