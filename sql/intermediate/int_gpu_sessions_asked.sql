-- A row: one node of one started session that the telemetry of GPUs can say something of: it has samples of some node of
-- the session from about its time.
with session_nodes as not materialized (select * from marts.session_nodes),
keys as (select session_key, session_id from intermediate.int_sessions_keyed),
series as (select * from marts.series),

gpu_nodes as (
    select node, min(first_at) as first_at, max(last_at) as last_at
    from series
    where node is not null and (gpu_index is not null or gpu_uuid is not null)
    group by node
),

seen as (
    select distinct session_nodes.session_id
    from session_nodes
    join gpu_nodes using (node)
    where session_nodes.started_at <= gpu_nodes.last_at and session_nodes.until_at > gpu_nodes.first_at
),

final as (
    select keys.session_key, session_nodes.node, session_nodes.gpus, session_nodes.started_at, session_nodes.until_at
    from session_nodes
    semi join seen using (session_id)
    join keys using (session_id)
)

select * from final
