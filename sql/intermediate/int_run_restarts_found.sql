-- A row: one process that logged a step, and whether it began training again: of its run, and within its session.
-- A process that runs beside an earlier one is none.
with spans as (select * from intermediate.int_run_processes_spanned),
processes as (select * from intermediate.int_run_processes_merged),
links as (select process_key, session_key from intermediate.int_run_processes_linked),

beside_earlier as (
    select
        spans.process_key,
        links.session_key,
        spans.first_row_at,
        spans.min_step,
        spans.step_backs,
        processes.is_sampled,
        max(spans.max_step) over earlier_of_run as run_max_step,
        max(spans.last_row_at) over earlier_of_run as run_last_at,
        median(spans.median_step_s) over earlier_of_run as run_step_s,
        max(spans.max_step) over earlier_of_session as session_max_step,
        max(spans.last_row_at) over earlier_of_session as session_last_at,
        median(spans.median_step_s) over earlier_of_session as session_step_s
    from spans
    join processes using (process_key)
    left join links using (process_key)
    window
        earlier_of_run as (
            partition by spans.run_key order by spans.first_row_at, process_key
            rows between unbounded preceding and 1 preceding
        ),
        earlier_of_session as (
            partition by links.session_key order by spans.first_row_at, process_key
            rows between unbounded preceding and 1 preceding
        )
),

final as (
    select
        process_key,
        session_key,
        coalesce(
            first_row_at >= run_last_at and (
                min_step <= run_max_step
                or epoch_us(first_row_at) - epoch_us(run_last_at) > 1e6 * restart_pause_s(run_step_s)
            ), false
        ) as is_run_restart,
        coalesce(
            session_key is not null and first_row_at >= session_last_at and (
                min_step <= session_max_step
                or epoch_us(first_row_at) - epoch_us(session_last_at) > 1e6 * restart_pause_s(session_step_s)
            ), false
        ) as is_session_restart,
        if(is_sampled, null, step_backs) as step_backs
    from beside_earlier
)

select * from final
