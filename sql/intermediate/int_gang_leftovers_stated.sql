-- A row: one gang session and one candidate node in service that is not in it at its start, with what the node was
-- doing then. Only occupied, idle and asked_out are exclusions.
with gangs as (select * from intermediate.int_gangs_found),
spread as (select * from intermediate.int_gangs_spread),
-- read anew at each use: held in memory, its rows would be most of what this model needs
members as not materialized (select * from intermediate.int_session_nodes_merged),
candidates as (select node_key, class_key from intermediate.int_gang_candidates_classed),
class_gangs as (select * from intermediate.int_class_gangs_ordered),
gaps as (select * from intermediate.int_node_gang_gaps_found),
services as (select * from intermediate.int_node_services_bounded),
usable as (select * from intermediate.int_node_usable_bounded),
busy as (select * from intermediate.int_node_busy_merged),
asked as (select * from intermediate.int_gang_nodes_asked_out),

in_no_gang as (
    select class_gangs.session_key, numbered.node_key, class_gangs.started_at
    from (
        select class_key, node_key, unnest(range(first_start, last_start + 1))::integer as place
        from gaps
        where last_start >= first_start
    ) as numbered
    join class_gangs using (class_key, place)
),

beside as (
    select gangs.session_key, gangs.started_at, others.session_key as other_key
    from spread as gangs
    join spread as others using (place)
    where gangs.place = epoch_us(gangs.started_at) // gangs.length_us
        and others.started_at <= gangs.started_at
        and others.until_at > gangs.started_at
        and others.session_key <> gangs.session_key
),

in_other_gang as (
    select distinct beside.session_key, members.node_key, beside.started_at
    from beside
    join members on members.session_key = beside.other_key
    join candidates using (node_key)
    join services using (node_key)
    semi join class_gangs
        on class_gangs.class_key = candidates.class_key and class_gangs.session_key = beside.session_key
    where members.started_at <= beside.started_at and members.until_at > beside.started_at
        and services.from_at <= beside.started_at and services.to_at > beside.started_at
),

own as (
    select members.session_key, members.node_key
    from members
    join gangs using (session_key)
    where members.started_at <= gangs.started_at
        and members.session_key in (select session_key from beside)
),

stated as (
    select
        in_no_gang.session_key,
        in_no_gang.node_key,
        in_no_gang.started_at,
        coalesce(usable.to_at > in_no_gang.started_at, false) as is_usable,
        coalesce(busy.until_at > in_no_gang.started_at, false) as is_occupied
    from in_no_gang
    asof left join usable on usable.node_key = in_no_gang.node_key and in_no_gang.started_at >= usable.from_at
    asof left join busy on busy.node_key = in_no_gang.node_key and in_no_gang.started_at >= busy.started_at
),

final as (
    select
        stated.session_key,
        stated.node_key,
        stated.started_at,
        stated.is_occupied,
        asked.node_key is not null as is_asked_out,
        case
            when not stated.is_usable then 'down'
            when asked.node_key is not null then 'asked_out'
            when stated.is_occupied then 'occupied'
            else 'idle'
        end as state
    from stated
    left join asked using (session_key, node_key)
    union all
    select session_key, node_key, started_at, false, false, 'other_gang'
    from in_other_gang
    anti join own using (session_key, node_key)
)

select * from final
