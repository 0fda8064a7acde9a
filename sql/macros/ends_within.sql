-- A row: one started session that ended in [window_start, window_end).
create or replace macro marts.ends_within(window_start, window_end) as table
with sessions as (select * from marts.sessions),

final as (
    select *
    from sessions
    where has_started and ended_at >= window_start and ended_at < window_end
)

select * from final order by ended_at, session_id;
