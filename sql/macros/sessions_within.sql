-- A row: one started session that ran in [window_start, window_end), with its time clipped to it.
create or replace macro marts.sessions_within(window_start, window_end) as table
with sessions as (select * from marts.sessions),

final as (
    select
        *,
        started_at >= window_start as starts_within,
        greatest(started_at, window_start) as shown_from,
        least(until_at, window_end) as shown_to,
        hours_between(greatest(started_at, window_start), least(until_at, window_end)) as window_h
    from sessions
    where started_at < window_end and (until_at > window_start or started_at >= window_start)
)

select * from final order by started_at, session_id;
