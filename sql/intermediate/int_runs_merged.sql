-- A row: one run over all its processes and files. How it ended is said by its last log's exit record, else by an
-- export that is no older than that log, else by the log's missing end.
with records as (select * from intermediate.int_run_records_keyed),
processes as (select * from intermediate.int_run_processes_merged),

facts as (
    select
        run_key,
        any_value(run_id) as run_id,
        arg_min(
            run_id_evidence, list_position(['log', 'column', 'display_name', 'file_name'], run_id_evidence)
        ) as run_id_evidence,
        count(*) as files,
        arg_max(display_name, record_rank) as display_name,
        arg_max(project, record_rank) as project,
        arg_max(entity, record_rank) as entity,
        arg_max(owner, record_rank) as owner,
        arg_max(run_group, record_rank) as run_group,
        arg_max(job_type, record_rank) as job_type,
        arg_max(sweep, record_rank) as sweep,
        arg_max(host, record_rank) as host,
        arg_max(tags, record_rank) as tags,
        arg_max(notes, record_rank) as notes,
        arg_max(config, record_rank) as config,
        arg_max(summary, record_rank) as summary,
        arg_max(metadata, record_rank) as metadata,
        arg_max(git_commit, record_rank) as git_commit,
        arg_max(writer_version, record_rank) as writer_version,
        arg_max(parent_run_id, record_rank) as parent_run_id,
        coalesce(bool_or(is_resumed), false) as is_resumed,
        min(coalesce(process_started_at, started_at, first_at)) as started_at,
        max(expected_rows) as expected_rows,
        max(told_last_step) as told_last_step
    from records
    group by run_key
),

ends as (
    select
        run_key,
        struct_pack(
            state := state, source_state := source_state, end_evidence := end_evidence, exit_code := exit_code,
            ended_at := ended_at, is_censored := is_censored
        ) as ending,
        is_log,
        end_evidence,
        started_at,
        coalesce(latest_at, ended_at) as latest_at
    from processes
),

latest_ends as (
    select
        run_key,
        arg_max(struct_pack(ending := ending, latest_at := latest_at), started_at) filter (where is_log) as logged,
        any_value(struct_pack(ending := ending, latest_at := latest_at))
            filter (where not is_log and end_evidence is not null) as exported,
        any_value(ending) as any_ending
    from ends
    group by run_key
),

chosen as (
    select
        run_key,
        case
            when logged is null then coalesce(exported.ending, any_ending)
            when exported is null or logged.ending.end_evidence = 'exit_record' then logged.ending
            when exported.latest_at < logged.latest_at - clock_tolerance() then logged.ending
            else exported.ending
        end as ending
    from latest_ends
),

final as (
    select
        facts.*,
        chosen.ending.state as state,
        chosen.ending.source_state as source_state,
        chosen.ending.end_evidence as end_evidence,
        chosen.ending.exit_code as exit_code,
        greatest(chosen.ending.ended_at, facts.started_at) as ended_at,
        chosen.ending.is_censored as is_censored
    from facts
    join chosen using (run_key)
)

select * from final
