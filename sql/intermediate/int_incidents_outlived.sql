-- A row: one incident that no session's end goes with, with the gang session on its node that ran then and went on for
-- before_min at least; of several the first by key.
with incidents as (select * from intermediate.int_incidents_found),
attributed as (select * from intermediate.int_incidents_attributed),
nodes as (select node_key, node from intermediate.int_nodes_keyed),
spread as (select * from intermediate.int_gangs_spread),
members as (select session_key, node_key from intermediate.int_session_nodes_merged),
settings as (select * from meta.settings),

stretch as (select any_value(length_us) as length_us from spread),

asked as (
    select
        incidents.incident_id,
        nodes.node_key,
        incidents.started_at,
        incidents.started_at + to_microseconds((settings.failures_before_min * 6e7)::bigint) as late_at,
        epoch_us(incidents.started_at) // stretch.length_us as place
    from incidents
    join nodes using (node)
    anti join attributed using (incident_id)
    cross join settings
    cross join stretch
),

-- first which gangs ran then, next whether on that node: a gang has very many nodes
-- it is materialized, lest the optimizer groups all members before it looks up the few that are asked for
running as materialized (
    select asked.incident_id, asked.node_key, spread.session_key
    from asked
    join spread using (place)
    where spread.started_at <= asked.started_at and spread.until_at > asked.late_at
),

final as (
    select running.incident_id, min(running.session_key) as session_key
    from running
    join members using (session_key, node_key)
    group by running.incident_id
)

select * from final
