-- A row: one session that started before an instant, with what was known of it then: an end that came later is open,
-- and so is an answer.
create or replace macro intermediate.sessions_at(seen_at) as table
with sessions as (select * from intermediate.int_sessions_merged where started_at < seen_at),
sizes as (select * from intermediate.int_sessions_sized),
ends as (select * from intermediate.int_session_ends_classed),
training as (select * from intermediate.int_sessions_trained),

seen as (
    select
        sessions.session_key,
        sessions.session_id,
        sessions.created_at,
        sessions.started_at,
        if(sessions.ended_at <= seen_at, sessions.ended_at, null) as ended_at,
        least(sessions.until_at, seen_at) as until_at,
        sessions.end_reason,
        ends.end_class,
        coalesce(training.known_at <= seen_at, false) as is_known,
        training.reached_training,
        training.training_from,
        training.training_evidence,
        training.made_progress,
        sizes.node_count,
        sizes.gpu_count
    from sessions
    join sizes using (session_key)
    left join ends using (session_key)
    left join training using (session_key)
),

final as (
    select
        session_key,
        session_id,
        node_count,
        gpu_count,
        created_at,
        started_at,
        ended_at,
        until_at,
        hours_between(started_at, until_at) as duration_h,
        gpu_count * hours_between(started_at, until_at) as gpu_h,
        ended_at is null as is_censored,
        if(ended_at is null, 'running', end_reason) as end_reason,
        if(ended_at is null, null, end_class) as end_class,
        if(is_known, reached_training, null) as reached_training,
        if(is_known, training_from, null) as training_from,
        training_evidence,
        if(is_known, made_progress, null) as made_progress
    from seen
)

select * from final;
