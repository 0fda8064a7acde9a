"""Other clusters' printed failures beside this one's: counts over exposure, in blocks of what is counted."""

from typing import Any

import duckdb
import polars as pl

from gangline import exposures, failure_rates, incidents
from gangline.estimates import Estimate
from gangline.estimates.rates import per_1000_node_days
from gangline.estimates.wording import words
from gangline.exposures import Exposure
from gangline.units import HOURS_PER_DAY
from gangline.warehouse.querying import query
from gangline.windows import Window

JOBS, NODES, RESTARTS, EFFECTIVE = "job interruptions", "node events", "restarts", "effective time"
RATED = (JOBS, NODES, RESTARTS)
"""Blocks whose rows are rates per 1,000 node-days; they count different things and are never ranked together."""
HERE = "this cluster"
DAYS_A_WEEK = 7
Rate = tuple[float | None, float | None, float | None]
"""A rate and the ends of its interval."""
PER_NODE_DAYS, PER_WEEK = "per 1,000 node-days", "per week"
NO_SOURCE = "no incident file was read"
NO_LOG = "no kernel log and no XID gauge was read"


def rates(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Rates of this cluster and of others, block by block, this one first.

    Returns
    -------
    DataFrame
        block, cluster, meaning (what one event is there), events, node_days, rate_per_1000_node_days with low_... and
        high_... (Garwood, or what the printed words allow; null where only a rate is printed), source, reason (a note).
    """
    theirs = query(con, _THEIRS, blocks=list(RATED))
    rows = [*_ours(con, window), *(_their_row(row) for row in theirs.iter_rows(named=True))]
    order = {block: place for place, block in enumerate(RATED)}
    return pl.DataFrame(sorted(rows, key=lambda row: order[str(row[0])]), schema=_SCHEMA, orient="row")


def others(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """What else is printed: kinds of failures, effective time, slowdowns, detection: block, cluster, quantity, ..."""
    return query(con, _OTHERS, blocks=list(RATED))


def effective(found: Exposure, window: Window) -> Estimate:
    """Training hours of linked runs over the hours of the window: what Llama 3 and ByteRobust come near to printing."""
    hours = (window.end - window.start).total_seconds() / 3600
    if not hours or found.sessions.is_empty():
        return Estimate.missing("ratio", exposures.NO_TRAINING, n=0)
    return Estimate(
        min(found.hours / hours, 1.0), "ratio", found.sessions.height, method="training hours over the window"
    )


def case(con: duckdb.DuckDBPyConnection, rates: pl.DataFrame) -> str:
    """Which sentence fits: `none` (nothing trained here in the window), else `found`."""
    own = rates.filter(pl.col("cluster") == HERE, pl.col("block") == JOBS)
    return "found" if own["rate_per_1000_node_days"].drop_nulls().len() else "none"


def placed(rates: pl.DataFrame) -> dict[str, object]:
    """For a sentence: this cluster's job interruptions and their rate in words, how many had trained, and its place.

    The place is how many of the others' rates lie below it.
    """
    jobs = rates.filter(pl.col("block") == JOBS).drop_nulls("rate_per_1000_node_days")
    own, trained = jobs.filter(pl.col("cluster") == HERE).rows(named=True)[:2]
    other = jobs.filter(pl.col("cluster") != HERE)
    value = own["rate_per_1000_node_days"]
    return {
        "events": own["events"],
        "trained": trained["events"],
        "rate": words(value, "per_1000_node_days"),
        "low": own["low_per_1000_node_days"],
        "high": own["high_per_1000_node_days"],
        "below": other.filter(pl.col("rate_per_1000_node_days") < value).height,
        "others": other.height,
    }


def _ours(con: duckdb.DuckDBPyConnection, window: Window) -> list[tuple[object, ...]]:
    found, launches = exposures.exposure(con, window), query(con, _LAUNCHES, start=window.start, end=window.end)
    node_h, (count, launched_h) = found.node_hours, launches.row(0)
    watched_h = incidents.exposure_h(con, window)
    trained, logged = found.ends.filter("reached_training").height, failure_rates.of_nodes(con, window)
    return [
        _our_row(JOBS, "end neither completed nor planned", per_1000_node_days(found.ends.height, node_h), node_h),
        _our_row(JOBS, "the same, where it had trained", per_1000_node_days(trained, node_h), node_h),
        _our_row(JOBS, "failure only", per_1000_node_days(found.failures.height, node_h), node_h),
        _our_row(NODES, "incident by kernel log or gauge", _logged_rate(con, logged), logged.node_h),
        _our_row(NODES, "incident of an incident file", _node_rate(con, window), watched_h),
        _our_row(RESTARTS, "launch after the first", per_1000_node_days(max(count - 1, 0), launched_h), launched_h),
    ]


def _our_row(block: str, what: str, rate: Estimate, node_h: float) -> tuple[object, ...]:
    days = node_h / HOURS_PER_DAY if rate.value is not None else None
    return (block, HERE, what, rate.n, days, rate.value, rate.low, rate.high, None, rate.reason)


def _their_row(row: dict[str, Any]) -> tuple[object, ...]:
    head = (row["block"], row["cluster"], row["failure_is"], row["events"], row["node_days"])
    return (*head, *_their_rate(row), row["source"], row["note"])


def _their_rate(row: dict[str, Any]) -> Rate:
    """Count over exposure where both are printed, else the printed rate."""
    if row["events"] is not None and row["node_days"] is not None:
        rate = per_1000_node_days(row["events"], row["node_days"] * HOURS_PER_DAY)
        return rate.value, rate.low, rate.high
    if row["unit"] == PER_NODE_DAYS:
        return row["value"], row["low"], row["high"]
    if row["unit"] != PER_WEEK:
        return None, None, None
    factor = 1000 / (row["nodes"] * DAYS_A_WEEK)
    return row["value"] * factor, row["low"] * factor, row["high"] * factor


def _logged_rate(con: duckdb.DuckDBPyConnection, logged: failure_rates.Rate) -> Estimate:
    if not failure_rates.has_source(con):
        return Estimate.missing("per_1000_node_days", NO_LOG, n=0)
    return logged.plain


def _node_rate(con: duckdb.DuckDBPyConnection, window: Window) -> Estimate:
    if not incidents.has_source(con):
        return Estimate.missing("per_1000_node_days", NO_SOURCE, n=0)
    return incidents.rate(con, window)


_SCHEMA = {
    "block": pl.String,
    "cluster": pl.String,
    "meaning": pl.String,
    "events": pl.Int64,
    "node_days": pl.Float64,
    "rate_per_1000_node_days": pl.Float64,
    "low_per_1000_node_days": pl.Float64,
    "high_per_1000_node_days": pl.Float64,
    "source": pl.String,
    "reason": pl.String,
}
_THEIRS = "select * from staging.published_clusters where list_contains($blocks::varchar[], block) order by place"
_OTHERS = """
    select block, cluster, quantity, printed, failure_is as meaning, note as reason, source
    from staging.published_clusters
    where not list_contains($blocks::varchar[], block) order by place
"""
_LAUNCHES = """
    select count(*) filter (starts_within) as launches, coalesce(sum(window_h * node_count), 0)::double as node_h
    from marts.sessions_within($start, $end) where is_gang
"""
