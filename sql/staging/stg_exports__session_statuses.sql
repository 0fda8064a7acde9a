-- A row: one visit of a session to a status in one file; visits of parts are left out.
with records as (select * from raw.session_status_records),

final as (
    select file_id, line, coalesce(cluster_source, '') as cluster_source, session_id, upper(status) as status,
        records.at as visited_at
    from records
    where part_id is null
)

select * from final
