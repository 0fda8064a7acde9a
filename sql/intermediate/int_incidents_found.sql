-- A row: one incident: its first event, and the event whose code is strictest about keeping the node, which decides
-- what is called for.
with events as (select * from intermediate.int_xid_events_grouped where incident_id is not null),
codes as (select * from staging.xid_codes),

judged as (
    select
        events.*,
        -- a clean-up whose cause was not seen still names it
        case
            when events.kind = 'bus_loss' then 79
            when events.kind = 'xid' and events.code in (45, 154) then coalesce(events.cause_code, events.code)
            when events.kind = 'xid' then events.code
        end as judged_code,
        -- what a 154 asks for is done to the whole GPU or node, but for a drain of its peer-to-peer traffic
        if(regexp_matches(events.recovery_action, '(?i)reset|reboot'), false, null) as keep_node_by_action
    from events
),

called as (
    select
        judged.*,
        coalesce(codes.report_class, if(judged.kind = 'sxid', 'nvswitch', 'unknown')) as report_class,
        codes.catalogue_action,
        coalesce(codes.policy, 'unknown') as policy,
        if(codes.policy = 'follow_action', judged.keep_node_by_action, codes.keep_node) as keep_node
    from judged
    left join codes on codes.code = judged.judged_code
),

-- a node that may come back once it was reset is called for less than one that may not; what tells nothing of the node
-- decides only where nothing else does
ranked as (
    select
        *,
        case
            when not keep_node and policy = 'stop_isolate_page' then 0
            when not keep_node then 1
            when keep_node then 2
            else 3
        end as leniency
    from called
),

final as (
    select
        incident_id,
        any_value(node) as node,
        min(event_at) as started_at,
        max(ended_at) as ended_at,
        count(*) as event_count,
        sum(is_secondary::integer)::bigint as secondary_count,
        sum(line_count)::bigint as line_count,
        arg_min(event_id, place) as primary_event_id,
        arg_min(
            case kind
                when 'bus_loss' then kind
                when 'sxid' then concat('sxid_', code)
                else concat('xid_', judged_code)
            end,
            place
        ) as kind,
        first(if(kind = 'bus_loss', null, coalesce(judged_code, code)) order by place) as code,
        arg_min(report_class, place) as class,
        first(gpu_index order by place) as gpu_index,
        first(gpu_uuid order by place) as gpu_uuid,
        first(pci_bus_id order by place) as pci_bus_id,
        count(distinct gpu_key) filter (where gpu_key <> '' and kind <> 'sxid') as gpu_count,
        first(judged_code order by leniency, place) as action_code,
        first(catalogue_action order by leniency, place) as catalogue_action,
        first(policy order by leniency, place) as policy,
        first(keep_node order by leniency, place) as keep_node,
        arg_max(recovery_action, place) as recovery_action,
        first(time_quality order by place) as time_quality,
        first(has_sure_time order by place) as has_sure_time
    from ranked
    group by incident_id
)

select * from final
