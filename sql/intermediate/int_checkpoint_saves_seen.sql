-- A row: one save that the telemetry of writes shows, numbered within its session.
with sessions as (select * from intermediate.int_checkpoint_sessions_measured),
saves as (select * from meta.checkpoint_saves),

final as (
    select
        saves.session_key,
        row_number() over (partition by saves.session_key order by saves.started_at)::integer as seen_number,
        saves.* exclude (session_key)
    from saves
    semi join sessions using (session_key)
)

select * from final
