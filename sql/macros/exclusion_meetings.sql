-- A row: one time in which a single-node session held a node that gang sessions left out, within
-- [window_start, window_end).
create or replace macro marts.exclusion_meetings(window_start, window_end) as table
with exclusions as (select * from intermediate.int_node_exclusions_found),
members as (select * from intermediate.int_session_nodes_merged),
sizes as (select * from intermediate.int_sessions_sized),
sessions as (select * from intermediate.int_sessions_merged),
nodes as (select * from intermediate.int_nodes_keyed),

-- stretches of one node do not overlap: what a session meets are neighbours, fetched by number
left_out as (
    select
        node_key,
        started_at as began_at,
        greatest(started_at, window_start) as started_at,
        least(until_at, window_end) as until_at,
        row_number() over (partition by node_key order by started_at) as place
    from exclusions
    where started_at < window_end and until_at > window_start
),

single as (
    select members.node_key, members.session_key, members.started_at, members.until_at
    from members
    join sizes using (session_key)
    where sizes.node_count = 1 and members.until_at > members.started_at
),

met as (
    select single.*, unnest(range(first_met.place, last_met.place + 1)) as place
    from single
    asof join left_out as first_met
        on first_met.node_key = single.node_key and single.started_at < first_met.until_at
    asof join left_out as last_met
        on last_met.node_key = single.node_key and single.until_at > last_met.started_at
),

final as (
    select
        nodes.node,
        sessions.session_id,
        sessions.owner,
        sessions.run_name,
        greatest(left_out.started_at, met.started_at) as started_at,
        least(left_out.until_at, met.until_at) as ended_at,
        met.started_at < left_out.began_at as was_there_first
    from met
    join left_out using (node_key, place)
    join sessions using (session_key)
    join nodes using (node_key)
)

select * from final;
