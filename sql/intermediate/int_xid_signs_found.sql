-- A row: one sign of an XID, an SXid or a lost bus: a kernel message, or a change of the XID gauge. A change that a
-- kernel message between its two samples explains takes that message's time, and so where the message came at most
-- coalesce_s before the first of them: exporters read codes every so often. A drifting log's times are shifted.
with messages as (select * from intermediate.int_kernel_events_placed),
clocks as (select * from intermediate.int_kernel_clocks_compared),
edges as (select * from intermediate.int_xid_edges_found),
gpus as (select * from intermediate.int_gpus_identified),
settings as (select to_microseconds((failures_coalesce_s * 1e6)::bigint) as coalesce_span from meta.settings),

places as (select node, gpu_uuid, arg_max(pci_bus_id, last_at) as pci_bus_id from gpus group by all),

logged as (
    select
        messages.* exclude (event_at),
        'kernel_log' as source,
        coalesced_code(kind, code) as coalesced_code,
        gpu_key_of(gpu_uuid, gpu_index, pci_bus_id) as gpu_key,
        if(clocks.is_drifting, event_at - to_microseconds((clocks.clock_drift_s * 1e6)::bigint), event_at) as sign_at,
        coalesce(not clocks.is_drifting, true) and event_at is not null as has_sure_time,
        if(clocks.is_drifting, clocks.clock_drift_s, null) as clock_drift_s,
        row_number() over (
            partition by messages.file_id, node, date_trunc('second', event_at), text order by line
        ) as repeat
    from messages
    left join clocks on clocks.file_id = messages.file_id and clocks.boot_id is not distinct from messages.boot_id
),

changes as (
    select
        edges.node,
        edges.seen_at,
        edges.previous_at,
        edges.code,
        edges.gpu_index,
        edges.gpu_uuid,
        coalesce(edges.pci_bus_id, places.pci_bus_id) as pci_bus_id,
        coalesced_code('xid', edges.code) as coalesced_code,
        gpu_key_of(edges.gpu_uuid, edges.gpu_index, coalesce(edges.pci_bus_id, places.pci_bus_id)) as gpu_key
    from edges
    left join places on places.node = edges.node and places.gpu_uuid = edges.gpu_uuid
    where edges.is_seen_to_begin
),

dated as (select node, gpu_key, coalesced_code, sign_at from logged where sign_at is not null),

explained as (
    select
        changes.*,
        'gauge' as source,
        'xid' as kind,
        if(
            dated.sign_at >= changes.previous_at - settings.coalesce_span, dated.sign_at, changes.seen_at
        ) as sign_at,
        true as has_sure_time
    from changes
    asof left join dated
        on dated.node = changes.node
        and dated.gpu_key = changes.gpu_key
        and dated.coalesced_code = changes.coalesced_code
        and dated.sign_at <= changes.seen_at
    cross join settings
),

signs as (
    select * from logged
    union all by name
    select * from explained
),

final as (
    select
        row_number() over (
            order by sign_at nulls last, source, file_order, line, node, gpu_key, coalesced_code, seen_at
        ) as sign_key,
        sign_at,
        node,
        gpu_key,
        gpu_index,
        gpu_uuid,
        pci_bus_id,
        kind,
        code,
        coalesced_code,
        source,
        has_sure_time,
        time_quality,
        clock_drift_s,
        previous_at,
        seen_at,
        severity,
        pid,
        process,
        cause_code,
        recovery_action,
        detail,
        text,
        repeat,
        file_id,
        boot_id,
        file,
        line
    from signs
)

select * from final
