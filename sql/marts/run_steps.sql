-- A row: one metric of one step of a run, as it was logged last.
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
    where not steps.is_redone
)

select * from final
