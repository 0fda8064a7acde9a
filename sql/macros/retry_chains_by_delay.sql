-- A row: one retry chain whose first attempt starts in [window_start, window_end).
create or replace macro marts.retry_chains_by_delay(window_start, window_end, delay_from_min, delay_to_min) as table
with launches as (
    select *
    from marts.launches_by_delay(window_start, window_end, delay_from_min, delay_to_min)
    where is_chain_within
),

counted as (
    select
        chain_id,
        arg_min(run_name, attempt) as run_name,
        arg_min(owner, attempt) as owner,
        count(*) as attempts,
        count(*) - 1 as retries,
        min(started_at) as first_started_at,
        case when bool_and(ended_at is not null) then max(ended_at) end as last_ended_at,
        case
            when bool_or(reached_training) then true
            when count(reached_training) = count(*) then false
        end as reached_any,
        coalesce(bool_or(reached_training) filter (attempt > 1), false) as is_recovered,
        arg_max_null(is_censored, attempt) as is_last_open,
        arg_max_null(reached_training, attempt) as ended_training,
        arg_min_null(reached_training, attempt) as first_reached,
        min(attempt) filter (reached_training and attempt > 1) as recovered_attempt,
        count(*) filter (reached_training and attempt > 1) as retries_reached,
        count(*) filter (reached_training is null and attempt > 1) as retries_unknown,
        coalesce(sum(duration_h) filter (not reached_training), 0)::double as failed_h,
        sum(gpu_h) filter (not reached_training) as failed_gpu_h,
        coalesce(sum(duration_h), 0)::double as attempts_h,
        case when count(is_doomed) > 0 then count(*) filter (is_doomed and attempt > 1) end as doomed_retries,
        max(node_count) as node_count,
        mode(training_evidence order by attempt) as training_evidence,
        count(distinct training_evidence) = 1 as has_equal_evidence,
        bool_or(made_progress) as made_progress
    from launches
    group by chain_id
),

final as (
    select
        chain_id,
        run_name,
        owner,
        attempts,
        retries,
        first_started_at,
        last_ended_at,
        reached_any,
        case when is_recovered then true when is_last_open then null else false end as recovered,
        ended_training,
        recovered_attempt,
        failed_h,
        if(failed_h = 0, 0, failed_gpu_h)::double as failed_gpu_h,
        not is_recovered and is_last_open as is_censored,
        first_reached,
        retries_reached,
        retries_unknown,
        doomed_retries,
        attempts_h,
        node_count,
        training_evidence,
        has_equal_evidence,
        made_progress
    from counted
)

select * from final order by first_started_at, chain_id;
