-- A row: one save, with how much longer than usual the steps of its run took meanwhile: seconds of the history rows that
-- it touches, less their steps times the process's median step. Of several processes the one with the most rows tells.
with saves as (select * from intermediate.int_checkpoint_saves_merged),
links as (select * from intermediate.int_run_processes_linked),
processes as (select process_key, is_sampled from intermediate.int_run_processes_merged),
spans as (select * from intermediate.int_run_processes_spanned),
history_rows as (select * from intermediate.int_run_rows_ordered),

linked as (
    select links.session_key, spans.process_key, spans.history_rows, spans.median_step_s
    from links
    join spans using (process_key)
    join processes using (process_key)
    where not coalesce(processes.is_sampled, false) and spans.median_step_s > 0
),

timed_rows as (
    select
        linked.*,
        history_rows.logged_at,
        history_rows.logged_at - to_microseconds((history_rows.row_s * 1e6)::bigint) as from_at,
        history_rows.row_s,
        history_rows.step - history_rows.previous_step as row_steps
    from history_rows
    join linked using (process_key)
    where history_rows.row_s is not null
),

touched as (
    select
        saves.session_key,
        saves.save_number,
        timed_rows.process_key,
        any_value(timed_rows.history_rows) as history_rows,
        any_value(timed_rows.median_step_s) as median_step_s,
        sum(timed_rows.row_s - timed_rows.row_steps * timed_rows.median_step_s) as stall_s
    from saves
    join timed_rows
        on timed_rows.session_key = saves.session_key
        and timed_rows.from_at < saves.ended_at
        and timed_rows.logged_at > saves.started_at
    group by saves.session_key, saves.save_number, timed_rows.process_key, saves.started_at, saves.ended_at
    -- a run that broke off in the save does not tell how long its step would have taken
    having min(timed_rows.from_at) <= saves.started_at and max(timed_rows.logged_at) >= saves.ended_at
),

final as (
    select session_key, save_number, greatest(0, stall_s) as step_stall_s, median_step_s
    from touched
    qualify row_number() over (
        partition by session_key, save_number order by history_rows desc, process_key
    ) = 1
)

select * from final
