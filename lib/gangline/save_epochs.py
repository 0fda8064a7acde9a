"""The average save and the average start, laid over each other step by step (superposed epochs, Chree 1913)."""

import duckdb
import polars as pl

from gangline.roles import ROLES
from gangline.warehouse.querying import query
from gangline.windows import Window

LEAST_SWING = 0.2  # a course that moves by less than this share of its peak has no peak to speak of
SAVE_LAYERS = {
    "nfs_program_write_bytes": "write() calls",
    "shm_used": "Shared memory",
    "dirty": "Dirty pages",
    "write_back": "Pages being written",
    "nfs_write_bytes": "NFS WRITE",
    "page_out": "Page-outs to disk",
    "backlog": "Transport backlog",
}
START_LAYERS = {
    "nfs_read_bytes": "NFS READ",
    "nfs_program_read_bytes": "read() calls",
    "page_cache": "Page cache",
}
"""Roles that are drawn, and what they are called."""


def saves(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """The average node around a save: a row a role and step, over the saves that begin in the window.

    Returns
    -------
    DataFrame
        role, lag_s (from the save's start to that of the step), median, q1, q3 (over saves, of the mean over nodes),
        count (saves that tell the step; steps that fewer than half of the most do are left out), unit.
    """
    return _epochs(con, window, _SAVES, SAVE_LAYERS)


def starts(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """The average node around the start of a session that loads: as `saves`, lag_s from the session's start."""
    return _epochs(con, window, _STARTS, START_LAYERS)


def peaks(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """When each role is highest: role, saves, median_s, q1_s, q3_s after a save's start; earliest first.

    A save in which a role moves by less than a fifth of its peak says nothing of it.
    """
    found = query(con, _PEAKS, start=window.start, end=window.end, swing=LEAST_SWING)
    return found.filter(pl.col("role").is_in(list(SAVE_LAYERS)))


def named(rows: pl.DataFrame) -> pl.DataFrame:
    """Adds `layer`, what a reader calls the role."""
    names = SAVE_LAYERS | START_LAYERS
    return rows.with_columns(layer=pl.col("role").replace_strict(names, default=pl.col("role")))


def order_of_peaks(peaks: pl.DataFrame) -> str:
    """The roles in order of their peaks, as a clause; roles that peak in the same step stand together.

    >>> order_of_peaks(pl.DataFrame({"role": ["dirty", "write_back", "nfs_write_bytes"], "median_s": [0, 30, 30]}))
    'dirty pages, then pages being written and NFS WRITE'
    """
    groups = peaks.sort("median_s", maintain_order=True).group_by("median_s", maintain_order=True).agg("role")
    return ", then ".join(" and ".join(map(_in_text, roles)) for roles in groups["role"].to_list())


def _in_text(role: str) -> str:
    name = (SAVE_LAYERS | START_LAYERS)[role]
    return name if name[:2].isupper() else name[:1].lower() + name[1:]


def _epochs(con: duckdb.DuckDBPyConnection, window: Window, sql: str, layers: dict[str, str]) -> pl.DataFrame:
    rows = query(con, sql, start=window.start, end=window.end)
    told = rows.filter(pl.col("role").is_in(list(layers)) & (2 * pl.col("count") >= pl.col("count").max().over("role")))
    order = pl.col("role").replace_strict({role: place for place, role in enumerate(layers)}, return_dtype=pl.Int64)
    return told.sort(order, "lag_s")


assert set(SAVE_LAYERS) | set(START_LAYERS) <= set(ROLES)

_SAVES = """
with chosen as (
    select save_id as checkpoint_id from marts.checkpoint_saves where started_at >= $start and started_at < $end
)
select role, lag_s, median(node_mean) as median, quantile_cont(node_mean, 0.25) as q1,
    quantile_cont(node_mean, 0.75) as q3, count(*) as count, any_value(unit) as unit
from marts.checkpoint_courses
semi join chosen using (checkpoint_id)
where phase = 'save' and is_known
group by role, lag_s
"""

_STARTS = """
with chosen as (
    select load_id as checkpoint_id, started_at, session_started_at from marts.checkpoint_loads
    where started_at >= $start and started_at < $end
),
steps as (
    select courses.*, (epoch_us(courses."at") - epoch_us(session_started_at)) / 1e6 as since_s,
        round((epoch_us(courses."at") - epoch_us(session_started_at)) / 6e7) * 60 as minute_s
    from marts.checkpoint_courses courses
    join chosen using (checkpoint_id)
    where phase = 'load' and is_known
),
minutes as (
    select role, checkpoint_id, minute_s, avg(node_mean) as node_mean, any_value(unit) as unit
    from steps
    group by role, checkpoint_id, minute_s
)
select role, minute_s as lag_s, median(node_mean) as median, quantile_cont(node_mean, 0.25) as q1,
    quantile_cont(node_mean, 0.75) as q3, count(*) as count, any_value(unit) as unit
from minutes
group by role, minute_s
"""

_PEAKS = """
with chosen as (
    select save_id as checkpoint_id from marts.checkpoint_saves where started_at >= $start and started_at < $end
),
highest as (
    select checkpoint_id, role, arg_max(lag_s, node_mean order by lag_s) as peak_s
    from marts.checkpoint_courses
    semi join chosen using (checkpoint_id)
    where phase = 'save' and is_known
    group by checkpoint_id, role
    having max(node_mean) - min(node_mean) >= $swing * max(node_mean) and max(node_mean) > 0
)
select role, count(*) as saves, median(peak_s) as median_s, quantile_cont(peak_s, 0.25) as q1_s,
    quantile_cont(peak_s, 0.75) as q3_s
from highest
group by role
order by median_s, role
"""
