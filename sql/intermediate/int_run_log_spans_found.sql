-- A row: one log of a run, with the steps that it spans: of an export only what no log spans counts.
with history_rows as (select * from intermediate.int_run_rows_found),
records as (select * from intermediate.int_run_records_keyed),

processes as (select distinct process_key, run_key from records where is_log),

final as (
    select process_key, any_value(processes.run_key) as run_key, min(step) as first_step, max(step) as last_step
    from history_rows
    join processes using (process_key)
    group by process_key
)

select * from final
