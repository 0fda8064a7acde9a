-- A row: one gang session and one node that its submit line asked to leave out.
with gangs as (select * from intermediate.int_gangs_found),
keys as (select * from intermediate.int_sessions_keyed),
records as (select * from intermediate.int_session_records_dated),
nodes as (select * from intermediate.int_nodes_keyed),

asked as (
    select gangs.session_key, unnest(records.excluded_nodes) as node
    from gangs
    join keys using (session_key)
    join records
        on records.session_id = keys.native_id
        and records.source = keys.source
        and records.cluster_source = keys.cluster_source
        and records.record_order = gangs.excluded_record_order
),

final as (select distinct asked.session_key, nodes.node_key from asked join nodes using (node))

select * from final
