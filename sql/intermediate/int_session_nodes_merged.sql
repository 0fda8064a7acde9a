-- A row: one node of one session. Nodes come from the session's node list and from its parts; a part's own times count,
-- clipped to the session. A node that goes down meanwhile stays a member unless a part says that it left.
with sessions as (select * from intermediate.int_sessions_merged),
keys as (select * from intermediate.int_sessions_keyed),
records as (select * from intermediate.int_session_records_dated),
parts as (select * from intermediate.int_session_parts_merged),
nodes as (select * from intermediate.int_nodes_keyed),

chosen as (
    select session_key, native_id, keys.source, keys.cluster_source, nodes_record_order
    from sessions
    join keys using (session_key)
    where sessions.has_started and sessions.nodes_record_order is not null
),

listed as (
    select chosen.session_key, unnest(records.nodes) as node
    from records
    join chosen
        on chosen.native_id = records.session_id
        and chosen.source = records.source
        and chosen.cluster_source = records.cluster_source
        and chosen.nodes_record_order = records.record_order
),

placed as (
    select
        parts.session_key,
        parts.node,
        sum(parts.gpu_count) as part_gpu_count,
        min(parts.started_at) as started_at,
        case when bool_and(parts.is_terminal) then max(parts.ended_at) end as ended_at
    from parts
    join sessions using (session_key)
    where parts.node is not null and sessions.has_started
    group by all
),

members as (
    select
        coalesce(listed.session_key, placed.session_key) as session_key,
        coalesce(listed.node, placed.node) as node,
        placed.part_gpu_count,
        placed.started_at,
        placed.ended_at
    from listed
    full join placed using (session_key, node)
),

final as (
    select
        members.session_key,
        nodes.node_key,
        members.part_gpu_count,
        case
            when members.started_at > sessions.started_at + clock_tolerance()
                then least(members.started_at, sessions.until_at)
            else sessions.started_at
        end as started_at,
        case
            when members.ended_at < sessions.until_at - clock_tolerance()
                then greatest(members.ended_at, sessions.started_at)
            else sessions.ended_at
        end as ended_at,
        case
            when members.ended_at < sessions.until_at - clock_tolerance()
                then greatest(members.ended_at, sessions.started_at)
            else sessions.until_at
        end as until_at
    from members
    join sessions using (session_key)
    join nodes using (node)
)

select * from final
