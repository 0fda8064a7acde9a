-- A row: one started session with whether it reached training, by the best evidence that covers it: the source itself,
-- a run's steps, GPU use, else how long it lasted.
with sessions as (select * from intermediate.int_sessions_merged),
runs as (select * from intermediate.int_session_runs_measured),
gpu as (select * from intermediate.int_gpu_training_found),
lineages as (select * from intermediate.int_lineages_joined),
settings as (select * from meta.settings),

evident as (
    select
        sessions.session_key,
        sessions.session_id,
        sessions.started_at,
        sessions.ended_at,
        sessions.until_at,
        sessions.is_censored,
        coalesce(
            lineages.lineage_id, to_json([sessions.owner, coalesce(sessions.run_name, sessions.session_id)])::varchar
        ) as effort,
        case
            when sessions.reached_training is not null then 'source'
            when runs.is_covered then 'run'
            when gpu.is_covered and gpu.is_weak then 'gpu_weak'
            when gpu.is_covered then 'gpu'
            else 'duration'
        end as training_evidence,
        sessions.reached_training as source_reached,
        sessions.training_from as source_from,
        runs.has_trained as run_reached,
        runs.training_from as run_from,
        runs.max_step,
        gpu.reached_training as gpu_reached,
        gpu.training_from as gpu_from,
        sessions.started_at + to_microseconds((settings.training_duration_min_min * 6e7)::bigint) as lasted_at
    from sessions
    left join runs using (session_key)
    left join gpu using (session_key)
    left join lineages using (session_key)
    cross join settings
    where sessions.started_at is not null
),

judged as (
    select
        *,
        case training_evidence
            when 'source' then source_reached
            when 'run' then run_reached
            when 'duration' then until_at >= lasted_at
            else gpu_reached
        end as is_met,
        case training_evidence
            when 'source' then source_from
            when 'run' then run_from
            when 'duration' then null
            else gpu_from
        end as met_from,
        max(max_step) over (
            partition by effort order by started_at, session_id rows between unbounded preceding and 1 preceding
        ) as earlier_max_step
    from evident
),

answered as (
    select
        *,
        case
            when is_met then true
            -- a source's own word stands; by any other evidence an open session may still get there
            when training_evidence = 'source' or not is_censored then false
        end as reached_training
    from judged
),

final as (
    select
        session_key,
        reached_training,
        case when reached_training then met_from end as training_from,
        training_evidence,
        case when max_step is not null then run_reached and max_step > coalesce(earlier_max_step, max_step - 1) end
            as made_progress,
        case
            when not reached_training then coalesce(ended_at, until_at)
            when reached_training and met_from is not null then met_from
            when reached_training and training_evidence = 'duration' then lasted_at
            when reached_training then until_at
        end as known_at
    from answered
)

select * from final
