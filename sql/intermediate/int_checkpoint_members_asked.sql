-- A row: one node of one started gang session, whose saves and loads are looked up in the telemetry (analyses 6).
with session_nodes as (select * from marts.session_nodes),
sessions as (select * from marts.sessions),
keys as (select session_key, session_id from intermediate.int_sessions_keyed),
series as (select * from marts.series),

seen as (select node, min(first_at) as first_at, max(last_at) as last_at from series where node is not null group by node),

final as (
    select
        keys.session_key,
        session_nodes.node,
        session_nodes.gpus,
        session_nodes.started_at,
        session_nodes.until_at,
        coalesce(seen.first_at < session_nodes.until_at and seen.last_at >= session_nodes.started_at, false) as is_seen
    from session_nodes
    semi join (select session_id from sessions where is_gang and has_started) as gangs using (session_id)
    join keys using (session_id)
    left join seen using (node)
    where session_nodes.until_at > session_nodes.started_at
)

select * from final
