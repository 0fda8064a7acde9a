-- A row: one session with its size and its hours.
with sessions as (select * from intermediate.int_sessions_merged),
members as (select * from intermediate.int_session_nodes_merged),
settings as (select * from meta.settings),

counted as (
    select session_key, count(*) as node_count, sum(part_gpu_count) as part_gpu_count
    from members
    group by session_key
),

final as (
    select
        sessions.session_key,
        if(not sessions.has_started, 0, counted.node_count)::integer as node_count,
        case
            when not sessions.has_started then 0
            else coalesce(sessions.gpu_count, counted.part_gpu_count, counted.node_count * settings.gpus_per_node)
        end::double as gpu_count,
        case
            when not sessions.has_started then null
            when sessions.gpu_count is not null then 'source'
            when counted.part_gpu_count is not null then 'parts'
            when counted.node_count is not null then 'assumed'
        end as gpu_evidence,
        hours_between(sessions.started_at, sessions.until_at) as duration_h
    from sessions
    left join counted using (session_key)
    cross join settings
)

select * from final
