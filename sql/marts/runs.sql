-- A row: one run, over all files and processes.
with runs as (select * from intermediate.int_runs_merged),
processes as (select * from intermediate.int_run_processes_merged),
spans as (select * from intermediate.int_run_processes_spanned),
measured as (select * from intermediate.int_run_processes_measured),
restarts as (select * from intermediate.int_run_restarts_found),
links as (select * from intermediate.int_run_processes_linked),
sessions as (select session_key, session_id from intermediate.int_sessions_keyed),
records as (select * from intermediate.int_run_records_keyed),
console_lines as (select * from staging.stg_exports__console_lines),

printed as (
    select records.run_key, count(*) as console_lines
    from console_lines
    join records using (file_id, told_run_id)
    where records.is_used
    group by records.run_key
),

summed as (
    select
        processes.run_key,
        count(*) as processes,
        coalesce(sum(spans.history_rows), 0)::bigint as history_rows,
        -- exports beside logs only fill what the logs lack
        coalesce(
            bool_or(processes.is_sampled) filter (where spans.process_key is not null), bool_or(processes.is_sampled)
        ) as is_sampled,
        arg_min(processes.starting_step, processes.started_at) as starting_step,
        arg_min(spans.first_step, spans.first_row_at) as first_step,
        max(spans.max_step) as max_step,
        arg_max(spans.last_step, spans.last_row_at) as last_step,
        min(spans.first_row_at) as first_step_at,
        max(spans.last_row_at) as last_step_at,
        arg_max(spans.median_step_s, spans.history_rows) as median_step_s,
        coalesce(sum(measured.steps), 0)::bigint as steps,
        coalesce(sum(measured.rework_steps), 0)::bigint as rework_steps,
        coalesce(sum(measured.rework_h), 0)::double as rework_h,
        coalesce(sum(measured.nan_steps), 0)::bigint as nan_steps,
        coalesce(sum(measured.infinite_steps), 0)::bigint as infinite_steps,
        (coalesce(sum(restarts.step_backs), 0) + count(*) filter (where restarts.is_run_restart))::bigint
            as inner_restarts,
        sum(processes.bytes_unread)::bigint as bytes_unread,
        arg_max(sessions.session_id, processes.started_at) as session_id,
        arg_max(links.link_rule, processes.started_at) as link_rule,
        count(distinct links.session_key) as session_count
    from processes
    left join spans using (process_key)
    left join measured using (process_key)
    left join restarts using (process_key)
    left join links using (process_key)
    left join sessions on sessions.session_key = links.session_key
    group by processes.run_key
),

final as (
    select
        runs.run_id,
        runs.run_id_evidence,
        runs.display_name,
        runs.project,
        runs.entity,
        runs.owner,
        runs.run_group,
        runs.job_type,
        runs.sweep,
        runs.host,
        runs.tags,
        runs.notes,
        runs.started_at,
        runs.ended_at,
        runs.is_censored,
        runs.state,
        runs.source_state,
        runs.end_evidence,
        runs.exit_code,
        summed.session_id,
        summed.link_rule,
        summed.session_count,
        summed.processes,
        runs.files,
        runs.is_resumed,
        runs.parent_run_id,
        summed.history_rows,
        runs.expected_rows,
        summed.is_sampled,
        summed.history_rows = 0 and (coalesce(runs.told_last_step, 0) > 0 or coalesce(runs.expected_rows, 0) > 0)
            as is_history_missing,
        summed.starting_step,
        summed.first_step,
        coalesce(summed.max_step, runs.told_last_step) as max_step,
        coalesce(summed.last_step, runs.told_last_step) as last_step,
        summed.first_step_at,
        summed.last_step_at,
        if(summed.is_sampled, null, summed.steps) as steps,
        if(summed.is_sampled, null, summed.median_step_s) as median_step_s,
        if(summed.is_sampled, null, summed.inner_restarts) as inner_restarts,
        if(summed.is_sampled, null, summed.rework_steps) as rework_steps,
        if(summed.is_sampled, null, summed.rework_h) as rework_h,
        if(summed.is_sampled, null, summed.nan_steps) as nan_steps,
        if(summed.is_sampled, null, summed.infinite_steps) as infinite_steps,
        coalesce(printed.console_lines, 0) as console_lines,
        coalesce(summed.bytes_unread, 0) as bytes_unread,
        runs.config,
        runs.summary,
        runs.metadata,
        runs.git_commit,
        runs.writer_version
    from runs
    join summed using (run_key)
    left join printed using (run_key)
)

select * from final
