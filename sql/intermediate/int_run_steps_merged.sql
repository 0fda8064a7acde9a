-- A row: one metric of one history row of a run, over all files, with whether that step was done again later. What
-- int_run_rows_merged leaves out of exports is left out here too.
with steps as (select * from staging.stg_exports__run_steps),
records as (select * from intermediate.int_run_records_keyed),
spans as (select process_key, redone_from_step from intermediate.int_run_processes_spanned),
logged_spans as (select * from intermediate.int_run_log_spans_found),
history_rows as (select * from intermediate.int_run_rows_ordered),

used as (
    select
        records.run_id,
        records.run_key,
        records.process_key,
        records.is_log,
        records.is_sampled,
        records.record_rank,
        coalesce(steps.step >= spans.redone_from_step, false) as is_redone_after,
        steps.line,
        steps.step,
        steps.logged_at,
        steps.metric,
        steps.value,
        steps.value_kind,
        steps.text
    from steps
    join records using (file_id, told_run_id)
    join spans using (process_key)
    where records.is_used and steps.step is not null
),

redone_within as (select process_key, place, step from history_rows where is_redone_within),

logged as (
    select used.*, is_redone_after or redone_within.step is not null as is_redone
    from used
    left join redone_within
        on redone_within.process_key = used.process_key
        and redone_within.place = used.line
        and redone_within.step = used.step
    where used.is_log
),

timed_steps as (
    select distinct history_rows.process_key, history_rows.step
    from history_rows
    semi join (select process_key from used where not is_log and logged_at is null) as timeless using (process_key)
    where history_rows.logged_at is not null
),

special_rows as (
    select process_key, step, logged_at, is_redone_within, is_single
    from history_rows
    where is_redone_within or not is_single
),

exported as (
    select
        used.*,
        is_redone_after or coalesce(special_rows.is_redone_within, false) as is_redone,
        coalesce(special_rows.is_single, true) as is_single
    from used
    left join special_rows
        on special_rows.process_key = used.process_key
        and special_rows.step = used.step
        and special_rows.logged_at is not distinct from used.logged_at
    anti join logged_spans
        on logged_spans.run_key = used.run_key and used.step between logged_spans.first_step and logged_spans.last_step
    anti join timed_steps
        on timed_steps.process_key = used.process_key
        and timed_steps.step = used.step
        and used.logged_at is null
    where not used.is_log
),

exported_once as (
    select * exclude (is_single) from exported where is_single
    union all
    select * exclude (is_single) from exported where not is_single
    qualify row_number() over (
        partition by process_key, step, logged_at, metric order by is_sampled, record_rank desc, line desc
    ) = 1
),

merged as (
    select * from logged
    union all
    select * from exported_once
),

final as (
    select run_id, process_key, step, logged_at, metric, value, value_kind, text, is_redone
    from merged
)

select * from final
