-- A row: one part (kernel, pod) of a session in one file.
with records as (select * from raw.session_node_records),

final as (
    select
        file_id, line, coalesce(cluster_source, '') as cluster_source, session_id, part_id,
        node, gpu_count, started_at, ended_at, source_state, state_key
    from records
)

select * from final
