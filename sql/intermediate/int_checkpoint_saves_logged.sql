-- A row: one save that a run of a gang session logged under [runs] save_time_key, rows of several processes that
-- overlap made one. A history that is only a sample may lack saves and is left out; a value that is carried on from row to
-- row tells of one save.
with steps as (select * from intermediate.int_run_steps_merged),
processes as (select process_key, is_sampled from intermediate.int_run_processes_merged),
links as (select * from intermediate.int_run_processes_linked),
history_rows as (select process_key, step, logged_at, previous_step from intermediate.int_run_rows_ordered),
sessions as (select session_key from intermediate.int_checkpoint_sessions_measured),
settings as (select * from meta.settings),

logged as (
    select
        links.session_key,
        process_key,
        steps.step,
        steps.logged_at as ended_at,
        steps.value / if(regexp_matches(settings.runs_save_time_key, '(^|[^A-Za-z])ms$'), 1000, 1) as save_s
    from steps
    cross join settings
    join processes using (process_key)
    join links using (process_key)
    semi join sessions on sessions.session_key = links.session_key
    where
        steps.metric = settings.runs_save_time_key and steps.value > 0 and steps.logged_at is not null
        and not coalesce(processes.is_sampled, false)
),

placed as (
    select
        logged.*,
        logged.ended_at - to_microseconds((logged.save_s * 1e6)::bigint) as started_at,
        max(history_rows.previous_step) as previous_step
    from logged
    left join history_rows
        on history_rows.process_key = logged.process_key
        and history_rows.step = logged.step
        and history_rows.logged_at = logged.ended_at
    group by all
),

spans as (
    select *
    from placed
    window of_process as (partition by process_key order by ended_at, step)
    -- a process that has not ended a save begins no other
    qualify not coalesce(
        started_at < lag(ended_at) over of_process
        or (save_s = lag(save_s) over of_process and lag(step) over of_process >= previous_step),
        false
    )
),

opened as (
    select
        *,
        coalesce(started_at >= max(ended_at) over (
            partition by session_key order by started_at, ended_at, step rows between unbounded preceding and 1 preceding
        ), true) as is_first
    from spans
),

numbered as (
    select
        *,
        sum(is_first::integer) over (
            partition by session_key order by started_at, ended_at, step rows unbounded preceding
        )::integer as logged_number
    from opened
),

final as (
    select
        session_key,
        logged_number,
        min(started_at) as started_at,
        max(ended_at) as ended_at,
        max(save_s) as save_s,
        max(step) as step
    from numbered
    group by session_key, logged_number
)

select * from final
