-- A row: one kernel log and boot whose messages telemetry saw too, with how far its clock is from telemetry's. A
-- message belongs between the sample that shows its code and the one before. Clocks that differ by more than an hour
-- are not told from other events. A log whose times are counted from the boot, and that telemetry does not tell of, is
-- compared with the same messages in the node's logs that have a clock.
with messages as (select * from intermediate.int_kernel_events_placed),
edges as (select * from intermediate.int_xid_edges_found),
settings as (select * from meta.settings),

keyed as (
    select
        file_id,
        boot_id,
        node,
        gpu_key_of(gpu_uuid, gpu_index, pci_bus_id) as gpu_key,
        coalesced_code(kind, code) as coalesced_code,
        time_quality = 'uptime' as is_counted,
        text,
        event_at,
        lag(event_at) over (
            partition by file_id, boot_id, node, gpu_uuid, gpu_index, pci_bus_id, kind, code order by event_at, line
        ) as previous_at
    from messages
    where event_at is not null
),

-- of a flood only its first message
begun as (
    select keyed.* exclude (previous_at)
    from keyed
    cross join settings
    where coalesce(epoch_us(event_at) - epoch_us(previous_at) > settings.failures_coalesce_s * 1e6, true)
),

changes as (
    select
        series_id,
        seen_at,
        previous_at,
        node,
        gpu_key_of(gpu_uuid, gpu_index, pci_bus_id) as gpu_key,
        coalesced_code('xid', code) as coalesced_code
    from edges
    where is_seen_to_begin
),

pairs as (
    select
        begun.file_id,
        begun.boot_id,
        changes.series_id,
        changes.seen_at,
        case
            when begun.event_at > changes.seen_at then epoch_us(begun.event_at) - epoch_us(changes.seen_at)
            when begun.event_at < changes.previous_at then epoch_us(begun.event_at) - epoch_us(changes.previous_at)
            else 0
        end / 1e6 as drift_s
    from begun
    join changes using (node, gpu_key, coalesced_code)
    where begun.event_at between changes.previous_at - interval 1 hour and changes.seen_at + interval 1 hour
),

nearest as (
    select file_id, boot_id, arg_min(drift_s, (abs(drift_s), drift_s)) as drift_s
    from pairs
    group by file_id, boot_id, series_id, seen_at
),

by_telemetry as (
    select file_id, boot_id, median(drift_s) as clock_drift_s, count(*) as compared_events
    from nearest
    group by file_id, boot_id
),

twins as (
    select
        counted.file_id,
        counted.boot_id,
        arg_min(
            (epoch_us(counted.event_at) - epoch_us(stamped.event_at)) / 1e6,
            (abs(epoch_us(counted.event_at) - epoch_us(stamped.event_at)), stamped.event_at)
        ) as drift_s
    from begun as counted
    join begun as stamped using (node, gpu_key, coalesced_code, text)
    where counted.is_counted and not stamped.is_counted
        and stamped.event_at between counted.event_at - interval 1 hour and counted.event_at + interval 1 hour
    group by counted.file_id, counted.boot_id, counted.event_at, node, gpu_key, coalesced_code, text
),

by_logs as (
    select file_id, boot_id, median(drift_s) as clock_drift_s, count(*) as compared_events
    from twins
    group by file_id, boot_id
),

measured as (
    select * from by_telemetry
    union all by name
    select * from by_logs where not exists (
        from by_telemetry
        where by_telemetry.file_id = by_logs.file_id and by_telemetry.boot_id is not distinct from by_logs.boot_id
    )
),

final as (
    select measured.*, abs(clock_drift_s) > settings.failures_clock_drift_max_s as is_drifting
    from measured
    cross join settings
)

select * from final
