-- A row: one GPU at one place on a node's PCI bus, by every name that telemetry and kernel logs have for it. Series
-- name index, UUID and mostly the place; a kernel log names the place, and now and then the UUID there.
with series as (
    select
        node,
        gpu_index,
        gpu_uuid,
        pci_bus_id_of(labels ->> 'pci_bus_id') as pci_bus_id,
        first_at,
        last_at
    from marts.series
    where node is not null and (gpu_index is not null or gpu_uuid is not null)
),
events as (select * from staging.stg_exports__kernel_events),
names as (select * from intermediate.int_kernel_nodes_named),

indexes as (
    select node, gpu_uuid, arg_max(gpu_index, last_at) as gpu_index
    from series
    where gpu_uuid is not null
    group by all
),

logged as (
    select
        names.node,
        null::integer as gpu_index,
        events.gpu_uuid,
        pci_bus_id_of(events.pci_bus_id) as pci_bus_id,
        events.event_at as first_at,
        events.event_at as last_at
    from events
    join names on names.log_node = events.node
    where events.gpu_uuid is not null and events.pci_bus_id is not null
),

said as (
    select * from series
    union all by name
    select * from logged
),

final as (
    select
        said.node,
        said.pci_bus_id,
        said.gpu_uuid,
        max(coalesce(said.gpu_index, indexes.gpu_index)) as gpu_index,
        coalesce(min(said.first_at), '-infinity'::timestamptz) as first_at,
        coalesce(max(said.last_at), '-infinity'::timestamptz) as last_at
    from said
    left join indexes using (node, gpu_uuid)
    group by said.node, said.pci_bus_id, said.gpu_uuid, if(said.gpu_uuid is null, said.gpu_index, null)
)

select * from final
