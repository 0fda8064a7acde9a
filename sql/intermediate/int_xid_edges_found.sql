-- A row: one sample of an XID gauge that holds another code than the sample before it, or of an exporter's count of a
-- code that rose. The gauge keeps its last code, so it does not show the same code again, as counts do; and a code that
-- a gauge begins with came at an unknown time before. The samples are read before this model, into meta.xid_edges.
with edges as (select * from meta.xid_edges),
series as (select * from marts.series),

final as (
    select
        series_id,
        edges.seen_at,
        edges.previous_at,
        edges.code,
        edges.previous_at is not null as is_seen_to_begin,
        series.node,
        series.gpu_index,
        series.gpu_uuid,
        pci_bus_id_of(series.labels ->> 'pci_bus_id') as pci_bus_id
    from edges
    join series using (series_id)
)

select * from final
