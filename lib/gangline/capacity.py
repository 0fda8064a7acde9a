"""Nodes over time: how many could be used, how many gang and other sessions took, and the gang's need."""

from datetime import timedelta

import duckdb
import numpy as np
import polars as pl

from gangline.estimates import Estimate
from gangline.warehouse.querying import query
from gangline.windows import Window

CELLS = 600
NO_STATES = "no source tells node states (slurm_events, or [[nodes]] in the config)"
LEVELS = ("usable_nodes", "candidate_nodes", "gang_nodes", "other_nodes")


def steps(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Levels of `marts.capacity` over the observed window, `from_at`, `to_at` and nodes; means of 600 cells where long.

    The observed window ends at the sources' export time: later, nobody knows what ran.
    """
    levels = query(con, _STEPS, start=window.start, end=window.end)
    return levels if levels.height <= 2 * CELLS else averaged(levels, CELLS)


def averaged(levels: pl.DataFrame, cells: int) -> pl.DataFrame:
    """Levels that follow one another without a gap, as means over equal stretches of time, exact to the microsecond.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> day = [datetime(2026, 3, 1, hour, tzinfo=UTC) for hour in (0, 6, 12)]
    >>> levels = pl.DataFrame({"from_at": day[:2], "to_at": day[1:], "usable_nodes": [4, 8]})
    >>> averaged(levels.with_columns(candidate_nodes=4, gang_nodes=0, other_nodes=0), 3)["usable_nodes"].to_list()
    [4.0, 6.0, 8.0]
    """
    start = levels["from_at"][0]
    ends_us = (levels["to_at"] - start).dt.total_microseconds().to_numpy().astype(np.float64)
    edges_us = np.linspace(0.0, ends_us[-1], cells + 1)
    times_us = np.append(0.0, ends_us)
    at = [start + timedelta(microseconds=round(float(edge))) for edge in edges_us]
    means = {}
    for name in LEVELS:
        areas = np.append(0.0, np.cumsum(levels[name].to_numpy() * np.diff(times_us)))
        means[name] = np.diff(np.interp(edges_us, times_us, areas)) / np.diff(edges_us)
    return pl.DataFrame({"from_at": at[:-1], "to_at": at[1:]} | means).cast(
        {"from_at": levels.schema["from_at"], "to_at": levels.schema["to_at"]}
    )


def below_need(con: duckdb.DuckDBPyConnection, window: Window) -> Estimate:
    """Hours of the observed window in which fewer nodes that gangs could take are usable than the usual gang takes."""
    need = _need(con)
    if need is None:
        return Estimate.missing("h", "no session of at least two nodes shows what a gang needs", n=0)
    if not has_states(con):
        return Estimate.missing("h", NO_STATES, n=0)
    hours = query(con, _BELOW_NEED, start=window.start, end=window.end, need=need).item()
    return Estimate(float(hours or 0.0), "h", need, method=f"usable nodes below {need}, the usual gang's size")


def short(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """The stretches that `below_need` adds up: from_at, to_at and least_nodes, the fewest that gangs could take.

    None where no source tells node states, and none where no gang shows what it needs.
    """
    need = _need(con) if has_states(con) else None
    return query(con, _SHORT, start=window.start, end=window.end, need=need)


def has_states(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether anything tells when nodes could be used: a source of node states, or [[nodes]] in the config."""
    return bool(query(con, _HAS_STATES).item())


def _need(con: duckdb.DuckDBPyConnection) -> int | None:
    need: int | None = query(con, "select usual_node_count from intermediate.int_gang_sizes_ruled").item()
    return need


_OBSERVED_TO = "least($end, coalesce((select max(observed_until) from marts.sessions), $end))"
_STEPS = f"from marts.capacity($start, {_OBSERVED_TO})"
_HAS_STATES = "select exists(from marts.node_states) or exists(from meta.node_periods) as has_states"
_BELOW_NEED = f"""
    select sum(hours_between(from_at, to_at)) filter (candidate_nodes < $need) as below_h
    from marts.capacity($start, {_OBSERVED_TO})
"""  # noqa: S608
_SHORT = f"""
    with levels as (
        select from_at, to_at, candidate_nodes, candidate_nodes < $need as is_short
        from marts.capacity($start, {_OBSERVED_TO})
    ),
    begun as (
        select *, is_short and not coalesce(lag(is_short) over (order by from_at), false) as is_first from levels
    ),
    numbered as (select *, count(*) filter (is_first) over (order by from_at) as stretch from begun)
    select min(from_at) as from_at, max(to_at) as to_at, min(candidate_nodes) as least_nodes
    from numbered where is_short group by stretch order by from_at
"""  # noqa: S608
