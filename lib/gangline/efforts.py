"""What goes on under one name, over several runs: how far it came, how often it began again, what it did twice.

An *effort* is the run name of the linked session, else the run's own name without counters and dates. A run goes on
from an earlier one of its effort where it begins after that one's last step, above step 1, and not beyond it: what the
earlier one had done from there on was lost, and is done again.
"""

import duckdb
import polars as pl

from gangline.runs import SHOWN, span_of
from gangline.warehouse.querying import query
from gangline.windows import Window


def by_effort(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Efforts of the window's runs, most history rows first.

    `went_on` counts runs and processes that went on from a saved step, `inner_restarts` those within a run;
    `redone_rows` the history rows of steps that a later row did again, `redone_h` the time since the row before each,
    so that what was lost between the last row and the failure is not in it. Null where a history is only sampled.
    """
    return query(con, f"{SHOWN}, {ROWS} {_EFFORTS}", **span_of(window), metric=None)


ROWS = """
    processes as (
        select shown.effort, processes.*
        from marts.run_processes as processes join shown using (run_id)
    ),
    successors as (
        select earlier.run_id, earlier.process, min(later.first_step) as lost_from
        from processes as earlier
        join processes as later
            on later.effort = earlier.effort
            and (later.run_id, later.process) != (earlier.run_id, earlier.process)
            and later.first_step_at >= earlier.last_step_at
            and later.first_step > 1 and later.first_step <= earlier.max_step
        group by all
    ),
    measured as (
        select steps.run_id, steps.metric, count(*) as points
        from marts.run_steps as steps
        semi join shown using (run_id)
        where $metric is null or steps.metric = $metric
        group by all
    ),
    main as (
        select run_id, metric from measured
        qualify row_number() over (partition by run_id order by points desc, metric) = 1
    ),
    points as (
        select steps.run_id, steps.process, steps.step, steps."at", steps.value, steps.value_kind, false as is_redone
        from marts.run_steps as steps join main using (run_id, metric)
        union all by name
        select steps.run_id, steps.process, steps.step, steps."at", steps.value, steps.value_kind, true as is_redone
        from marts.run_rework_steps as steps join main using (run_id, metric)
    ),
    judged as (
        select shown.effort, points.*,
            coalesce(points.is_redone or points.step >= successors.lost_from, false) as is_lost
        from points
        join shown using (run_id)
        left join successors using (run_id, process)
    ),
    history_rows as (
        select *, lag("at") over history as before_at, row_number() over history as place,
            coalesce(step <= lag(step) over history, false) as is_step_back,
            coalesce(is_lost != lag(is_lost) over history, false) as is_turn
        from judged
        window history as (partition by run_id, process order by "at", step)
    )
"""
"""Common table expressions behind `SHOWN`: `history_rows`, one metric of each run (its fullest if $metric is null).

`is_lost`: a later row of the run, or a run of the effort that went on from an earlier step, did the step again;
`is_turn`: the row before it in its process is lost and this one is not, or the other way round.
"""
_EFFORTS = """,
    lost as (
        select effort, count(*) filter (is_lost) as redone_rows,
            sum(hours_between(before_at, "at")) filter (is_lost) as redone_h
        from history_rows group by effort
    ),
    counted as (
        select effort, count(*) as runs, count(distinct session_id) as sessions, sum(history_rows)::bigint as rows_read,
            max(max_step) as max_step, sum(inner_restarts)::bigint as inner_restarts,
            median(median_step_s) as median_step_s, sum(nan_steps)::bigint as nan_steps,
            coalesce(bool_or(is_sampled), false) as is_sampled, min(started_at) as first_started_at
        from shown group by effort
    ),
    followed as (
        select effort, count(*) as went_on
        from processes as later
        where first_step > 1 and exists(
            select 1 from processes as earlier
            where earlier.effort = later.effort and earlier.last_step_at <= later.first_step_at
        )
        group by effort
    )
    select counted.effort, runs, sessions, rows_read, max_step, coalesce(went_on, 0) as went_on, inner_restarts,
        if(is_sampled, null, coalesce(redone_rows, 0)) as redone_rows,
        if(is_sampled, null, coalesce(redone_h, 0))::double as redone_h, median_step_s, nan_steps, is_sampled,
        first_started_at
    from counted left join lost using (effort) left join followed using (effort)
    order by rows_read desc, counted.effort
"""
