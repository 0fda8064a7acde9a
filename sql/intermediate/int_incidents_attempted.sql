-- A row: one incident whose session's end another attempt followed: the next of the lineage, else of the same owner and
-- run name, and whether it ran on the incident's node.
with incidents as (select * from intermediate.int_incidents_found),
attributed as (select * from intermediate.int_incidents_attributed),
nodes as (select node_key, node from intermediate.int_nodes_keyed),
sessions as (select * from intermediate.int_sessions_merged where has_started and started_at is not null),
sizes as (select * from intermediate.int_sessions_sized),
lineages as (select * from intermediate.int_lineages_joined),
members as (select session_key, node_key from intermediate.int_session_nodes_merged),

efforts as (
    select
        sessions.session_key,
        sessions.started_at,
        sessions.until_at,
        coalesce(
            'lineage ' || lineages.lineage_id,
            concat_ws(chr(31), 'name', sessions.owner, coalesce(sessions.run_name, sessions.session_id))
        ) as effort_key
    from sessions
    left join lineages using (session_key)
),

ended as (
    select
        attributed.incident_id,
        nodes.node_key,
        efforts.effort_key,
        -- the next one begins after this one both began and, within the clocks' tolerance, ended
        greatest(efforts.until_at - clock_tolerance(), efforts.started_at + to_microseconds(1)) as after_at
    from attributed
    join incidents using (incident_id)
    join nodes using (node)
    join efforts using (session_key)
),

-- of several that begin at one instant the first by key
attempts as (
    select min(session_key) as session_key, started_at, effort_key
    from efforts
    where effort_key in (select effort_key from ended)
    group by effort_key, started_at
),

followed as (
    select ended.incident_id, ended.node_key, attempts.session_key, attempts.started_at
    from ended
    asof join attempts on attempts.effort_key = ended.effort_key and attempts.started_at >= ended.after_at
),

kept as (select followed.incident_id from followed semi join members using (session_key, node_key)),

final as (
    select
        followed.incident_id,
        followed.session_key as next_session_key,
        followed.started_at as next_started_at,
        if(sizes.node_count > 0, kept.incident_id is not null, null) as next_kept_node
    from followed
    left join sizes using (session_key)
    left join kept using (incident_id)
)

select * from final
