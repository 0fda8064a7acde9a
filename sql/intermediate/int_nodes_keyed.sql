-- A row: one node that any file or the config names, or that only the config's count knows of.
with records as (select * from staging.stg_exports__sessions),
parts as (select * from staging.stg_exports__session_parts),
incidents as (select * from staging.stg_exports__node_incidents),
node_states as (select * from staging.stg_exports__node_states),
kernel_logs as (select * from staging.stg_exports__kernel_logs),
inventory as (select * from meta.inventory),
settings as (select * from meta.settings),

in_sessions as (
    select unnest(nodes) as node from records
    union
    select node from parts where node is not null
),

-- a log may give a host with its domain, and an address keeps its dots
in_kernel_logs as (
    select distinct if(regexp_full_match(node, '[0-9.]+|.*:.*'), node, split_part(node, '.', 1)) as node
    from kernel_logs
    where node is not null
),

-- the config's list, else every node of a session, else (an export without sessions) every node of an incident or a
-- kernel log
named as (
    select node from inventory
    union
    select node from in_sessions where not exists (from inventory)
    union
    select node from incidents
    where node is not null and not exists (from inventory) and not exists (from in_sessions)
    union
    select node from in_kernel_logs where not exists (from inventory) and not exists (from in_sessions)
),

unnamed as (
    select concat('(unnamed ', unnest(range(1, settings.node_count - (select count(*) from named) + 1)), ')') as node
    from settings
),

elsewhere as (
    select node from in_sessions
    union
    select node from incidents where node is not null
    union
    select node from node_states
),

known as (
    select node, true as is_inventory, true as is_named from named
    union all
    select node, true, false from unnamed
    union all
    select node, false, true from elsewhere where node not in (select node from named)
),

final as (
    select row_number() over (order by is_named desc, node)::integer as node_key, node, is_inventory, is_named
    from known
)

select * from final
