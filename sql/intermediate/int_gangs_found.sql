-- A row: one gang session whose start is known, in order of start.
with sessions as (select * from intermediate.int_sessions_merged),
sizes as (select * from intermediate.int_sessions_sized),
rule as (select * from intermediate.int_gang_sizes_ruled),

final as (
    select
        sessions.session_key,
        sessions.session_id,
        sessions.partition,
        sessions.gpu_model,
        sessions.owner,
        sessions.run_name,
        sizes.node_count,
        sessions.started_at,
        sessions.until_at,
        sessions.excluded_record_order
    from sessions
    join sizes using (session_key)
    cross join rule
    where sizes.node_count >= rule.gang_min_nodes and sessions.started_at is not null
)

select * from final
