"""What another interval between saves would cost, and what a shorter downtime would gain, as shares of time."""

from collections.abc import Mapping
from typing import Any

import duckdb
import numpy as np
import polars as pl

from gangline import downtimes
from gangline.checkpoints import Checkpoints, StageCost
from gangline.estimates import Estimate
from gangline.estimates.checkpoint_interval import availability, daly, overhead
from gangline.units import MINUTES_PER_HOUR, SECONDS_PER_HOUR, SECONDS_PER_MINUTE
from gangline.windows import Window

POINTS = 121
REACH = 8.0
"""How many times the optimum, and its inverse, a curve goes at least."""
ACTUAL, BEST = "now", "optimum"
DOWNTIMES = {
    "manual_median_h": "median, ended by a person",
    "km_median_h": "median, all downtimes",
    "automatic_median_h": "median, ended by a retry",
}


def by_stage(found: Checkpoints) -> pl.DataFrame:
    """A row a stage with an interval: what saves cost now and at the optimum, Daly's optimum beside; else `reason`."""
    rows = [_stage_row(stage, cost, found.mtbf) for stage, cost in _with_interval(found).items()]
    return pl.DataFrame(rows, schema=_STAGE_SCHEMA, orient="row")


def curve(found: Checkpoints) -> pl.DataFrame:
    """Overhead by interval for each stage whose optimum is known: stage, interval_h, overhead_share, low, high.

    The band is that of the time between failures: `low_share` at its upper, `high_share` at its lower bound, which may
    be null.
    """
    frames = [_stage_curve(stage, cost, found.mtbf) for stage, cost in _with_optimum(found).items()]
    return pl.concat(frames) if frames else pl.DataFrame(schema=_CURVE_SCHEMA)


def marks(found: Checkpoints) -> pl.DataFrame:
    """Where each stage stands on its curve, and where it could: stage, place (`now`, `optimum`), interval_h, share."""
    rows = []
    for stage, cost in _with_optimum(found).items():
        best_min, now_h = cost.young_optimum_min.value or 0.0, cost.interval_median_h.value
        rows.append((stage, ACTUAL, now_h, cost.overhead_actual.value))
        rows.append((stage, BEST, best_min * SECONDS_PER_MINUTE / SECONDS_PER_HOUR, cost.overhead_optimum.value))
    return pl.DataFrame(rows, schema=_MARK_SCHEMA, orient="row")


def by_downtime(con: duckdb.DuckDBPyConnection, window: Window, mtbf: Estimate) -> pl.DataFrame:
    """Share of time that downtime takes, D / (M + D), at the window's medians: downtime, downtime_h, share, range.

    M is the training time between ends; medians that are not known are left out, of equal ones all but the
    first, and all where M is not known.
    """
    if mtbf.value is None:
        return pl.DataFrame(schema=_DOWNTIME_SCHEMA)
    figures = downtimes.figures(con, window)
    known = {name: figures[f"downtimes.{key}"].value for key, name in DOWNTIMES.items()}
    rows = [
        (name, hours, *(None if m is None else 1 - availability(m, hours) for m in (mtbf.value, mtbf.high, mtbf.low)))
        for name, hours in known.items()
        if hours is not None
    ]
    found = pl.DataFrame(rows, schema=_DOWNTIME_SCHEMA, orient="row")
    return found.unique("downtime_h", keep="first", maintain_order=True)


def furthest(costs: pl.DataFrame) -> dict[str, Any]:
    """The stage furthest above its optimum, as values for a sentence; takes `by_stage` rows with an optimum."""
    return _ranked(costs).row(0, named=True)


def others(costs: pl.DataFrame) -> list[str]:
    """The other stages with an optimum, as `4K 2.97 times`."""
    rest = _ranked(costs).tail(-1).select("stage", "over_optimum")
    return [f"{stage} {times:.2f} times" for stage, times in rest.iter_rows()]


_STAGE_SCHEMA = {
    "stage": pl.String,
    "interval_h": pl.Float64,
    "interval_min": pl.Float64,
    "stall_s": pl.Float64,
    "young_min": pl.Float64,
    "low_min": pl.Float64,
    "high_min": pl.Float64,
    "daly_min": pl.Float64,
    "over_optimum": pl.Float64,
    "actual_share": pl.Float64,
    "optimum_share": pl.Float64,
    "reason": pl.String,
}
_CURVE_SCHEMA = {
    "stage": pl.String,
    "interval_h": pl.Float64,
    "overhead_share": pl.Float64,
    "low_share": pl.Float64,
    "high_share": pl.Float64,
}
_MARK_SCHEMA = {"stage": pl.String, "place": pl.String, "interval_h": pl.Float64, "overhead_share": pl.Float64}
_DOWNTIME_SCHEMA = {
    "downtime": pl.String,
    "downtime_h": pl.Float64,
    "lost_share": pl.Float64,
    "low_share": pl.Float64,
    "high_share": pl.Float64,
}


def _ranked(costs: pl.DataFrame) -> pl.DataFrame:
    return costs.drop_nulls("young_min").sort(["over_optimum", "stage"], descending=[True, False])


def _with_interval(found: Checkpoints) -> Mapping[str, StageCost]:
    return {stage: cost for stage, cost in found.stages.items() if cost.interval_median_h.value is not None}


def _with_optimum(found: Checkpoints) -> Mapping[str, StageCost]:
    return {stage: cost for stage, cost in _with_interval(found).items() if cost.young_optimum_min.value is not None}


def _stage_row(stage: str, cost: StageCost, mtbf: Estimate) -> tuple[object, ...]:
    best, stall_s = cost.young_optimum_min, cost.stall_median_s.value
    by_daly = None
    if best.value is not None and stall_s is not None and mtbf.value is not None:
        by_daly = daly(stall_s, mtbf.value * SECONDS_PER_HOUR) / SECONDS_PER_MINUTE
    interval_h = cost.interval_median_h.value or 0.0
    head = (stage, interval_h, interval_h * MINUTES_PER_HOUR, stall_s, best.value, best.low, best.high, by_daly)
    return (*head, cost.actual_over_optimum.value, cost.overhead_actual.value, cost.overhead_optimum.value, best.reason)


def _stage_curve(stage: str, cost: StageCost, mtbf: Estimate) -> pl.DataFrame:
    best_h = (cost.young_optimum_min.value or 0.0) * SECONDS_PER_MINUTE / SECONDS_PER_HOUR
    reach = max(REACH, 1.5 * max(_times(cost), 1 / _times(cost)))
    intervals_h = best_h * np.geomspace(1 / reach, reach, POINTS)
    columns = {
        name: None if mtbf_h is None else [_share(hours, cost, mtbf_h) for hours in intervals_h.tolist()]
        for name, mtbf_h in (("overhead_share", mtbf.value), ("low_share", mtbf.high), ("high_share", mtbf.low))
    }
    return pl.DataFrame({"interval_h": intervals_h}).select(
        pl.lit(stage).alias("stage"),
        "interval_h",
        *(pl.Series(name, values or [None] * POINTS, dtype=pl.Float64) for name, values in columns.items()),
    )


def _times(cost: StageCost) -> float:
    return cost.actual_over_optimum.value or 1.0


def _share(interval_h: float, cost: StageCost, mtbf_h: float) -> float:
    stall_s = cost.stall_median_s.value or 0.0
    return overhead(interval_h * SECONDS_PER_HOUR, stall_s, mtbf_h * SECONDS_PER_HOUR)
