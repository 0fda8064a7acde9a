-- A row: one node of one session, with the time in which it was in it.
with members as (select * from intermediate.int_session_nodes_merged),
sessions as (select session_key, session_id from intermediate.int_sessions_keyed),
sizes as (select * from intermediate.int_sessions_sized),
nodes as (select * from intermediate.int_nodes_keyed),

final as (
    select
        sessions.session_id,
        nodes.node,
        coalesce(members.part_gpu_count, sizes.gpu_count / nullif(sizes.node_count, 0)) as gpus,
        members.started_at,
        members.ended_at,
        members.until_at
    from members
    join sessions using (session_key)
    join sizes using (session_key)
    join nodes using (node_key)
)

select * from final
