-- A row: one process of a run with its place among them.
with processes as (select * from intermediate.int_run_processes_merged),
spans as (select process_key, first_row_at from intermediate.int_run_processes_spanned),

final as (
    select
        processes.process_key,
        row_number() over (
            partition by processes.run_key
            order by coalesce(spans.first_row_at, processes.started_at) nulls first, process_key
        )::integer as process
    from processes
    left join spans using (process_key)
)

select * from final
