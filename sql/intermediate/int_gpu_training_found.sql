-- A row: one session that telemetry was looked up for, with what GPU use says about training. The samples are read
-- between these two models, into meta.gpu_training.
with asked as (select * from intermediate.int_gpu_sessions_asked),
measured as (select * from meta.gpu_training),

held as (select session_key, sum(gpus) as gpus_held from asked group by session_key),

final as (
    select
        measured.session_key,
        measured.is_covered,
        measured.reached_training,
        measured.training_from,
        measured.is_weak,
        measured.gpus_seen,
        held.gpus_held
    from measured
    join held using (session_key)
)

select * from final
