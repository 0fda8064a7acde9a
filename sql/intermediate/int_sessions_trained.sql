-- A row: one started session with whether it reached training, by the best evidence that covers it.
with sessions as (select * from intermediate.int_sessions_merged),
settings as (select * from meta.settings),

judged as (
    select
        sessions.session_key,
        sessions.ended_at,
        sessions.until_at,
        case
            when sessions.reached_training is not null then sessions.reached_training
            when minutes_between(sessions.started_at, sessions.until_at) >= settings.training_duration_min_min then true
            when not sessions.is_censored then false
        end as reached_training,
        case when sessions.reached_training then sessions.training_from end as training_from,
        if(sessions.reached_training is not null, 'source', 'duration') as training_evidence,
        sessions.started_at + to_microseconds((settings.training_duration_min_min * 6e7)::bigint) as lasted_at
    from sessions
    cross join settings
    where sessions.started_at is not null
),

final as (
    select
        session_key,
        reached_training,
        training_from,
        training_evidence,
        null::boolean as made_progress,
        case
            when not reached_training then coalesce(ended_at, until_at)
            when training_from is not null then training_from
            when reached_training and training_evidence = 'duration' then lasted_at
            when reached_training then until_at
        end as known_at
    from judged
)

select * from final
