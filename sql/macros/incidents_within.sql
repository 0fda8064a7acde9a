-- A row: one incident that began in [window_start, window_end).
create or replace macro marts.incidents_within(window_start, window_end) as table
with incidents as (select * from marts.incidents),

final as (
    select *
    from incidents
    where started_at >= window_start and started_at < window_end
)

select * from final order by started_at, incident_id;
