-- A row: one started session with whether it reached training, by the best evidence that covers it.
with sessions as (select * from intermediate.int_sessions_merged),
settings as (select * from meta.settings),

final as (
    select
        sessions.session_key,
        case
            when sessions.reached_training is not null then sessions.reached_training
            when minutes_between(sessions.started_at, sessions.until_at) >= settings.training_duration_min_min then true
            when not sessions.is_censored then false
        end as reached_training,
        case when sessions.reached_training is not null then sessions.training_from end as training_from,
        if(sessions.reached_training is not null, 'source', 'duration') as training_evidence,
        null::boolean as made_progress
    from sessions
    cross join settings
    where sessions.started_at is not null
)

select * from final
