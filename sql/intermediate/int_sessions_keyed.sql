-- A row: one session that any file names, with a number for joins and an id that is unique over all sources.
with records as (select * from intermediate.int_session_records_dated),
parts as (select * from intermediate.int_session_parts_dated),
statuses as (select * from staging.stg_exports__session_statuses),
files as (select * from intermediate.int_files_dated),

named as (
    select distinct source, cluster_source, session_id as native_id from records
    union
    select distinct source, cluster_source, session_id from parts
    union
    select distinct files.source, statuses.cluster_source, statuses.session_id
    from statuses
    join files using (file_id)
),

final as (
    select
        row_number() over (order by native_id, source, cluster_source)::integer as session_key,
        source,
        cluster_source,
        native_id,
        case count(*) over (partition by native_id)
            when 1 then native_id
            else concat_ws(':', source, nullif(cluster_source, ''), native_id)
        end as session_id
    from named
)

select * from final
