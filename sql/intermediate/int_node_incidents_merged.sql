-- A row: one incident of one node over all files that tell it. An id that a file uses again for the same node is a new
-- incident: the n-th of one file is the n-th of another.
with incidents as (select * from staging.stg_exports__node_incidents),
files as (select * from intermediate.int_files_dated),

numbered as (
    select
        files.source,
        incidents.*,
        files.path,
        files.observed_until,
        record_order(incidents.ended_at is not null, files.file_order, incidents.line) as record_order,
        dense_rank() over (
            partition by incidents.file_id, incidents.incident_id, incidents.node order by incidents.started_at
        ) as place
    from incidents
    join files using (file_id)
    where incidents.started_at is not null
),

merged as (
    select
        source,
        incident_id,
        node,
        place,
        arg_max(started_at, record_order) as started_at,
        arg_max(ended_at, record_order) as ended_at,
        arg_max(kind, record_order) as kind,
        arg_max(class, record_order) as class,
        arg_max(detail, record_order) as detail,
        arg_max(path, record_order) as file,
        arg_max(line, record_order) as line,
        max(observed_until) as observed_until
    from numbered
    group by all
),

final as (
    select
        concat_ws(
            ':', 'node', incident_id,
            if(min(node) over (partition by incident_id) < max(node) over (partition by incident_id), node, null),
            if(max(place) over (partition by incident_id, node) > 1, place, null)
        ) as incident_id,
        * exclude (incident_id, place, ended_at),
        if(ended_at < started_at, started_at, ended_at) as ended_at,
        coalesce(ended_at < started_at, false) as has_reversed_times
    from merged
)

select * from final
