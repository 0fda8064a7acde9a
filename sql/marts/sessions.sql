-- A row: one session, over all files that name it.
with sessions as (select * from intermediate.int_sessions_merged),
sizes as (select * from intermediate.int_sessions_sized),
gangs as (select session_key from intermediate.int_gangs_found),
ends as (select * from intermediate.int_session_ends_classed),
training as (select * from intermediate.int_sessions_trained),
starts as (select * from intermediate.int_session_starts_linked),
lineages as (select * from intermediate.int_lineages_joined),
runs as (select * from intermediate.int_session_runs_measured),
launches as (select * from marts.launches_within('-infinity'::timestamptz, 'infinity'::timestamptz)),
rule as (select * from intermediate.int_gang_sizes_ruled),

final as (
    select
        sessions.session_id,
        sessions.source,
        sessions.cluster_source,
        sessions.run_name,
        sessions.job_name,
        sessions.owner,
        sessions.partition,
        sizes.node_count,
        sizes.gpu_count,
        coalesce(sizes.node_count >= rule.gang_min_nodes, false) as is_gang,
        sessions.created_at,
        sessions.started_at,
        sessions.ended_at,
        sessions.observed_until,
        sessions.time_limit_min,
        sessions.is_censored,
        sessions.end_reason,
        ends.end_class,
        sessions.source_state,
        sessions.end_source,
        training.reached_training,
        training.training_from,
        training.training_evidence,
        training.made_progress,
        starts.start_kind,
        starts.start_rule,
        launches.chain_id,
        launches.attempt,
        lineages.lineage_id,
        lineages.lineage_rule,
        ends.end_rule,
        sessions.has_started,
        sessions.until_at,
        sizes.duration_h,
        sizes.gpu_count * sizes.duration_h as gpu_h,
        sizes.gpu_evidence,
        sessions.gpu_model,
        sessions.bare_id,
        starts.gap_min,
        starts.submit_gap_min,
        ends.end_class not in ('completed', 'planned') as is_abnormal_end,
        ends.end_class = 'failure' as is_failure,
        coalesce(runs.run_count, 0) as run_count,
        runs.last_step,
        runs.max_step,
        runs.last_step_at,
        runs.inner_restarts,
        runs.rework_steps,
        runs.rework_h,
        runs.nan_steps
    from sessions
    join sizes using (session_key)
    left join ends using (session_key)
    left join training using (session_key)
    left join starts using (session_key)
    left join lineages using (session_key)
    left join runs using (session_key)
    left join launches using (session_id)
    cross join rule
)

select * from final
