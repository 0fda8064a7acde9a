-- A row: one kernel message of an XID, an SXid or a lost bus, in one file, with its node and GPU. At one place the GPU
-- is the one that was named there last before the message, else the first one named later.
with events as (select * from staging.stg_exports__kernel_events),
files as (select * from intermediate.int_files_dated),
names as (select * from intermediate.int_kernel_nodes_named),
gpus as (select * from intermediate.int_gpus_identified),

-- a log that names no node may still name a GPU that only one node has
homes as (
    select gpu_uuid, any_value(node) as node
    from gpus
    where gpu_uuid is not null
    group by gpu_uuid
    having count(distinct node) = 1
),

messages as (
    select
        events.* exclude (node, pci_bus_id, gpu_uuid),
        coalesce(names.node, homes.node) as node,
        pci_bus_id_of(events.pci_bus_id) as pci_bus_id,
        events.gpu_uuid as own_uuid,
        files.path as file,
        files.file_order,
        coalesce(events.event_at, 'infinity'::timestamptz) as placed_at
    from events
    join files using (file_id)
    left join names on names.log_node = events.node
    left join homes on homes.gpu_uuid = events.gpu_uuid and events.node is null
    where events.kind in ('xid', 'sxid', 'bus_loss')
),

earliest as (
    select
        node,
        pci_bus_id,
        arg_min(coalesce(gpu_uuid, ''), first_at) as gpu_uuid,
        arg_min(gpu_index, first_at) as gpu_index
    from gpus
    where pci_bus_id is not null
    group by all
),

named as (select node, gpu_uuid, max(gpu_index) as gpu_index from gpus where gpu_uuid is not null group by all),

placed as (
    select
        messages.*,
        coalesce(messages.own_uuid, latest.gpu_uuid, nullif(earliest.gpu_uuid, '')) as gpu_uuid,
        coalesce(latest.gpu_index, earliest.gpu_index) as placed_index
    from messages
    asof left join gpus as latest
        on latest.node = messages.node
        and latest.pci_bus_id = messages.pci_bus_id
        and latest.first_at <= messages.placed_at
    left join earliest on earliest.node = messages.node and earliest.pci_bus_id = messages.pci_bus_id
),

final as (
    select
        placed.file_id,
        placed.line,
        placed.file,
        placed.file_order,
        placed.node,
        placed.event_at,
        placed.time_quality,
        placed.boot_id,
        placed.kind,
        placed.code,
        placed.severity,
        placed.pci_bus_id,
        placed.gpu_uuid,
        if(placed.gpu_uuid is null, placed.placed_index, named.gpu_index) as gpu_index,
        placed.pid,
        placed.process,
        placed.cause_code,
        placed.recovery_action,
        placed.detail,
        placed.text
    from placed
    left join named on named.node = placed.node and named.gpu_uuid = placed.gpu_uuid
)

select * from final
