-- A row: one stretch of a gang session in one phase; they tile each session that telemetry was read for.
with phases as (select * from meta.checkpoint_phases),
keys as (select session_key, session_id from intermediate.int_sessions_keyed),
sessions as (select session_key from intermediate.int_checkpoint_sessions_measured),

final as (
    select keys.session_id, phases.phase, phases.started_at, phases.ended_at
    from phases
    semi join sessions using (session_key)
    join keys using (session_key)
)

select * from final
