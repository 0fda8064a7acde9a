-- A row: one process that logged a step, with the steps that it spans, and the step from which on a later process of
-- its run did its work again.
with history_rows as (select * from intermediate.int_run_rows_ordered),
processes as (select * from intermediate.int_run_processes_merged),

spans as (
    select
        process_key,
        count(*) as history_rows,
        max(step) filter (where previous_step is null) as first_step,
        min(step) as min_step,
        max(step) as max_step,
        min(logged_at) as first_row_at,
        max(logged_at) as last_row_at,
        arg_max(step, logged_at) as last_step,
        count(*) filter (where step <= previous_step) as step_backs,
        median(row_s / (step - previous_step)) as median_step_s
    from history_rows
    group by process_key
),

final as (
    select
        spans.*,
        processes.run_key,
        coalesce(processes.starting_step, spans.first_step) as base_step,
        min(spans.min_step) over (
            partition by processes.run_key order by spans.first_row_at nulls first, process_key
            rows between 1 following and unbounded following
        ) as redone_from_step
    from spans
    join processes using (process_key)
)

select * from final
