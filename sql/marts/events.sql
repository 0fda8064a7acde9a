-- A row: something that happened, from whatever source.
with sessions as (select * from intermediate.int_sessions_merged),
lineages as (select * from intermediate.int_lineages_joined),
files as (select * from intermediate.int_files_dated),
node_states as (select * from intermediate.int_node_states_merged),
node_incidents as (select * from intermediate.int_node_incidents_merged),
annotations as (select * from marts.annotations),

session_facts as (
    select sessions.*, lineages.lineage_id, files.path as file
    from sessions
    left join lineages using (session_key)
    left join files using (file_id)
),

session_events as (
    select created_at as event_at, 'session_created' as kind, run_name as value, * from session_facts
    union all by name
    select started_at as event_at, 'session_started' as kind, run_name as value, * from session_facts
    union all by name
    select ended_at as event_at, 'session_ended' as kind, end_reason as value, * from session_facts
),

state_events as (
    select started_at as event_at, 'node_state_started' as kind, concat_ws(': ', state, reason) as value, * from node_states
    union all by name
    select ended_at as event_at, 'node_state_ended' as kind, state as value, * from node_states
),

incident_events as (
    select started_at as event_at, 'node_incident_started' as event_kind, concat_ws(': ', kind, detail) as value, *
    from node_incidents
    union all by name
    select ended_at as event_at, 'node_incident_ended' as event_kind, kind as value, * from node_incidents
),

annotation_events as (
    select
        annotations.started_at as event_at,
        coalesce(annotations.node, node_incidents.node) as node,
        annotations.session_id,
        concat_ws(': ', annotations.cause, annotations.note) as value,
        annotations.file,
        annotations.line
    from annotations
    left join node_incidents using (incident_id)
),

final as (
    select event_at as at, null as node, session_id, lineage_id, kind, value, source, file, line from session_events
    where event_at is not null
    union all
    select event_at as at, node, null, null, kind, value, source, file, line from state_events
    where event_at is not null
    union all
    select event_at as at, node, null, null, event_kind, value, source, file, line from incident_events
    where event_at is not null
    union all
    select event_at as at, node, session_id, null, 'annotation', value, 'annotations_csv', file, line from annotation_events
    where event_at is not null
)

select * from final
