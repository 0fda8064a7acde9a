-- A row: one history row of one file that is used, metrics left aside.
with steps as (select * from staging.stg_exports__run_steps),
records as (select * from intermediate.int_run_records_keyed),

final as (
    select
        records.process_key,
        records.record_key,
        steps.line,
        steps.step,
        steps.logged_at,
        bool_or(steps.value_kind = 'nan') as has_nan,
        bool_or(steps.value_kind in ('infinity', 'minus_infinity')) as has_infinity
    from steps
    join records using (file_id, told_run_id)
    where records.is_used and steps.step is not null
    group by all
)

select * from final
