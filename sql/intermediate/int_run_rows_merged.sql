-- A row: one history row of one process, over all files. A log beats an export: of an export only the steps count
-- that no log of its run spans, each once however many files hold it.
with rows_found as (select * from intermediate.int_run_rows_found),
records as (select * from intermediate.int_run_records_keyed),
logged_spans as (select * from intermediate.int_run_log_spans_found),

processes as (select distinct process_key, run_key, is_log from records),

logged as (
    select
        rows_found.process_key, rows_found.line as place, rows_found.step, rows_found.logged_at,
        rows_found.has_nan, rows_found.has_infinity, true as is_single
    from rows_found
    join processes using (process_key)
    where processes.is_log
),

exported as (
    select rows_found.*
    from rows_found
    join processes using (process_key)
    anti join logged_spans
        on logged_spans.run_key = processes.run_key
        and rows_found.step between logged_spans.first_step and logged_spans.last_step
    where not processes.is_log
),

exported_once as (
    select
        process_key,
        step,
        logged_at,
        bool_or(has_nan) as has_nan,
        bool_or(has_infinity) as has_infinity,
        count(*) = 1 as is_single
    from exported
    group by process_key, step, logged_at
    -- curves without times say nothing new of a step that another file has the time of
    qualify logged_at is not null or count(logged_at) over (partition by process_key, step) = 0
),

exported_placed as (
    select
        process_key,
        -- a row without a time stands behind the latest of lower steps
        coalesce(epoch_us(logged_at), max(epoch_us(logged_at)) over (partition by process_key order by step)) as place,
        step, logged_at, has_nan, has_infinity, is_single
    from exported_once
),

final as (
    select * from logged
    union all
    select * from exported_placed
)

select * from final
