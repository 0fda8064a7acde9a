-- A row: one stretch of one state of one node in one file.
with records as (select * from raw.node_state_records),

final as (
    select
        file_id, line, coalesce(cluster_source, '') as cluster_source,
        node, state, started_at, ended_at, reason
    from records
    where node is not null and started_at is not null
)

select * from final
