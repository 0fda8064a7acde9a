-- A row: one visit of a session, or of one of its parts, to a status in one file.
with records as (select * from raw.session_status_records),

final as (
    select
        file_id, line, coalesce(cluster_source, '') as cluster_source, session_id, part_id,
        upper(status) as status,
        records.at as visited_at
    from records
)

select * from final
