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
        history_rows.process_key,
        history_rows.logged_at,
        min(history_rows.logged_at - to_microseconds((history_rows.row_s * 1e6)::bigint)) as from_at,
        sum(history_rows.row_s - (history_rows.step - history_rows.previous_step) * linked.median_step_s) as late_s
    from history_rows
    join linked using (process_key)
    where history_rows.row_s is not null
    group by history_rows.process_key, history_rows.logged_at
),

summed_rows as (
    select *, sum(late_s) over (partition by process_key order by logged_at rows unbounded preceding) as all_late_s
    from timed_rows
),

asked as (
    select saves.session_key, saves.save_number, saves.started_at, saves.ended_at, linked.* exclude (session_key)
    from saves
    join linked using (session_key)
),

-- sums up to the first row that ends in the save or behind it, and up to the row that its end falls into
enclosed as (
    select asked.*, last_rows.all_late_s - first_rows.all_late_s + first_rows.late_s as stall_s
    from asked
    asof join summed_rows as first_rows
        on first_rows.process_key = asked.process_key and asked.started_at < first_rows.logged_at
    asof join summed_rows as last_rows
        on last_rows.process_key = asked.process_key and asked.ended_at <= last_rows.logged_at
    -- a run that broke off in the save does not tell how long its step would have taken
    where first_rows.from_at <= asked.started_at and last_rows.from_at < asked.ended_at
),

final as (
    select session_key, save_number, greatest(0, stall_s) as step_stall_s, median_step_s
    from enclosed
    qualify row_number() over (
        partition by session_key, save_number order by history_rows desc, process_key
    ) = 1
)

select * from final
