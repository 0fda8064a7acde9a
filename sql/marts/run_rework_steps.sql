-- A row: one metric of a history row of a run whose step was done again later.
with steps as (select * from intermediate.int_run_steps_merged),
places as (select * from intermediate.int_run_processes_ordered),

final as (
    select
        steps.run_id,
        steps.step,
        steps.logged_at as at,
        steps.metric,
        steps.value,
        steps.value_kind,
        steps.text,
        places.process
    from steps
    join places using (process_key)
    where steps.is_redone
)

select * from final
