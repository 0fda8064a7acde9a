-- A row: one incident: events of one node that belong together, with what was called for and what was done.
with incidents as (select * from intermediate.int_incidents_found),
followed as (select * from intermediate.int_incidents_followed),
sessions as (select session_key, session_id from intermediate.int_sessions_merged),

told as (select count(*) > 0 as has_states from intermediate.int_node_states_merged),

judged as (
    select
        incidents.*,
        followed.* exclude (incident_id),
        case
            when incidents.keep_node is null
                then ['unknown', 'the code calls neither for keeping nor for leaving the node']
            when followed.running_session_key is not null
                then [if(incidents.keep_node, 'taken', 'not taken'), 'the session on the node went on']
            when followed.next_kept_node and not incidents.keep_node and incidents.policy <> 'stop_isolate_page'
                and followed.was_shut
                then ['taken', 'the node was down or drained before the next attempt took it again']
            when followed.next_kept_node and not incidents.keep_node and incidents.policy <> 'stop_isolate_page'
                and not told.has_states
                then ['unknown', 'the next attempt ran on the node, and no source tells whether it was reset before']
            when followed.next_kept_node
                then [if(incidents.keep_node, 'taken', 'not taken'), 'the next attempt ran on the node']
            when not followed.next_kept_node
                then [if(incidents.keep_node, 'not taken', 'taken'), 'the next attempt ran without the node']
            when not incidents.keep_node and followed.was_shut
                then ['taken', 'the node was down or drained']
            when followed.next_session_key is not null then ['unknown', 'the nodes of the next attempt are not known']
            when followed.session_key is not null then ['unknown', 'no attempt followed']
            when not incidents.keep_node and followed.is_soon_back and told.has_states
                then ['not taken', 'a gang session took the node, which had been neither down nor drained']
            else ['unknown', 'no end of a session goes with it']
        end as verdict
    from incidents
    join followed using (incident_id)
    cross join told
),

final as (
    select
        judged.incident_id,
        judged.node,
        judged.started_at,
        judged.ended_at,
        judged.event_count,
        judged.kind,
        judged.code,
        judged.class,
        judged.gpu_index,
        judged.gpu_uuid,
        sessions.session_id,
        judged.attribution_gap_min,
        judged.catalogue_action,
        judged.policy,
        judged.keep_node,
        next_sessions.session_id as next_session_id,
        judged.next_kept_node,
        case
            when not judged.next_kept_node then judged.back_at
            else judged.shut_until
        end as node_out_until,
        judged.verdict[1] as action_taken,
        judged.verdict[2] as action_evidence,
        judged.time_quality,
        judged.has_sure_time,
        case
            when judged.was_shut then 'node_state'
            when judged.is_held then 'held'
            when not judged.next_kept_node then 'excluded'
        end as node_out_evidence,
        running.session_id as running_session_id,
        judged.action_code,
        judged.recovery_action,
        judged.pci_bus_id,
        judged.gpu_count,
        judged.secondary_count,
        judged.line_count,
        judged.primary_event_id
    from judged
    left join sessions using (session_key)
    left join sessions as next_sessions on next_sessions.session_key = judged.next_session_key
    left join sessions as running on running.session_key = judged.running_session_key
)

select * from final order by started_at, node, incident_id
