-- A row: one event that came in [window_start, window_end).
create or replace macro marts.xid_events_within(window_start, window_end) as table
with xid_events as (select * from marts.xid_events),

final as (
    select *
    from xid_events
    where xid_events."at" >= window_start and xid_events."at" < window_end
)

select * from final order by "at", event_id;
