-- A row: one part of a session, over all files that name it.
with keys as (select * from intermediate.int_sessions_keyed),
parts as (select * from intermediate.int_session_parts_dated),

final as (
    select
        keys.session_key,
        parts.part_id,
        arg_max(parts.node, parts.record_order) as node,
        arg_max(parts.gpu_count, parts.record_order) as gpu_count,
        arg_max(parts.started_at, parts.record_order) as started_at,
        arg_max(parts.ended_at, parts.record_order) as ended_at,
        bool_or(parts.is_terminal) as is_terminal,
        arg_max(parts.state, parts.record_order) as state,
        max(parts.observed_until) as observed_until
    from parts
    join keys
        on keys.native_id = parts.session_id
        and keys.source = parts.source
        and keys.cluster_source = parts.cluster_source
    group by all
)

select * from final
