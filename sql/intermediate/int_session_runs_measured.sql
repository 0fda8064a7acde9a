-- A row: one session that a run is linked to, with what its runs logged.
with links as (select * from intermediate.int_run_processes_linked),
processes as (select * from intermediate.int_run_processes_merged),
spans as (select * from intermediate.int_run_processes_spanned),
measured as (select * from intermediate.int_run_processes_measured),
restarts as (select process_key, is_session_restart, step_backs from intermediate.int_run_restarts_found),

joined as (
    select
        links.session_key,
        processes.run_key,
        processes.is_sampled,
        processes.state,
        processes.started_at,
        -- an export without history rows, or a log unread from its middle on, does not say that no step was logged
        coalesce(measured.has_trained, false)
            or (processes.is_log and processes.end_evidence is distinct from 'unread')
            or (not processes.is_log and spans.process_key is not null) as is_covering,
        coalesce(measured.has_trained, false) as has_trained,
        if(processes.is_sampled, null, measured.training_from) as training_from,
        spans.* exclude (process_key, run_key),
        measured.rework_steps,
        measured.rework_h,
        measured.nan_steps,
        measured.infinite_steps,
        restarts.is_session_restart,
        restarts.step_backs as inner_step_backs
    from links
    join processes using (process_key)
    left join spans using (process_key)
    left join measured using (process_key)
    left join restarts using (process_key)
),

final as (
    select
        session_key,
        count(distinct run_key) as run_count,
        bool_or(is_covering) as is_covered,
        bool_or(has_trained) as has_trained,
        min(training_from) as training_from,
        max(max_step) as max_step,
        arg_max(last_step, last_row_at) as last_step,
        max(last_row_at) as last_step_at,
        bool_or(is_sampled) as has_sampled,
        coalesce(arg_max(state, started_at) = 'finished', false) as has_finished,
        if(bool_or(is_sampled), null, coalesce(sum(inner_step_backs), 0) + count(*) filter (is_session_restart))::bigint
            as inner_restarts,
        if(bool_or(is_sampled), null, coalesce(sum(rework_steps), 0))::bigint as rework_steps,
        if(bool_or(is_sampled), null, coalesce(sum(rework_h), 0))::double as rework_h,
        if(bool_or(is_sampled), null, coalesce(sum(nan_steps), 0))::bigint as nan_steps
    from joined
    group by session_key
)

select * from final
