-- A row: one shared file system and hour. The samples are read before this model, into meta.storage_levels.
with levels as (select * from meta.storage_levels),
series as (select * from marts.series),

mounts as (
    select labels ->> 'device' as export, count(distinct node) as node_count
    from series
    where labels ->> 'fstype' is not null
    group by export
),

final as (
    select
        levels.export,
        levels.at,
        levels.file_system,
        levels.size_bytes,
        levels.available_bytes,
        levels.size_bytes - levels.available_bytes as used_bytes,
        mounts.node_count
    from levels
    join mounts using (export)
)

select * from final
