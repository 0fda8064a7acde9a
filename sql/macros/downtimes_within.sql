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
        least(max(exports.exported_at) over (partition by lineages.lineage_id), window_end) as observed_until,
        row_number() over by_start as place,
        -- a filtered count over a window is computed anew for every row
        coalesce(sum((not sessions.reached_training)::integer) over earlier, 0)::bigint as failed_before,
        coalesce(sum(sessions.is_censored::integer) over earlier, 0)::bigint as open_before
    from sessions
    semi join gangs_found using (session_key)
    join lineages using (session_key)
    join exports using (session_key)
    left join launches using (session_id)
    window
        by_start as (partition by lineages.lineage_id order by sessions.started_at, sessions.session_id),
        earlier as (
            partition by lineages.lineage_id order by sessions.started_at, sessions.session_id
            rows between unbounded preceding and 1 preceding
        )
),

gangs_placed as (
    select
        *,
        min(if(reached_training, place, null)) over (
            partition by lineage_id order by place rows between current row and unbounded following
        ) as trained_place
    from gangs
),

trained_spans as (
    select lineage_id, trained_from, max(until_at) over (partition by lineage_id order by trained_from) as covered_until
    from gangs
    where reached_training
),

failures as (
    select ends.*, ends.ended_at - clock_tolerance() as answered_from
    from gangs_placed as ends
    asof left join trained_spans
        on trained_spans.lineage_id = ends.lineage_id and ends.ended_at >= trained_spans.trained_from
    where ends.reached_training and coalesce(ends.end_class, 'unknown') not in ('completed', 'planned')
        and ends.ended_at >= window_start and ends.ended_at < window_end
        and coalesce(trained_spans.covered_until <= ends.ended_at, true)
    -- of sessions that end together the last to start opens the one episode
    qualify row_number() over (
        partition by ends.lineage_id, ends.ended_at order by ends.started_at desc, ends.session_id desc
    ) = 1
),

starts as (select lineage_id, started_at, min(place) as place from gangs group by lineage_id, started_at),

-- a failed session of less than the tolerance is no answer to itself
answered as (
    select
        failures.session_key,
        failures.lineage_id,
        failures.place as failed_place,
        starts.place as from_place,
        if(starts.place = failures.place, starts.place + 1, starts.place) as response_place
    from failures
    asof join starts on starts.lineage_id = failures.lineage_id and failures.answered_from <= starts.started_at
),

restored as (
    select
        answered.*,
        if(first_ones.trained_place = answered.failed_place, next_ones.trained_place, first_ones.trained_place)
            as restoring_place
    from answered
    join gangs_placed as first_ones
        on first_ones.lineage_id = answered.lineage_id and first_ones.place = answered.from_place
    left join gangs_placed as next_ones
        on next_ones.lineage_id = answered.lineage_id and next_ones.place = answered.failed_place + 1
),

answers as (
    select session_key, response_place as place from restored
    union
    select session_key, restoring_place from restored
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
        gangs.chain_id,
        case
            when gangs.attempt > 1 then 'automatic'
            when gangs.created_at < failures.ended_at then 'prequeued'
            else 'manual'
        end as kind,
        gangs.place = restored.response_place as is_response,
        coalesce(gangs.place = restored.restoring_place, false) as is_restorer
    from answers
    join restored using (session_key)
    join failures using (session_key)
    join gangs on gangs.lineage_id = restored.lineage_id and gangs.place = answers.place
),

restorers as (select * from followers where is_restorer),

responses as (
    select
        session_key,
        follower_id as first_response_session_id,
        kind as first_response,
        responded_at as first_response_at
    from followers
    where is_response
),

lineage_sums as (
    select
        lineage_id,
        count(*) filter (where not reached_training) as failed_before,
        count(*) filter (where is_censored) as open_before
    from gangs
    group by lineage_id
),

tries as (
    select
        restored.session_key,
        coalesce(until.failed_before, lineage_sums.failed_before) - since.failed_before as failed_attempts,
        coalesce(until.open_before, lineage_sums.open_before) - since.open_before as open_attempts
    from restored
    join gangs as since on since.lineage_id = restored.lineage_id and since.place = restored.from_place
    left join gangs as until on until.lineage_id = restored.lineage_id and until.place = restored.restoring_place
    join lineage_sums on lineage_sums.lineage_id = restored.lineage_id
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
