-- A row: one part of a session in one file. A part without an id is known by its node and its place among equals.
with parts as (select * from staging.stg_exports__session_parts),
files as (select * from intermediate.int_files_dated),
end_reasons as (select * from staging.end_reasons),

dated as (
    select
        files.source,
        parts.*,
        files.observed_until,
        files.file_order,
        coalesce(end_reasons.is_terminal, parts.ended_at is not null) as is_terminal,
        struct_pack(
            source_state := parts.source_state,
            state_key := parts.state_key,
            end_reason := end_reasons.end_reason,
            end_reason_unstarted := end_reasons.end_reason_unstarted,
            is_waiting := coalesce(end_reasons.is_waiting, false)
        ) as state
    from parts
    join files using (file_id)
    left join end_reasons on end_reasons.source = files.source and end_reasons.state_key = parts.state_key
),

named as (
    select
        * exclude (part_id),
        part_id
    from dated
    where part_id is not null
    union all by name
    select
        * exclude (part_id),
        concat_ws(' ', node, row_number() over (
            partition by file_id, cluster_source, session_id, node order by started_at, ended_at, line
        )) as part_id
    from dated
    where part_id is null
),

final as (
    select
        source, cluster_source, session_id, part_id, file_id, line, node, gpu_count, started_at, ended_at,
        is_terminal, state, observed_until, record_order(is_terminal, file_order, line) as record_order
    from named
)

select * from final
