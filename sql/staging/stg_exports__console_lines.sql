-- A row: one line that a program printed, in one file.
with records as (select * from raw.console_records),

final as (
    select
        file_id,
        line,
        run_id as told_run_id,
        session_id as told_session_id,
        node as told_node,
        records."at" as printed_at,
        stream,
        text,
        ordinal
    from records
)

select * from final
