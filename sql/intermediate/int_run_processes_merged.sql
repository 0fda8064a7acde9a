-- A row: one process of a run: one log, or all that exports hold of it.
with records as (select * from intermediate.int_run_records_keyed),

merged as (
    select
        process_key,
        any_value(run_key) as run_key,
        any_value(run_id) as run_id,
        any_value(is_log) as is_log,
        bool_or(run_id_evidence != 'file_name') as is_told,
        arg_max(display_name, record_rank) as display_name,
        arg_max(run_group, record_rank) as run_group,
        arg_max(job_type, record_rank) as job_type,
        arg_max(project, record_rank) as project,
        arg_max(notes, record_rank) as notes,
        arg_max(tags, record_rank) as tags,
        arg_max(owner, record_rank) as owner,
        arg_max(host, record_rank) as host,
        arg_max(config, record_rank) as config,
        arg_max(metadata, record_rank) as metadata,
        arg_max(writer_id, record_rank) as writer_id,
        arg_max(process_started_at, record_rank) as process_started_at,
        arg_max(starting_step, record_rank) as starting_step,
        arg_max(is_resumed, record_rank) as is_resumed,
        arg_max(state, record_rank) as state,
        arg_max(source_state, record_rank) filter (where state is not null) as source_state,
        arg_max(end_evidence, record_rank) filter (where state is not null) as end_evidence,
        arg_max(exit_code, record_rank) as exit_code,
        min(first_at) as first_at,
        max(latest_at) as latest_at,
        arg_max(ended_at, record_rank) as ended_at,
        max(history_rows) as told_history_rows,
        max(expected_rows) as expected_rows,
        max(told_last_step) as told_last_step,
        max(bytes_unread) filter (where is_used) as bytes_unread,
        coalesce(
            bool_and(is_sampled) filter (where is_used and history_rows > 0), bool_or(is_sampled), false
        ) as is_sampled
    from records
    group by process_key
),

final as (
    select
        * exclude (state, end_evidence, ended_at, first_at),
        coalesce(process_started_at, first_at) as started_at,
        -- clocks of several files may disagree: no process is shorter than nothing
        greatest(coalesce(ended_at, latest_at), process_started_at, first_at) as ended_at,
        coalesce(state, 'unknown') as state,
        end_evidence,
        -- its end was not seen: what is known is its last sign of life
        coalesce(end_evidence not in ('exit_record', 'source_state') or state in ('running', 'pending'), true)
            as is_censored
    from merged
)

select * from final
