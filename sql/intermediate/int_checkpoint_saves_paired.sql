-- A row: one save that telemetry shows, with the logged save that it is: of those at most save_merge_s and a scrape step
-- away the one nearest by its end.
with seen as (select * from intermediate.int_checkpoint_saves_seen),
logged as (select * from intermediate.int_checkpoint_saves_logged),
settings as (select * from meta.settings),

final as (
    select
        seen.session_key,
        seen.seen_number,
        logged.logged_number
    from seen
    cross join settings
    join logged
        on logged.session_key = seen.session_key
        and logged.started_at <= seen.ended_at + to_microseconds(((settings.checkpoints_save_merge_s + seen.step_s) * 1e6)::bigint)
        and logged.ended_at >= seen.started_at - to_microseconds(((settings.checkpoints_save_merge_s + seen.step_s) * 1e6)::bigint)
    qualify row_number() over (
        partition by seen.session_key, seen.seen_number
        order by abs(epoch_us(logged.ended_at) - epoch_us(seen.ended_at)), logged.logged_number
    ) = 1
)

select * from final
