-- A row: one session over all files that name it: a terminal record beats an open one, a later export an earlier, and
-- what the winner leaves open is filled from the others, then from status visits and parts.
with keys as (select * from intermediate.int_sessions_keyed),
records as (select * from intermediate.int_session_records_dated),
parts as (select * from intermediate.int_session_parts_merged),
visits as (select * from staging.stg_exports__session_statuses),
files as (select * from intermediate.int_files_dated),
end_reasons as (select * from staging.end_reasons),
settings as (select * from meta.settings),
run_names as (select * from intermediate.int_run_names_stripped),

records_merged as (
    select
        keys.session_key,
        max(records.record_order) as record_order,
        max(records.record_order) >= 1::bigint << 61 as is_over,
        max(records.record_order) filter (where len(records.nodes) > 0) as nodes_record_order,
        max(records.record_order) filter (where len(records.excluded_nodes) > 0) as excluded_record_order,
        arg_max(records.file_id, records.record_order) as file_id,
        arg_max(records.line, records.record_order) as line,
        arg_max(records.bare_id, records.record_order) as bare_id,
        arg_max(records.job_name, records.record_order) as job_name,
        arg_max(records.owner, records.record_order) as owner,
        arg_max(records.partition, records.record_order) as partition,
        arg_max(records.gpu_model, records.record_order) as gpu_model,
        arg_max(records.gpu_count, records.record_order) filter (where records.gpu_count > 0) as gpu_count,
        arg_max(records.created_at, records.record_order) as created_at,
        -- back in the queue, its row has no start: an earlier export's was that of an earlier allocation
        case
            when coalesce(arg_max(records.state, records.record_order).is_waiting, false)
                then arg_max_null(records.started_at, records.record_order)
            else arg_max(records.started_at, records.record_order)
        end as started_at,
        arg_max(records.ended_at, records.record_order) as ended_at,
        arg_max(records.end_source, records.record_order) filter (where records.ended_at is not null) as end_source,
        -- what once ran has run; else the record that speaks first, even where it cannot tell
        coalesce(nullif(bool_or(records.has_started), false), arg_max_null(records.has_started, records.record_order))
            as has_started,
        arg_max(records.time_limit_min, records.record_order) as time_limit_min,
        arg_max(records.state, records.record_order) filter (where records.state_key is not null) as state,
        arg_max(records.attempt_key, records.record_order) as attempt_key,
        arg_max(records.source_attempt, records.record_order) as source_attempt,
        arg_max(records.source_start_kind, records.record_order) as source_start_kind,
        arg_max(records.reached_training, records.record_order) as reached_training,
        arg_max(records.training_from, records.record_order) as training_from,
        max(records.observed_until) as observed_until
    from records
    join keys
        on keys.native_id = records.session_id
        and keys.source = records.source
        and keys.cluster_source = records.cluster_source
    group by all
),

parts_ended as (
    select *, max(ended_at) over (partition by session_key) as last_ended_at
    from parts
),

parts_summed as (
    select
        parts.session_key,
        min(parts.started_at) as started_at,
        case when bool_and(parts.is_terminal) then max(parts.ended_at) end as ended_at,
        -- a session without a row of its own does what its open parts do, else it ended as the first of those that
        -- ended together: what was lost long before had left a session that went on
        coalesce(
            arg_min(parts.state, parts.part_id) filter (where parts.state.source_state is not null and not parts.is_terminal),
            arg_min(parts.state, row(parts.ended_at, parts.part_id)) filter (
                where parts.state.source_state is not null
                    and minutes_between(parts.ended_at, parts.last_ended_at) <= settings.failures_before_min
            ),
            arg_min(parts.state, parts.part_id) filter (where parts.state.source_state is not null)
        ) as state,
        max(parts.observed_until) as observed_until
    from parts_ended as parts
    cross join settings
    group by parts.session_key
),

visits_judged as (
    select
        keys.session_key,
        visits.visited_at,
        visits.part_id,
        visits.status,
        files.observed_until,
        end_reasons.is_terminal,
        end_reasons.is_waiting,
        end_reasons.end_reason = 'running' and end_reasons.end_reason_unstarted = 'unknown' as is_holding,
        max(visits.visited_at) filter (where visits.part_id is null and end_reasons.is_waiting)
            over (partition by keys.session_key) as queued_at
    from visits
    join files using (file_id)
    join keys
        on keys.native_id = visits.session_id
        and keys.source = files.source
        and keys.cluster_source = visits.cluster_source
    left join end_reasons on end_reasons.source = files.source and end_reasons.state_key = visits.status
),

visits_summed as (
    select
        session_key,
        min(visited_at) filter (where status = 'PENDING') as created_at,
        min(visited_at) filter (where is_holding and visited_at >= coalesce(queued_at, '-infinity'::timestamptz))
            as allocated_at,
        max(visited_at) filter (where status = 'RUNNING') as last_running_at,
        max(visited_at) filter (where is_terminal) as ended_at,
        max(visited_at) as latest_at,
        coalesce(max(visited_at) = any_value(queued_at), false) as is_waiting,
        bool_or(is_holding) as has_started,
        bool_or(is_waiting) and bool_or(is_terminal) as is_whole
    from visits_judged
    where part_id is null
    group by session_key
),

part_visits_summed as (
    select
        session_key,
        bool_or(is_holding) as has_started,
        bool_or(is_waiting) and bool_or(is_terminal) as is_whole
    from visits_judged
    where part_id is not null
    group by session_key
),

visits_seen as (select session_key, max(observed_until) as observed_until from visits_judged group by session_key),

filled as (
    select
        keys.session_key,
        keys.session_id,
        keys.source,
        nullif(keys.cluster_source, '') as cluster_source,
        coalesce(records.bare_id, keys.native_id) as bare_id,
        records.* exclude (
            session_key, bare_id, created_at, started_at, ended_at, end_source, has_started, is_over, state, observed_until
        ),
        coalesce(records.created_at, visits.created_at) as created_at,
        coalesce(
            records.started_at,
            visits.allocated_at,
            -- two hosts' clocks may put the last wait after the start
            if(coalesce(records.state.is_waiting, visits.is_waiting), null, visits.last_running_at),
            if(records.has_started and records.state.is_waiting, null, parts.started_at)
        ) as started_at,
        coalesce(records.ended_at, visits.ended_at, parts.ended_at) as ended_at,
        case
            when records.ended_at is not null then coalesce(records.end_source, 'session')
            when visits.ended_at is not null then 'history'
            when parts.ended_at is not null then 'kernel'
        end as end_source,
        coalesce(
            records.has_started,
            -- that it never ran is known where both ends of the history are there, or where it waits still
            if(records.is_over and not visits.is_whole, nullif(visits.has_started, false), visits.has_started),
            if(
                records.is_over and not part_visits.is_whole,
                nullif(part_visits.has_started, false),
                part_visits.has_started
            ),
            if(records.record_order is null and parts.session_key is not null, false, null)
        ) as has_started,
        coalesce(records.state, parts.state) as state,
        visits.latest_at as latest_visit_at,
        greatest(records.observed_until, parts.observed_until, visits_seen.observed_until) as observed_until
    from keys
    left join records_merged as records using (session_key)
    left join parts_summed as parts using (session_key)
    left join visits_summed as visits using (session_key)
    left join part_visits_summed as part_visits using (session_key)
    left join visits_seen using (session_key)
),

judged as (
    select
        * exclude (has_started, state, ended_at),
        if(ended_at < started_at, started_at, ended_at) as ended_at,
        coalesce(ended_at < started_at, false) as has_reversed_times,
        has_started or started_at is not null as has_started,
        state.source_state as source_state,
        state.state_key as state_key,
        coalesce(
            if(not has_started and started_at is null, state.end_reason_unstarted, state.end_reason),
            'unknown'
        ) as mapped_end_reason
    from filled
),

ended as (
    select
        * exclude (mapped_end_reason),
        -- an open state beside a known end means that only the source's books are open
        if(mapped_end_reason = 'running' and ended_at is not null, 'unknown', mapped_end_reason) as end_reason,
        coalesce(has_started, false) and ended_at is null as is_censored
    from judged
),

final as (
    select
        ended.* exclude (latest_visit_at),
        run_names.run_name,
        -- a session stuck on its way out is not known to run: it would poison every sum of hours (lablup/backend.ai#12317)
        case
            when started_at is null or ended_at is not null then ended_at
            when end_reason = 'running' and state_key is distinct from 'TERMINATING'
                then greatest(observed_until, started_at)
            else greatest(latest_visit_at, started_at)
        end as until_at
    from ended
    left join run_names using (job_name)
)

select * from final
