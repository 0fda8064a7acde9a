-- A row: one started session large enough to be a retry, with its link to the one before it of the same owner and
-- run name. Minutes from an end to the next start within the clocks' tolerance are 0; what ran side by side is no link.
with sessions as (select * from intermediate.int_sessions_merged),
sizes as (select * from intermediate.int_sessions_sized),
ends as (select * from intermediate.int_session_ends_classed),
rule as (select * from intermediate.int_gang_sizes_ruled),
settings as (select * from meta.settings),

launches as (
    select sessions.*, coalesce(sessions.run_name, sessions.session_id) as sequence_name, ends.end_class
    from sessions
    join sizes using (session_key)
    left join ends using (session_key)
    cross join rule
    where sizes.node_count >= rule.retry_min_nodes and sessions.started_at is not null
),

beside_previous as (
    select
        session_key,
        source,
        created_at,
        started_at,
        dense_rank() over (order by owner nulls first, sequence_name)::integer as sequence_key,
        row_number() over sequence::integer as place,
        attempt_key,
        source_attempt,
        source_start_kind,
        lag(session_key) over sequence as previous_session_key,
        lag(ended_at) over sequence as previous_ended_at,
        lag(end_reason) over sequence as previous_end_reason,
        lag(end_class) over sequence as previous_end_class,
        lag(source_state) over sequence as previous_source_state,
        lag(attempt_key) over sequence as previous_attempt_key,
        lag(source_attempt) over sequence as previous_attempt
    from launches
    window sequence as (partition by owner, sequence_name order by started_at, session_id)
),

measured as (
    select
        *,
        minutes_between(previous_ended_at, started_at) as raw_gap_min,
        minutes_between(previous_ended_at, coalesce(created_at, started_at)) as submit_gap_min,
        coalesce(started_at >= previous_ended_at - clock_tolerance(), false) as is_link,
        source = 'slurm' and attempt_key = previous_attempt_key as is_requeue,
        attempt_key is not distinct from previous_attempt_key and source_attempt > coalesce(previous_attempt, 0)
            as is_counted,
        previous_ended_at is not null and coalesce(previous_end_class, 'unknown') not in ('completed', 'planned')
            as is_after_abnormal_end
    from beside_previous
),

ruled as (
    select
        measured.*,
        case
            when not is_link then [null, null]
            when source_start_kind is not null then [source_start_kind, 'source']
            when is_requeue and upper(previous_source_state) like 'REQUEUE%' then ['requeue_unknown', 'requeue']
            when is_requeue and previous_end_reason in ('node_fail', 'preempted') then ['automatic', 'requeue']
            when is_requeue then ['requeue_unknown', 'requeue']
            when is_counted then ['automatic', 'attempt']
            when created_at < previous_ended_at then ['prequeued', 'created']
            when is_after_abnormal_end
                and submit_gap_min >= settings.retries_delay_min - settings.retries_window_before_min
                and submit_gap_min <= settings.retries_delay_min + settings.retries_window_after_min
                then ['automatic', 'delay']
            else ['manual', 'none']
        end as ruling
    from measured
    cross join settings
),

final as (
    select
        session_key,
        sequence_key,
        place,
        if(is_link, previous_session_key, null) as previous_session_key,
        if(is_link, previous_ended_at, null) as previous_ended_at,
        if(is_link, previous_end_class, null) as previous_end_class,
        is_link and is_after_abnormal_end as is_after_abnormal_end,
        if(is_link, greatest(raw_gap_min, 0), null) as gap_min,
        if(is_link, submit_gap_min, null) as submit_gap_min,
        ruling[1] as start_kind,
        ruling[2] as start_rule
    from ruled
)

select * from final
