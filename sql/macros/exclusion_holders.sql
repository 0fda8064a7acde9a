-- A row: one excluded node, owner and run name whose single-node sessions overlap the node's exclusions in
-- [window_start, window_end).
create or replace macro marts.exclusion_holders(window_start, window_end) as table
with meetings as (select * from marts.exclusion_meetings(window_start, window_end)),

final as (
    select
        node,
        owner,
        run_name,
        count(distinct session_id) as sessions,
        sum(hours_between(started_at, ended_at)) as held_h,
        count(*) as meetings,
        count(*) filter (where was_there_first) as held_first
    from meetings
    group by all
)

select * from final order by held_h desc, node, owner, run_name;
