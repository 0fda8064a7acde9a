-- A row: one process that logged a step: whether it trained, what of it was done again, and what it logged that is no
-- finite number.
with history_rows as (select * from intermediate.int_run_rows_ordered),
spans as (select * from intermediate.int_run_processes_spanned),

judged as (
    select
        history_rows.*,
        spans.base_step,
        is_redone_within or coalesce(step >= redone_from_step, false) as is_redone
    from history_rows
    join spans using (process_key)
),

final as (
    select
        process_key,
        min(logged_at) filter (where step > base_step) as training_from,
        coalesce(bool_or(step > base_step), false) as has_trained,
        count(*) filter (where is_redone) as rework_steps,
        coalesce(sum(row_s) filter (where is_redone), 0)::double / 3600 as rework_h,
        count(*) filter (where not is_redone) as steps,
        count(*) filter (where has_nan and not is_redone) as nan_steps,
        count(*) filter (where has_infinity and not is_redone) as infinite_steps
    from judged
    group by process_key
)

select * from final
