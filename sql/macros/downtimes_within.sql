-- A row: one stretch in [window_start, window_end) that began as the last training gang session of a lineage ended, and
-- neither completed nor as planned.
create or replace macro marts.downtimes_within(window_start, window_end) as table
with sessions as (select * from intermediate.sessions_at(window_end)),
gangs_found as (select session_key from intermediate.int_gangs_found),
lineages as (select * from intermediate.int_lineages_joined),
exports as (select session_key, observed_until as exported_at from intermediate.int_sessions_merged),
runs as (select session_key, last_step, last_step_at from intermediate.int_session_runs_measured),
launches as (select * from marts.launches_within('-infinity'::timestamptz, window_end)),
settings as (select * from meta.settings),

gangs as (
    select
        sessions.*,
        lineages.lineage_id,
        launches.attempt,
        launches.chain_id,
        coalesce(sessions.training_from, sessions.started_at) as trained_from,
        least(max(exports.exported_at) over (partition by lineages.lineage_id), window_end) as observed_until
    from sessions
    semi join gangs_found using (session_key)
    join lineages using (session_key)
    join exports using (session_key)
    left join launches using (session_id)
),

abnormal_ends as (
    select *
    from gangs
    where reached_training and ended_at is not null and coalesce(end_class, 'unknown') not in ('completed', 'planned')
        and ended_at >= window_start and ended_at < window_end
),

failures as (
    select * from abnormal_ends
    anti join gangs as others
        on others.lineage_id = abnormal_ends.lineage_id
        and others.session_key != abnormal_ends.session_key
        and others.reached_training
        and others.trained_from <= abnormal_ends.ended_at
        and (
            others.until_at > abnormal_ends.ended_at
            -- of sessions that end together the last to start opens the one episode
            or (
                others.ended_at = abnormal_ends.ended_at
                and (others.started_at, others.session_id) > (abnormal_ends.started_at, abnormal_ends.session_id)
            )
        )
),

followers as (
    select
        failures.session_key,
        gangs.session_id as follower_id,
        -- a start within the clocks' tolerance before the end is no negative time
        greatest(gangs.started_at, failures.ended_at) as responded_at,
        case
            when gangs.training_from is not null then greatest(gangs.training_from, failures.ended_at)
        end as training_from,
        gangs.reached_training,
        gangs.is_censored,
        gangs.chain_id,
        case
            when gangs.attempt > 1 then 'automatic'
            when gangs.created_at < failures.ended_at then 'prequeued'
            else 'manual'
        end as kind,
        row_number() over (
            partition by failures.session_key order by gangs.started_at, gangs.session_id
        ) as place
    from failures
    join gangs
        on gangs.lineage_id = failures.lineage_id
        and gangs.session_key != failures.session_key
        and gangs.started_at >= failures.ended_at - clock_tolerance()
),

restorers as (
    select * from followers where reached_training
    qualify row_number() over (partition by session_key order by place) = 1
),

responses as (
    select
        session_key,
        follower_id as first_response_session_id,
        kind as first_response,
        responded_at as first_response_at
    from followers
    where place = 1
),

tries as (
    select
        followers.session_key,
        count(*) filter (not followers.reached_training) as failed_attempts,
        count(*) filter (followers.is_censored) as open_attempts
    from followers
    left join restorers using (session_key)
    where restorers.place is null or followers.place < restorers.place
    group by followers.session_key
),

final as (
    select
        'down:' || failures.session_id as downtime_id,
        failures.lineage_id,
        failures.ended_at as started_at,
        restorers.responded_at as session_restored_at,
        restorers.training_from as training_restored_at,
        hours_between(failures.ended_at, restorers.responded_at) as to_session_h,
        hours_between(failures.ended_at, restorers.training_from) as downtime_h,
        restorers.kind as recovery_kind,
        responses.first_response,
        restorers.session_key is null as is_censored,
        failures.session_id as failed_session_id,
        restorers.follower_id as restoring_session_id,
        coalesce(tries.failed_attempts, 0) as failed_attempts,
        coalesce(tries.open_attempts, 0) as open_attempts,
        responses.first_response_session_id,
        hours_between(failures.ended_at, responses.first_response_at) as first_response_h,
        restorers.chain_id,
        failures.end_class,
        failures.training_evidence,
        runs.last_step,
        runs.last_step_at,
        greatest(failures.observed_until, failures.ended_at) as observed_until,
        greatest(hours_between(failures.ended_at, failures.observed_until), 0) as observed_h,
        isodow(timezone(settings.time_zone, failures.ended_at))::integer as local_weekday,
        hour(timezone(settings.time_zone, failures.ended_at))::integer as local_hour
    from failures
    left join restorers using (session_key)
    left join responses using (session_key)
    left join tries using (session_key)
    left join runs using (session_key)
    cross join settings
)

select * from final order by started_at, downtime_id;
