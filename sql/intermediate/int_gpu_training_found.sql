-- A row: one started session that telemetry was looked up for (none yet), with what GPU use says about training.
with final as (
    select
        null::integer as session_key,
        null::boolean as is_covered,
        null::boolean as reached_training,
        null::timestamptz as training_from,
        null::boolean as is_weak,
        null::integer as gpus_seen,
        null::double as gpus_held
    where false
)

select * from final
