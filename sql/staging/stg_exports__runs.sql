-- A row: one run in one file.
with records as (select * from raw.run_records),

final as (
    select
        file_id,
        line,
        run_id as told_run_id,
        run_id_evidence,
        -- a log that lost its first records is told by its file's name, and is a log still
        coalesce(end_evidence in ('exit_record', 'no_exit_record', 'unread'), false) as is_log,
        display_name,
        project,
        entity,
        owner,
        run_group,
        job_type,
        sweep,
        host,
        tags,
        notes,
        started_at,
        process_started_at,
        ended_at,
        first_at,
        latest_at,
        runtime_s,
        source_state,
        state,
        exit_code,
        end_evidence,
        starting_step,
        is_resumed,
        parent_run_id,
        config,
        summary,
        metadata,
        git_commit,
        writer_id,
        writer_version,
        history_rows,
        expected_rows,
        last_step as told_last_step,
        is_sampled,
        bytes_unread
    from records
)

select * from final
