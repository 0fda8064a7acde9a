-- A row: one incident that no session's end goes with, with the gang session on its node that ran then and went on for
-- before_min at least; of several the first by key.
with incidents as (select * from intermediate.int_incidents_found),
attributed as (select * from intermediate.int_incidents_attributed),
nodes as (select node_key, node from intermediate.int_nodes_keyed),
gangs as (select session_key, started_at, until_at from intermediate.int_gangs_found),
members as (select session_key, node_key from intermediate.int_session_nodes_merged),
settings as (select * from meta.settings),

-- stretches of time as long as a gang on average, so that gangs and incidents meet by equality
stretch as (
    select greatest(avg(epoch_us(until_at) - epoch_us(started_at))::bigint, 60000000) as length_us
    from gangs
),

gang_stretches as (
    select
        gangs.*,
        unnest(
            generate_series(epoch_us(started_at) // stretch.length_us, epoch_us(until_at) // stretch.length_us)
        ) as place
    from gangs
    cross join stretch
),

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
    select asked.incident_id, asked.node_key, gang_stretches.session_key
    from asked
    join gang_stretches using (place)
    where gang_stretches.started_at <= asked.started_at and gang_stretches.until_at > asked.late_at
),

final as (
    select running.incident_id, min(running.session_key) as session_key
    from running
    join members using (session_key, node_key)
    group by running.incident_id
)

select * from final
