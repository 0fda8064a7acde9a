-- A row: one session over all files that name it: a terminal record beats an open one, a later export an earlier, and
-- what the winner leaves open is filled from the others, then from status visits and parts.
with keys as (select * from intermediate.int_sessions_keyed),
records as (select * from intermediate.int_session_records_dated),
parts as (select * from intermediate.int_session_parts_merged),
visits as (select * from staging.stg_exports__session_statuses),
files as (select * from intermediate.int_files_dated),
end_reasons as (select * from staging.end_reasons),
run_names as (select * from intermediate.int_run_names_stripped),

records_merged as (
    select
        keys.session_key,
        max(records.record_order) as record_order,
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
        arg_max(records.started_at, records.record_order) as started_at,
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

parts_summed as (
    select
        session_key,
        min(started_at) as started_at,
        case when bool_and(is_terminal) then max(ended_at) end as ended_at,
        -- the parts still open say what a session without a row of its own does, else the first to end
        coalesce(
            arg_min(state, part_id) filter (where state.source_state is not null and not is_terminal),
            arg_min(state, coalesce(ended_at, 'infinity'::timestamptz)) filter (where state.source_state is not null)
        ) as state,
        max(observed_until) as observed_until
    from parts
    group by session_key
),

visits_summed as (
    select
        keys.session_key,
        min(visits.visited_at) filter (where visits.part_id is null and visits.status = 'PENDING') as created_at,
        min(visits.visited_at) filter (where visits.part_id is null and visits.status = 'RUNNING') as started_at,
        max(visits.visited_at) filter (where visits.part_id is null and end_reasons.is_terminal) as ended_at,
        max(visits.visited_at) filter (where visits.part_id is null) as latest_at,
        bool_or(visits.status = 'RUNNING') filter (where visits.part_id is not null) as has_part_started,
        max(files.observed_until) as observed_until
    from visits
    join files using (file_id)
    join keys
        on keys.native_id = visits.session_id
        and keys.source = files.source
        and keys.cluster_source = visits.cluster_source
    left join end_reasons on end_reasons.source = files.source and end_reasons.state_key = visits.status
    group by all
),

filled as (
    select
        keys.session_key,
        keys.session_id,
        keys.source,
        nullif(keys.cluster_source, '') as cluster_source,
        coalesce(records.bare_id, keys.native_id) as bare_id,
        records.* exclude (
            session_key, bare_id, created_at, started_at, ended_at, end_source, has_started, state, observed_until
        ),
        coalesce(records.created_at, visits.created_at) as created_at,
        coalesce(records.started_at, visits.started_at, parts.started_at) as started_at,
        coalesce(records.ended_at, visits.ended_at, parts.ended_at) as ended_at,
        case
            when records.ended_at is not null then coalesce(records.end_source, 'session')
            when visits.ended_at is not null then 'history'
            when parts.ended_at is not null then 'kernel'
        end as end_source,
        coalesce(
            records.has_started,
            visits.has_part_started,
            if(records.record_order is null and parts.session_key is not null, false, null)
        ) as has_started,
        coalesce(records.state, parts.state) as state,
        visits.latest_at as latest_visit_at,
        greatest(records.observed_until, parts.observed_until, visits.observed_until) as observed_until
    from keys
    left join records_merged as records using (session_key)
    left join parts_summed as parts using (session_key)
    left join visits_summed as visits using (session_key)
),

judged as (
    select
        * exclude (has_started, state, ended_at),
        if(ended_at < started_at, started_at, ended_at) as ended_at,
        coalesce(ended_at < started_at, false) as has_reversed_times,
        has_started or started_at is not null as has_started,
        state.source_state as source_state,
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
            when end_reason = 'running' and upper(coalesce(source_state, '')) not like 'TERMINATING%'
                then greatest(observed_until, started_at)
            else greatest(latest_visit_at, started_at)
        end as until_at
    from ended
    left join run_names using (job_name)
)

select * from final
