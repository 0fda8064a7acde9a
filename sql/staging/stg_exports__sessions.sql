-- A row: one session in one file, as its source read it.
with records as (select * from raw.session_records),

final as (
    select
        file_id, line, coalesce(cluster_source, '') as cluster_source, session_id, bare_id,
        job_name, owner, partition, gpu_model, nodes, excluded_nodes, gpu_count,
        created_at, started_at, ended_at, has_started, time_limit_min,
        source_state, state_key, end_source, attempt_key, attempt as source_attempt, start_kind as source_start_kind,
        reached_training, training_from
    from records
)

select * from final
