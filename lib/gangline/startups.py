"""How a session comes to train: loads as shares of the storage's maximum, and the time from start to first step."""

from collections.abc import Mapping

import duckdb
import polars as pl

from gangline.estimates import Estimate
from gangline.estimates.means import mean
from gangline.estimates.quantiles import median
from gangline.units import BYTES_PER_GB, SECONDS_PER_MINUTE
from gangline.warehouse.querying import query
from gangline.windows import Window

NO_LOAD = "no load is seen in the window"
NO_MAXIMUM = "the storage's maximum is not told ([storage] max_{}_gb_per_s)"
PARTS = {"start_min": "until it loads", "load_min": "load", "first_step_min": "until the first step"}
"""The parts of a start, in order."""


def loads(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Loads that begin in the window, by start: rates as shares of the maximum, and the parts of the start.

    Rows of `marts.checkpoint_loads` with mean_share and peak_share (null without `[storage] max_read_gb_per_s`),
    start_min, load_min and first_step_min: from the load's end to the first step, or to the begin of training where no
    run logged a step (`first_step_evidence`); null where neither has a time.
    """
    return query(con, _LOADS, start=window.start, end=window.end)


def figures(loads: pl.DataFrame, reason: str | None) -> dict[str, Estimate]:
    """`checkpoints.{loads, load_median_min, load_mean_min, load_read_share_of_max, load_peak_share_of_max}`.

    Parameters
    ----------
    reason : str or None
        Why saves and loads cannot be told at all; every figure is null with it.
    """
    if reason:
        return {name: Estimate.missing(unit, reason, n=0) for name, unit in _UNITS.items()}
    lengths = loads["load_min"].to_list()
    return {
        "checkpoints.loads": Estimate(float(loads.height), "loads", loads.height, method="count"),
        "checkpoints.load_median_min": _reasoned(median(lengths, "min"), loads),
        "checkpoints.load_mean_min": _reasoned(mean(lengths, "min", least=0.0), loads),
        "checkpoints.load_read_share_of_max": share_of_max(loads["mean_share"], "read", NO_LOAD),
        "checkpoints.load_peak_share_of_max": share_of_max(loads["peak_share"], "read", NO_LOAD),
    }


def share_of_max(shares: pl.Series, direction: str, none: str) -> Estimate:
    """Mean of rates over the storage's maximum; `none` is the reason where there are no rows at all."""
    if shares.is_empty():
        return Estimate.missing("ratio", none, n=0)
    if not shares.drop_nulls().len():
        return Estimate.missing("ratio", NO_MAXIMUM.format(direction), n=0)
    return mean(shares.to_list(), "ratio", least=0.0)


def parts(loads: pl.DataFrame) -> pl.DataFrame:
    """A row a part of a start: session_id, session_started_at, node_count, part, from_min, to_min; unknown left out."""
    edges = loads.with_columns(
        load_from=pl.col("start_min"),
        load_to=pl.col("start_min") + pl.col("load_min"),
        step_to=pl.col("start_min") + pl.col("load_min") + pl.col("first_step_min"),
        zero=pl.lit(0.0),
    )
    ends: Mapping[str, tuple[str, str]] = {
        "start_min": ("zero", "load_from"),
        "load_min": ("load_from", "load_to"),
        "first_step_min": ("load_to", "step_to"),
    }
    stacked = [
        edges.select(
            "session_id",
            "session_started_at",
            "node_count",
            pl.lit(PARTS[name]).alias("part"),
            pl.col(first).alias("from_min"),
            pl.col(last).alias("to_min"),
        )
        for name, (first, last) in ends.items()
    ]
    return pl.concat(stacked).drop_nulls("to_min").sort("session_started_at", "session_id", "from_min")


def by_node_count(loads: pl.DataFrame) -> pl.DataFrame:
    """Starts by the nodes of the session: loads, medians of the parts and of the whole, GB read and GB/s a node."""
    whole = pl.col("start_min") + pl.col("load_min") + pl.col("first_step_min")
    bytes_per_node = pl.col("bytes") / BYTES_PER_GB / pl.col("node_count")
    rate_per_node = pl.col("mean_bytes_per_s") / BYTES_PER_GB / pl.col("node_count")
    return (
        loads.group_by("node_count")
        .agg(
            pl.len().cast(pl.Int64).alias("loads"),
            *[pl.col(name).median() for name in PARTS],
            whole.median().alias("first_step_after_min"),
            bytes_per_node.median().alias("read_per_node_gb"),
            rate_per_node.median().alias("read_per_node_gb_per_s"),
        )
        .sort("node_count")
    )


def load_table(loads: pl.DataFrame) -> pl.DataFrame:
    """Every load with its session, length, amount, rates and what came before and after it."""
    gigabytes = (pl.col("bytes") / BYTES_PER_GB).alias("read_gb")
    rate = (pl.col("mean_bytes_per_s") / BYTES_PER_GB).alias("mean_gb_per_s")
    peak = (pl.col("peak_bytes_per_s") / BYTES_PER_GB).alias("peak_gb_per_s")
    head = ("load_id", "session_id", "node_count", "started_at", "start_min", "load_min", "first_step_min")
    return loads.select(*head, "first_step_evidence", gigabytes, rate, peak, "mean_share", "peak_share")


_UNITS = {
    "checkpoints.loads": "loads",
    "checkpoints.load_median_min": "min",
    "checkpoints.load_mean_min": "min",
    "checkpoints.load_read_share_of_max": "ratio",
    "checkpoints.load_peak_share_of_max": "ratio",
}
_LOADS = f"""
    select loads.*, duration_s / {SECONDS_PER_MINUTE} as load_min, start_to_load_s / {SECONDS_PER_MINUTE} as start_min,
        coalesce(first_step_at, training_from) as trained_at,
        if(trained_at < ended_at, 0, minutes_between(ended_at, trained_at)) as first_step_min,
        case
            when first_step_at is not null then 'first step'
            when training_from is not null then 'begin of training'
        end as first_step_evidence,
        mean_bytes_per_s / rules.max_read_bytes_per_s as mean_share,
        peak_bytes_per_s / rules.max_read_bytes_per_s as peak_share
    from marts.checkpoint_loads as loads
    cross join marts.checkpoint_rules as rules
    where started_at >= $start and started_at < $end
    order by started_at, load_id
"""  # noqa: S608


def _reasoned(found: Estimate, loads: pl.DataFrame) -> Estimate:
    """The estimate, or why it is none: the commonest reason of loads that have no length."""
    if found.value is not None:
        return found
    reasons = loads["reason"].drop_nulls().mode().sort()
    return Estimate.missing(found.unit, reasons[0] if reasons.len() else NO_LOAD, n=0)
