"""Curves of runs: loss, throughput and step time, what was done again, and where training began again.

Which metric is which, only their names tell; a report may name them.
"""

import re
from collections.abc import Sequence

import duckdb
import polars as pl

from gangline.efforts import ROWS
from gangline.runs import SHOWN, span_of
from gangline.warehouse.querying import query
from gangline.windows import Window

BUCKETS = 600
LOSS, THROUGHPUT, STEP_TIME = "loss", "throughput", "step_time"
TELLING: dict[str, tuple[str, ...]] = {
    LOSS: (r"(^|.*[/._-])train(ing)?[/._-](lm[/._-])?loss$", r"(^|.*[/._-])(lm[ /._-])?loss$", r".*loss.*"),
    THROUGHPUT: (r".*tokens?[/._ -]*(per|/)[/._ -]*s(ec(ond)?)?.*", r".*(throughput|samples[/._ -]*per[/._ -]*s).*"),
    STEP_TIME: (
        r".*(step|iter(ation)?)[/._ -]*(time|duration)([/._ -].*)?$",
        r".*(step|iter(ation)?)[/._ -]+(s(ec(onds?)?)?|ms)$",
        r".*(time|s(ec(onds?)?)?)[/._ -]*per[/._ -]*(step|iter(ation)?).*",
    ),
}
NO_LOSS = ("val", "valid", "validation", "eval", "test", "aux", "grad")


def metrics(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Metrics of the window's runs by their points: metric, runs, points; the fullest first."""
    return query(con, f"{SHOWN} {_METRICS}", **span_of(window))


def every_metric(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Names of all metrics that any run logged, in whatever window."""
    rows = query(con, "select distinct metric from marts.run_steps where value is not null order by metric")
    return [str(name) for name in rows["metric"]]


def chosen(metrics: pl.DataFrame, what: str, named: str = "") -> str | None:
    """The metric for `loss`, `throughput` or `step_time`: the named one, else the fullest whose name tells; or none.

    Examples
    --------
    >>> known = pl.DataFrame({"metric": ["lr", "eval/loss", "train/loss", "perf/tokens_per_s"]})
    >>> chosen(known, "loss"), chosen(known, "throughput"), chosen(known, "step_time"), chosen(known, "loss", "lr")
    ('train/loss', 'perf/tokens_per_s', None, 'lr')
    """
    names = metrics["metric"].to_list()
    if named:
        return named if named in names else None
    for pattern in TELLING[what]:
        if telling := [name for name in names if _tells(name, pattern, what)]:
            return str(telling[0])
    return None


def absent(metrics: pl.DataFrame, named: Sequence[str]) -> list[str]:
    """Of the metrics that a report names, those that no run of the window logs.

    >>> absent(pl.DataFrame({"metric": ["lr", "train/loss"]}), ("lr", "", "pace"))
    ['pace']
    """
    known = set(metrics["metric"])
    return [name for name in named if name and name not in known]


def progress(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """The fullest metric of each run over time, as of `over_time`: its `step` tells how far training came."""
    return _curve(con, window, None, *_by_time(window))


def over_time(con: duckdb.DuckDBPyConnection, window: Window, metric: str | None) -> pl.DataFrame:
    """A metric over time, reduced to stretches of the window of equal length; no row where there is no metric.

    Columns: effort, run_id, stretch (numbered within a run: it ends where training steps back and where what was done
    again begins or ends), is_lost (the steps were done again later), from_at, step, low, middle, high, points. Values
    that are no finite numbers are left out.
    """
    return _curve(con, window, metric or "", *_by_time(window))


def over_steps(con: duckdb.DuckDBPyConnection, window: Window, metric: str | None) -> pl.DataFrame:
    """A metric by step, reduced to equal ranges of steps; columns as of `over_time`."""
    highest = query(con, f"{SHOWN} select max(max_step) as highest from shown", **span_of(window)).item()  # noqa: S608
    return _curve(con, window, metric or "", "step // $width", max(1, -(-int(highest or 1) // BUCKETS)))


def restarts(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Where training began again: effort, run_id, at, step, lost_steps, kind (`new run`, `resumed run`, `inside`).

    `lost_steps` is how far it fell behind the highest step of the effort before; null where it lost none.
    """
    return query(con, f"{SHOWN}, {ROWS} {_RESTARTS}", **span_of(window), metric=None)


def not_numbers(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Steps whose value was NaN or infinite: effort, run_id, metric, value_kind, steps, first_step, first_at."""
    return query(con, f"{SHOWN} {_NOT_NUMBERS}", **span_of(window))


_METRICS = """
    select steps.metric, count(distinct steps.run_id) as runs, count(*) as points
    from marts.run_steps as steps
    semi join shown using (run_id)
    where steps.value is not null
    group by steps.metric
    order by points desc, steps.metric
"""
_CURVE = """,
    stretched as (
        select *, sum((is_step_back or is_turn)::integer) over (partition by run_id, process order by place) as stretch
        from history_rows
    ),
    placed as (
        select *, {bucket} as bucket from stretched
        where (value is not null or $metric is null) and ("at" is null or ("at" >= $start and "at" < $end))
    )
    select effort, run_id, (process * 100000 + stretch)::bigint as stretch, is_lost, min("at") as from_at,
        min(step) as step, min(value) as low, median(value) as middle, max(value) as high, count(*) as points
    from placed
    where bucket is not null
    group by effort, run_id, process, stretch, is_lost, bucket
    order by effort, run_id, process, stretch, bucket
"""
_RESTARTS = """,
    reached as (
        select *, max(step) over (
            partition by effort order by "at", run_id, process, place rows between unbounded preceding and 1 preceding
        ) as reached_step
        from history_rows
    )
    select effort, run_id, "at", step, if(reached_step >= step, reached_step - step + 1, null) as lost_steps,
        case when is_step_back then 'inside' when process > 1 then 'resumed run' else 'new run' end as kind
    from reached
    where reached_step is not null and (is_step_back or (place = 1 and step > 1)) and "at" >= $start and "at" < $end
    order by "at", run_id, process
"""
_NOT_NUMBERS = """
    select shown.effort, steps.run_id, steps.metric, steps.value_kind, count(*) as steps, min(steps.step) as first_step,
        min(steps."at") as first_at
    from marts.run_steps as steps
    join shown using (run_id)
    where steps.value_kind in ('nan', 'infinity', 'minus_infinity')
    group by all
    order by first_at, steps.run_id, steps.metric
"""


def _tells(name: str, pattern: str, what: str) -> bool:
    words = set(re.split(r"[^a-z]+", name.casefold()))
    return re.fullmatch(pattern, name.casefold()) is not None and not (what == LOSS and words & set(NO_LOSS))


def _curve(con: duckdb.DuckDBPyConnection, window: Window, metric: str | None, bucket: str, width: int) -> pl.DataFrame:
    sql = f"{SHOWN}, {ROWS} {_CURVE.replace('{bucket}', bucket)}"
    return query(con, sql, **span_of(window), metric=metric, width=width)


def _by_time(window: Window) -> tuple[str, int]:
    width_us = max(1, round((window.end - window.start).total_seconds() * 1e6 / BUCKETS))
    return '(epoch_us("at") - epoch_us($start::timestamptz)) // $width', width_us
