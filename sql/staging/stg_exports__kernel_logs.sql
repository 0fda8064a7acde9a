-- A row: what one kernel log holds of one node and boot.
with records as (select * from raw.kernel_log_records),

final as (
    select
        file_id,
        line,
        node,
        node_evidence,
        boot_id,
        boot_at,
        first_at,
        latest_at,
        first_uptime_s,
        latest_uptime_s,
        lines,
        events,
        time_quality,
        envelope
    from records
)

select * from final
