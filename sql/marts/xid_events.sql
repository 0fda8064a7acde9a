-- A row: one event: an XID, an SXid or a GPU lost from the bus.
with events as (select * from intermediate.int_xid_events_grouped),

final as (
    select
        event_id,
        event_at as "at",
        node,
        gpu_index,
        gpu_uuid,
        pci_bus_id,
        kind,
        code,
        is_secondary,
        primary_event_id,
        incident_id,
        source,
        line_count,
        time_quality,
        detail,
        file,
        line,
        ended_at,
        severity,
        seen_after,
        has_sure_time,
        clock_drift_s,
        pid,
        process,
        cause_code,
        recovery_action
    from events
)

select * from final order by "at", node, event_id
