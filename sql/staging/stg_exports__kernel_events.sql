-- A row: one kernel message of a GPU, switch or bus event, in one file.
with records as (select * from raw.kernel_event_records),

final as (
    select
        file_id,
        line,
        node,
        records."at" as event_at,
        time_quality,
        boot_id,
        uptime_s,
        kind,
        code,
        severity,
        pci_bus_id,
        gpu_uuid,
        pid,
        process,
        cause_code,
        recovery_action,
        detail,
        text
    from records
)

select * from final
