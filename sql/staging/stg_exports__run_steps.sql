-- A row: one metric of one history row in one file.
with records as (select * from raw.run_step_records),

final as (
    select
        file_id,
        line,
        run_id as told_run_id,
        step,
        records."at" as logged_at,
        metric,
        value,
        value_kind,
        text
    from records
)

select * from final
