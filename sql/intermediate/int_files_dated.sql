-- A row: one file that was read, with its place in the order of exports.
with files as (select * from meta.files),
sources as (select * from meta.sources),

dated as (
    select
        files.file_id,
        files.kind as source,
        files.source_id,
        files.path,
        files.sha256,
        files.latest_at,
        coalesce(sources.exported_at, files.latest_at) as exported_at,
        coalesce(sources.exported_at, max(files.latest_at) over (partition by files.source_id)) as observed_until
    from files
    left join sources using (source_id)
),

final as (
    select
        file_id, source, source_id, path, exported_at, observed_until,
        row_number() over (order by exported_at nulls first, latest_at nulls first, sha256, file_id)::integer
            as file_order
    from dated
)

select * from final
