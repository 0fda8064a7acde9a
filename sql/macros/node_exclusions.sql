-- A row: one node of the inventory and how gang sessions left it out in [window_start, window_end): sessions that start
-- in it are counted, hours are clipped to it.
create or replace macro marts.node_exclusions(window_start, window_end) as table
with nodes as (select * from intermediate.int_nodes_keyed where is_inventory),
candidates as (select node_key, class_key from intermediate.int_gang_candidates_classed),
class_gangs as (select * from intermediate.int_class_gangs_ordered),
services as (select * from intermediate.int_node_services_bounded),
settings as (select * from meta.settings),

leftovers as (
    select *
    from intermediate.int_gang_leftovers_stated
    where started_at >= window_start and started_at < window_end
),

exclusions as (
    select node_key, greatest(started_at, window_start) as started_at, least(until_at, window_end) as until_at
    from intermediate.int_node_exclusions_found
    where started_at < window_end and until_at > window_start
),

held as (
    select node_key, is_full, greatest(started_at, window_start) as started_at, least(until_at, window_end) as until_at
    from intermediate.int_node_exclusions_held
    where started_at < window_end and until_at > window_start
),

spans as (
    select distinct candidates.class_key, services.from_at, services.to_at
    from candidates
    join services using (node_key)
),

span_starts as (
    select spans.class_key, spans.from_at, spans.to_at, count(*) as gang_sessions
    from spans
    join class_gangs using (class_key)
    where class_gangs.started_at >= window_start and class_gangs.started_at < window_end
        and class_gangs.started_at >= spans.from_at and class_gangs.started_at < spans.to_at
    group by all
),

candidate_starts as (
    select candidates.node_key, sum(span_starts.gang_sessions)::bigint as gang_sessions
    from candidates
    join services using (node_key)
    join span_starts using (class_key, from_at, to_at)
    group by candidates.node_key
),

counted as (
    select
        node_key,
        count(*) filter (where state in ('occupied', 'idle', 'asked_out')) as excluded_sessions,
        count(*) filter (where state = 'occupied') as occupied_sessions,
        count(*) filter (where state = 'idle') as idle_sessions,
        count(*) filter (where state = 'asked_out') as asked_out_sessions,
        count(*) filter (where state = 'down') as down_sessions,
        count(*) filter (where state = 'other_gang') as other_gang_sessions
    from leftovers
    group by node_key
),

excluded as (
    select node_key, sum(epoch_us(until_at) - epoch_us(started_at)) / 3.6e9 as excluded_h
    from exclusions
    group by node_key
),

held_summed as (
    select
        node_key,
        sum(epoch_us(until_at) - epoch_us(started_at)) / 3.6e9 as held_h,
        coalesce(sum(epoch_us(until_at) - epoch_us(started_at)) filter (where is_full), 0) / 3.6e9 as fully_held_h
    from held
    group by node_key
),

joined as (
    select
        nodes.node,
        coalesce(candidate_starts.gang_sessions, 0) as gang_sessions,
        coalesce(counted.excluded_sessions, 0) as excluded_sessions,
        coalesce(counted.excluded_sessions, 0) / nullif(candidate_starts.gang_sessions, 0)::double as excluded_ratio,
        coalesce(excluded.excluded_h, 0)::double as excluded_h,
        coalesce(held_summed.held_h, 0)::double as held_h,
        coalesce(held_summed.held_h, 0)::double / nullif(excluded.excluded_h, 0) as overlap_ratio,
        coalesce(held_summed.fully_held_h, 0)::double as fully_held_h,
        coalesce(held_summed.fully_held_h, 0)::double / nullif(excluded.excluded_h, 0) as fully_held_ratio,
        coalesce(counted.occupied_sessions, 0) as occupied_sessions,
        coalesce(counted.idle_sessions, 0) as idle_sessions,
        coalesce(counted.asked_out_sessions, 0) as asked_out_sessions,
        coalesce(counted.down_sessions, 0) as down_sessions,
        coalesce(counted.other_gang_sessions, 0) as other_gang_sessions,
        nodes.is_named
    from nodes
    left join candidate_starts using (node_key)
    left join counted using (node_key)
    left join excluded using (node_key)
    left join held_summed using (node_key)
),

final as (
    select
        joined.node,
        joined.gang_sessions,
        joined.excluded_sessions,
        joined.excluded_ratio,
        joined.excluded_h,
        joined.held_h,
        joined.overlap_ratio,
        case
            when joined.overlap_ratio >= settings.overlap_occupied_min_ratio then 'occupied'
            when joined.overlap_ratio <= settings.overlap_unoccupied_max_ratio then 'unoccupied'
            when joined.overlap_ratio is not null then 'mixed'
        end as verdict,
        joined.* exclude (
            node, gang_sessions, excluded_sessions, excluded_ratio, excluded_h, held_h, overlap_ratio
        )
    from joined
    cross join settings
)

select * from final order by node;
