-- A row: something that happened, from whatever source.
with sessions as (select * from intermediate.int_sessions_merged),
lineages as (select * from intermediate.int_lineages_joined),
files as (select * from intermediate.int_files_dated),
node_states as (select * from intermediate.int_node_states_merged),
node_incidents as (select * from intermediate.int_node_incidents_merged),
annotations as (select * from marts.annotations),
xid_events as (select * from marts.xid_events),
incidents as (select * from marts.incidents),
saves as (select * from marts.checkpoint_saves),
loads as (select * from marts.checkpoint_loads),
run_events as (select * from intermediate.int_run_events_found),
log_signatures as (select * from marts.log_signatures),

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

xid_facts as (
    select
        xid_events.*,
        concat_ws(
            ': ',
            nullif(concat_ws(' ', code, 'GPU ' || coalesce(gpu_index::varchar, gpu_uuid, pci_bus_id)), ''),
            detail
        ) as value,
        if(source = 'gauge', 'prometheus', 'kernel_log') as source_kind
    from xid_events
),

save_events as (
    select started_at as event_at, 'save_started' as kind, stage as value, * from saves
    union all by name
    select ended_at as event_at, 'save_ended' as kind, round(bytes / 1e9, 1)::varchar || ' GB' as value, * from saves
),

load_events as (
    select started_at as event_at, 'load_started' as kind, null::varchar as value, * from loads
    union all by name
    select ended_at as event_at, 'load_ended' as kind, round(bytes / 1e9, 1)::varchar || ' GB' as value, * from loads
),

annotation_events as (
    select
        annotations.started_at as event_at,
        coalesce(annotations.node, node_incidents.node, incidents.node) as node,
        annotations.session_id,
        concat_ws(': ', annotations.cause, annotations.note) as value,
        annotations.file,
        annotations.line
    from annotations
    left join node_incidents using (incident_id)
    left join incidents on incidents.incident_id = annotations.incident_id
),

-- one end is told by hundreds of ranks
signature_events as (
    select
        log_signatures."at" as event_at,
        log_signatures.*,
        signature || ': ' || text as value,
        if(run_id is null, 'console_log', 'wandb') as source
    from log_signatures
    where log_signatures."at" is not null
    qualify row_number() over (
        partition by coalesce(session_id, run_id, file), node, signature
        order by log_signatures."at", file, line, ordinal
    ) = 1
),

lineage_ids as (select session_id, any_value(lineage_id) as lineage_id from session_facts group by session_id),

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
    select xid_facts."at", node, null, null, kind, value, source_kind, file, line from xid_facts
    where xid_facts."at" is not null
    union all
    select incidents.started_at, incidents.node, incidents.session_id, lineage_ids.lineage_id, 'incident_started',
        incidents.kind || ': ' || incidents.class, xid_facts.source_kind, xid_facts.file, xid_facts.line
    from incidents
    join xid_facts on xid_facts.event_id = incidents.primary_event_id
    left join lineage_ids on lineage_ids.session_id = incidents.session_id
    union all
    select event_at, null, session_id, lineage_id, kind, value, if(save_evidence = 'logged', 'wandb', 'prometheus'),
        null, null
    from save_events
    union all
    select event_at, null, session_id, lineage_id, kind, value, 'prometheus', null, null from load_events
    union all
    select event_at, null, run_events.session_id, lineage_ids.lineage_id, kind, value, source, file, line
    from run_events
    left join lineage_ids on lineage_ids.session_id = run_events.session_id
    union all
    select event_at, node, signature_events.session_id, lineage_ids.lineage_id, 'log_signature', value, source, file, line
    from signature_events
    left join lineage_ids on lineage_ids.session_id = signature_events.session_id
    union all
    select event_at as at, node, session_id, null, 'annotation', value, 'annotations_csv', file, line from annotation_events
    where event_at is not null
)

select * from final
