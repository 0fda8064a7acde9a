-- A row: one history row of one process, in the order in which it was written.
with history_rows as (select * from intermediate.int_run_rows_merged),

final as (
    select
        *,
        lag(step) over written as previous_step,
        case when step > lag(step) over written then epoch_us(logged_at) - epoch_us(lag(logged_at) over written) end
            / 1e6 as row_s,
        -- where a later row of the process steps back to it or below, it was done again
        coalesce(min(step) over later <= step, false) as is_redone_within
    from history_rows
    window
        written as (partition by process_key order by place nulls first, step),
        later as (
            partition by process_key order by place nulls first, step
            rows between 1 following and unbounded following
        )
)

select * from final
