-- A row: one gang session that starts in [window_start, window_end), with how much of it the one before shares.
create or replace macro marts.gang_composition(window_start, window_end) as table
with gangs as (select * from intermediate.int_gangs_found),
members as (select * from intermediate.int_session_nodes_merged),

ordered as (
    select
        session_key,
        session_id,
        started_at,
        row_number() over (order by started_at, session_id)::integer as place
    from gangs
    where started_at >= window_start and started_at < window_end
),

placed as (
    select
        ordered.place,
        lag(ordered.place) over (partition by members.node_key order by ordered.place) as place_before
    from members
    join ordered using (session_key)
    where members.started_at <= ordered.started_at
),

counted as (
    select
        place,
        count(*) as node_count,
        count(*) filter (where place_before = place - 1) as shared_count
    from placed
    group by place
),

beside as (
    select *, lag(node_count) over (order by place) as node_count_before
    from ordered
    left join counted using (place)
),

final as (
    select
        session_id,
        started_at,
        node_count,
        shared_count,
        shared_count / nullif(node_count + node_count_before - shared_count, 0)::double as jaccard
    from beside
    where place > 1
)

select * from final order by started_at, session_id;
