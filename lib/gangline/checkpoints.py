"""Checkpoints of a window: what saving costs, what failing loses, and what the interval between saves should be."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import duckdb
import polars as pl

from gangline import cadences, exposures, lost_times, startups
from gangline.estimates import Estimate
from gangline.estimates.checkpoint_interval import optimum, optimum_overhead, over_optimum, overhead_at
from gangline.estimates.rates import rates_p
from gangline.exposures import Exposure
from gangline.warehouse.querying import query
from gangline.windows import Window

NO_GANG = "no gang session runs in the window"
NOT_SEEN = "neither telemetry nor a run tells of saves"
NO_SAVES = "no save starts in the window"
CARDS = (
    "checkpoints.saves",
    "checkpoints.mtbf_h",
    "checkpoints.lost_mean_h",
    "checkpoints.lost_total_h",
    "checkpoints.load_median_min",
)


@dataclass(frozen=True)
class StageCost:
    """What the saves of a stage cost, and what they should: the estimates of one stage."""

    interval_median_h: Estimate
    stall_median_s: Estimate
    young_optimum_min: Estimate
    actual_over_optimum: Estimate
    overhead_actual: Estimate
    overhead_optimum: Estimate


@dataclass(frozen=True)
class Checkpoints:
    """All that the page tells of a window.

    Attributes
    ----------
    reason, load_reason
        Why saves, and loads, cannot be told in the window; null where they can be.
    saves
        Rows of `cadences.saves`.
    stages
        Every stage of the export, in order, with its costs in the window.
    exposure
        What trained, and how it ended.
    lost
        Rows of `lost_times.by_end`.
    loads
        Rows of `startups.loads`.
    """

    reason: str | None
    load_reason: str | None
    saves: pl.DataFrame
    exposure: Exposure
    mtbf: Estimate
    lost: pl.DataFrame
    loads: pl.DataFrame
    stages: Mapping[str, StageCost] = field(default_factory=dict)

    @property
    def intervals_h(self) -> dict[str, float]:
        """Median interval by stage, of stages that have one."""
        known = {stage: cost.interval_median_h.value for stage, cost in self.stages.items()}
        return {stage: value for stage, value in known.items() if value is not None}


def measured(con: duckdb.DuckDBPyConnection, window: Window) -> Checkpoints:
    """Measure everything of a window once; `figures` and the tables and pictures take it from here."""
    exposure, saves, reason = exposures.exposure(con, window), cadences.saves(con, window), absence(con, window)
    mtbf = exposures.figures(exposure)["checkpoints.mtbf_h"]
    stages = {stage: _cost(saves, stage, mtbf, reason) for stage in cadences.stages(con)}
    known = {stage: cost.interval_median_h.value for stage, cost in stages.items()}
    intervals_h = {stage: value for stage, value in known.items() if value is not None}
    lost = lost_times.by_end(con, exposure, intervals_h)
    loads = startups.loads(con, window)
    return Checkpoints(reason, load_absence(con, window), saves, exposure, mtbf, lost, loads, stages)


def figures(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """The `checkpoints.*` headlines of a window, those of a stage as `<id>.<stage>`.

    Saves and loads that start in the window; ends and training hours that fall in it.
    """
    return headlines(measured(con, window))


def headlines(found: Checkpoints) -> dict[str, Estimate]:
    """The same figures of what was measured already."""
    by_stage = {
        f"checkpoints.{name}.{stage}": getattr(cost, name)
        for name in StageCost.__dataclass_fields__
        for stage, cost in found.stages.items()
    }
    return {
        "checkpoints.saves": _saves(found),
        **by_stage,
        **exposures.figures(found.exposure),
        **lost_times.figures(found.lost),
        **startups.figures(found.loads, found.load_reason),
        "checkpoints.save_write_share_of_max": _write_share(found),
    }


def changes(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, float]:
    """The exact p that ends come as often as in the window before, by figure id; empty with nothing to compare."""
    before = window.previous()
    if before is None:
        return {}
    now, then = exposures.exposure(con, window), exposures.exposure(con, before)
    p = rates_p(now.ends.height, now.hours, then.ends.height, then.hours)
    return {} if p.value is None else {"checkpoints.mtbf_h": p.value}


def case(found: Checkpoints) -> str:
    """Which sentence fits.

    `unseen` (saves cannot be told), `none` (no save in the window), `optimum` (a stage has an interval and an optimum),
    else `cadence` (only one of the two).
    """
    if found.reason:
        return "unseen"
    if found.saves.is_empty():
        return "none"
    return "optimum" if any(cost.actual_over_optimum.value is not None for cost in found.stages.values()) else "cadence"


def absence(con: duckdb.DuckDBPyConnection, window: Window) -> str | None:
    """Why saves cannot be told in the window at all; null where a run or telemetry of one gang session tells them."""
    return _absence(con, window, _UNSEEN)


def load_absence(con: duckdb.DuckDBPyConnection, window: Window) -> str | None:
    """Why loads cannot be told in the window at all; null where telemetry of one gang session tells them."""
    return _absence(con, window, _UNREAD)


def coverage(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Gang sessions that ran in the window, least covered first: how many steps are known, saves, and what is missing.

    Rows of `marts.checkpoint_sessions`; `is_told` where a run or telemetry tells of saves in the window.
    """
    return query(con, _COVERAGE, start=window.start, end=window.end)


def silent(coverage: pl.DataFrame) -> pl.DataFrame:
    """Of `coverage` rows, the sessions whose saves neither a run nor telemetry tells, with the reason."""
    untold = coverage.filter(~pl.col("is_told"))
    return untold.select("session_id", "started_at", "until_at", "node_count", "known_ratio", "telemetry_reason")


def twice_told(coverage: pl.DataFrame) -> pl.DataFrame:
    """Of `coverage` rows, the sessions whose saves a run logs, with how many telemetry shows beside them."""
    logged = coverage.filter(pl.col("save_evidence") == "logged")
    return logged.select("session_id", "started_at", "saves", "telemetry_saves", "telemetry_reason")


def best_known(found: Checkpoints) -> Estimate:
    """The optimum of the first stage that has an interval, else of the first stage: for the reason that it is null."""
    return min(found.stages.values(), key=_lacks_interval).young_optimum_min


_WITHIN = "started_at < $end and (until_at > $start or started_at >= $start)"
_OUTSIDE = "no telemetry of its nodes from within the window"
_TOLD = """
    (save_evidence is not null and (save_evidence = 'logged' or known_from < $end and known_until > $start))
"""
_UNSEEN = f"""
    select coalesce(bool_or({_TOLD}), false) as is_told, mode(coalesce(telemetry_reason, '{_OUTSIDE}')) as reason,
        count(*) as sessions, (select save_reason from marts.checkpoint_rules) as rule
    from marts.checkpoint_sessions where {_WITHIN}
"""  # noqa: S608
_UNREAD = f"""
    select coalesce(bool_or(
            has_load or read_known_ratio > 0 and util_known_ratio > 0 and load_reason not like '%not told from saves'
        ), false) as is_told,
        mode(load_reason) as reason, count(*) as sessions, (select load_reason from marts.checkpoint_rules) as rule
    from marts.checkpoint_sessions where {_WITHIN}
"""  # noqa: S608
_COVERAGE = f"""
    select session_id, started_at, until_at, node_count, known_ratio, saves, save_evidence, telemetry_saves,
        if({_TOLD}, telemetry_reason, coalesce(telemetry_reason, '{_OUTSIDE}')) as telemetry_reason, load_reason,
        coalesce({_TOLD}, false) as is_told
    from marts.checkpoint_sessions where {_WITHIN}
    order by known_ratio nulls first, started_at, session_id
"""  # noqa: S608


def _absence(con: duckdb.DuckDBPyConnection, window: Window, sql: str) -> str | None:
    is_told, reason, sessions, rule = query(con, sql, start=window.start, end=window.end).row(0)
    if rule and not is_told:
        return str(rule)
    if not sessions:
        return NO_GANG
    return None if is_told else str(reason or NOT_SEEN)


def _lacks_interval(cost: StageCost) -> bool:
    return cost.interval_median_h.value is None


def _cost(saves: pl.DataFrame, stage: str, mtbf: Estimate, reason: str | None) -> StageCost:
    if reason:
        interval, stall = Estimate.missing("h", reason, n=0), Estimate.missing("s", reason, n=0)
    else:
        interval, stall = cadences.interval(saves, stage), cadences.stall(saves, stage)
    best = optimum(stall, mtbf)
    return StageCost(
        interval,
        stall,
        best,
        over_optimum(interval, best),
        overhead_at(interval, stall, mtbf),
        optimum_overhead(best, stall, mtbf),
    )


def _saves(found: Checkpoints) -> Estimate:
    if found.reason:
        return Estimate.missing("saves", found.reason, n=0)
    return Estimate(float(found.saves.height), "saves", found.saves.height, method="count")


def _write_share(found: Checkpoints) -> Estimate:
    """Mean over saves of the mean write rate over the storage's maximum."""
    if found.reason:
        return Estimate.missing("ratio", found.reason, n=0)
    told = found.saves.filter(pl.col("mean_bytes_per_s").is_not_null())
    if told.is_empty() and found.saves.height:
        return Estimate.missing("ratio", "no save is seen in the telemetry", n=0)
    return startups.share_of_max(told["write_share"], "write", NO_SAVES)
