-- A row: the only one: how saves and loads are told, and why they cannot be where they cannot.
with rules as (select * from meta.checkpoint_rules),
settings as (select * from meta.settings),
sessions as (select * from intermediate.int_checkpoint_sessions_measured),

covered as (select count(*) as gang_sessions, count(*) filter (where known_steps > 0) as covered_sessions from sessions),

final as (
    select
        rules.*,
        settings.checkpoints_save_merge_s as save_merge_s,
        settings.checkpoints_writer_min_mb_per_s * 1e6 as writer_min_bytes_per_s,
        settings.checkpoints_load_min_session_min as load_min_session_min,
        settings.storage_max_write_gb_per_s * 1e9 as max_write_bytes_per_s,
        settings.storage_max_read_gb_per_s * 1e9 as max_read_bytes_per_s,
        settings.runs_save_time_key as save_time_key,
        settings.runs_stage_key as stage_key,
        covered.gang_sessions,
        covered.covered_sessions
    from settings
    cross join covered
    left join rules on true
)

select * from final
