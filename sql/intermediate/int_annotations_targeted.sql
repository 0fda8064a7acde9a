-- A row: one remark of a person with the session, node or incident that it is about; a remark repeated in later exports
-- is one. A target is a session's id, or its bare id where only one session has it, a node, or an incident.
with annotations as (select * from staging.stg_exports__annotations),
files as (select * from intermediate.int_files_dated),
sessions as (select session_key, session_id, bare_id from intermediate.int_sessions_merged),
nodes as (select node_key, node from intermediate.int_nodes_keyed),
incidents as (select incident_id from intermediate.int_node_incidents_merged),
xid_incidents as (
    select distinct incident_id from intermediate.int_xid_events_grouped where incident_id is not null
),

merged as (
    select
        annotations.target,
        annotations.started_at,
        annotations.ended_at,
        annotations.cause,
        annotations.is_planned,
        annotations.note,
        arg_max(files.path, record_order(true, files.file_order, annotations.line)) as file,
        arg_max(annotations.line, record_order(true, files.file_order, annotations.line)) as line
    from annotations
    join files using (file_id)
    group by all
),

session_names as (
    select session_id as name, session_key from sessions
    union
    select bare_id, any_value(session_key)
    from sessions
    where bare_id not in (select session_id from sessions)
    group by bare_id
    having count(*) = 1
),

incident_names as (
    select incident_id as name, incident_id from incidents
    union
    select substr(incident_id, length('node:') + 1), incident_id from incidents
    union
    select incident_id, incident_id from xid_incidents
),

final as (
    select merged.*, session_names.session_key, nodes.node_key, incident_names.incident_id
    from merged
    left join session_names on session_names.name = merged.target
    left join nodes on nodes.node = merged.target
    left join incident_names on incident_names.name = merged.target
)

select * from final
