-- A row: one stretch in which a node in service is in no gang session, kept where a gang session runs or starts in it.
-- The four places number the gang starts and gang stretches of the node's class that fall into the gap, so that the
-- rows behind them can be fetched by number. A gang session of no length still takes its nodes at its start.
with gangs as (select * from intermediate.int_gangs_found),
members as (select * from intermediate.int_session_nodes_merged),
candidates as (select node_key, class_key from intermediate.int_gang_candidates_classed),
services as (select * from intermediate.int_node_services_bounded),
class_gangs as (select * from intermediate.int_class_gangs_ordered),
class_hours as (select * from intermediate.int_class_gang_hours_merged),

taken as (
    select
        members.node_key,
        members.started_at,
        greatest(members.until_at, members.started_at + interval 1 microsecond) as until_at
    from members
    semi join gangs using (session_key)
    semi join candidates using (node_key)
),

ordered as (
    select
        *,
        max(until_at) over (
            partition by node_key order by started_at, until_at rows between unbounded preceding and 1 preceding
        ) as earlier_until_at
    from taken
),

free as (
    select node_key, coalesce(earlier_until_at, '-infinity'::timestamptz) as from_at, started_at as to_at
    from ordered
    where earlier_until_at is null or started_at > earlier_until_at
    union all
    select node_key, max(until_at), 'infinity'::timestamptz from taken group by node_key
    union all
    select node_key, '-infinity'::timestamptz, 'infinity'::timestamptz from candidates anti join taken using (node_key)
),

gaps as (
    select
        candidates.class_key,
        free.node_key,
        greatest(free.from_at, services.from_at) as from_at,
        least(free.to_at, services.to_at) as to_at
    from free
    join candidates using (node_key)
    join services
        on services.node_key = free.node_key and services.from_at < free.to_at and services.to_at > free.from_at
),

edges as (
    select class_key, from_at as edge_at from gaps
    union
    select class_key, to_at from gaps
),

-- Of gangs that start at one instant an asof join finds any: the last place there counts them all.
start_places as (select class_key, started_at, max(place) as place from class_gangs group by class_key, started_at),

starts_before as (
    select edges.class_key, edges.edge_at, coalesce(start_places.place, 0) as starts
    from edges
    asof left join start_places on start_places.class_key = edges.class_key and edges.edge_at > start_places.started_at
),

stretches_begun as (
    select edges.class_key, edges.edge_at, coalesce(class_hours.stretch, 0) as begun
    from edges
    asof left join class_hours on class_hours.class_key = edges.class_key and edges.edge_at > class_hours.started_at
),

stretches_over as (
    select edges.class_key, edges.edge_at, coalesce(class_hours.stretch, 0) as over
    from edges
    asof left join class_hours on class_hours.class_key = edges.class_key and edges.edge_at >= class_hours.until_at
),

places as (
    select class_key, edge_at, starts, begun, over
    from starts_before
    join stretches_begun using (class_key, edge_at)
    join stretches_over using (class_key, edge_at)
),

final as (
    select
        gaps.class_key,
        gaps.node_key,
        gaps.from_at,
        gaps.to_at,
        opened.starts + 1 as first_start,
        closed.starts as last_start,
        opened.over + 1 as first_stretch,
        closed.begun as last_stretch
    from gaps
    join places as opened on opened.class_key = gaps.class_key and opened.edge_at = gaps.from_at
    join places as closed on closed.class_key = gaps.class_key and closed.edge_at = gaps.to_at
    where closed.starts > opened.starts or closed.begun > opened.over
)

select * from final
