-- A row: one incident of one node, from incident files.
with incidents as (select * from intermediate.int_node_incidents_merged),

final as (
    select
        incident_id, node, started_at, ended_at, ended_at is null as is_censored,
        kind, class, detail, source, observed_until
    from incidents
)

select * from final order by started_at, node, incident_id
