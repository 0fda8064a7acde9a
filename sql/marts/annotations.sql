-- A row: one remark of a person about a session, an incident or a node; a remark repeated in later exports is one.
with annotations as (select * from intermediate.int_annotations_targeted),
sessions as (select session_key, session_id from intermediate.int_sessions_keyed),
nodes as (select node_key, node from intermediate.int_nodes_keyed),

final as (
    select
        annotations.target,
        annotations.started_at,
        annotations.ended_at,
        annotations.cause,
        annotations.is_planned,
        annotations.note,
        annotations.file,
        annotations.line,
        sessions.session_id,
        nodes.node,
        annotations.incident_id
    from annotations
    left join sessions using (session_key)
    left join nodes using (node_key)
)

select * from final order by started_at, target, cause, note
