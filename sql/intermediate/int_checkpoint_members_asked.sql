-- A row: one node of one started gang session, whose saves and loads are looked up in the telemetry (analyses 6): sessions
-- of which some node has samples from about its time.
with session_nodes as not materialized (select * from marts.session_nodes),
sessions as (select * from marts.sessions),
keys as (select session_key, session_id from intermediate.int_sessions_keyed),
series as (select * from marts.series),

nodes_seen as (select node, min(first_at) as first_at, max(last_at) as last_at from series where node is not null group by node),
gangs as (select session_id from sessions where is_gang and has_started),

members_seen as (
    select session_nodes.session_id, session_nodes.node
    from session_nodes
    semi join gangs using (session_id)
    join nodes_seen using (node)
    where nodes_seen.first_at < session_nodes.until_at and nodes_seen.last_at >= session_nodes.started_at
),

sessions_seen as (select distinct session_id from members_seen),

final as (
    select
        keys.session_key,
        session_nodes.node,
        session_nodes.gpus,
        session_nodes.started_at,
        session_nodes.until_at,
        members_seen.node is not null as is_seen
    from session_nodes
    semi join sessions_seen using (session_id)
    join keys using (session_id)
    left join members_seen using (session_id, node)
    where session_nodes.until_at > session_nodes.started_at
)

select * from final
