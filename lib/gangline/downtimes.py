"""Downtimes of a window: how long a lineage did not train after an abnormal end, and who brought it back."""

from collections.abc import Mapping
from dataclasses import replace

import duckdb
import polars as pl

from gangline.estimates import Estimate
from gangline.estimates.quantiles import median, quantiles
from gangline.estimates.shifts import chance_less, rank_sum_p, shift
from gangline.estimates.survival import SurvivalCurve, kaplan_meier
from gangline.exclusions import NO_SESSIONS
from gangline.vocabulary import EndClass, StartKind
from gangline.warehouse.querying import query
from gangline.windows import Window

AUTOMATIC, PREQUEUED, MANUAL = StartKind.AUTOMATIC, StartKind.PREQUEUED, StartKind.MANUAL
KINDS = (AUTOMATIC, PREQUEUED, MANUAL)
MOST_OFTEN_KNOWN = 0.9
FEW = 6
NO_EPISODE = "no downtime begins in the window"
TO_TRAINING, TO_SESSION = "downtime_h", "to_session_h"
MEASURED = {
    TO_TRAINING: "until training began again",
    TO_SESSION: "until the session started that trained again",
}
"""What the hours of `with_hours` go to, in words."""
CARDS = (
    "downtimes.episodes",
    "downtimes.automatic_median_h",
    "downtimes.manual_median_h",
    "downtimes.p_value",
    "downtimes.km_median_h",
)


def figures(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """The `downtimes.*` headlines of a window: downtimes that begin in it, as known at its end.

    Hours are those of `with_hours`; a median carries its order-statistic interval with the true coverage. Censored
    ones (nothing has trained yet) are left out of everything but the counts and `km_median_h`. Where the export
    holds no session, every figure is null and says so.
    """
    if not query(con, "select exists(from marts.sessions where started_at is not null) as found").item():
        return {name: Estimate.missing(unit, NO_SESSIONS, n=0) for name, unit in _UNITS.items()}
    episodes = with_hours(by_episode(con, window))
    return _counts(episodes) | {name: _measured(found, episodes) for name, found in _hours(episodes).items()}


def _hours(episodes: pl.DataFrame) -> dict[str, Estimate]:
    automatic, manual = hours_of(episodes, AUTOMATIC), hours_of(episodes, MANUAL)
    return {
        "downtimes.automatic_median_h": _median(episodes, AUTOMATIC),
        "downtimes.manual_median_h": _median(episodes, MANUAL),
        "downtimes.manual_min_h": _end(episodes, MANUAL, 0.0, "smallest"),
        "downtimes.manual_max_h": _end(episodes, MANUAL, 1.0, "largest"),
        "downtimes.median_ratio": _ratio(_median(episodes, MANUAL), _median(episodes, AUTOMATIC)),
        "downtimes.p_value": _reasoned(rank_sum_p(automatic, manual), episodes),
        "downtimes.km_median_h": _km(episodes),
    }


def case(figures: Mapping[str, Estimate]) -> str:
    """Which sentence fits.

    `no_source` (no session in the export), `none` (no downtime in the window), `compared` (both kinds of recovery
    have a median), else `one_kind`.
    """
    if figures["downtimes.episodes"].value is None:
        return "no_source"
    if not figures["downtimes.episodes"].value:
        return "none"
    return "one_kind" if figures["downtimes.median_ratio"].value is None else "compared"


def by_episode(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Rows of `marts.downtimes_within(window)`."""
    return query(con, "from marts.downtimes_within($start, $end)", start=window.start, end=window.end)


def measured_to(episodes: pl.DataFrame) -> str:
    """Which column the headlines use.

    `downtime_h` (until training began) where at least 90 % of closed episodes have it, else `to_session_h` (until the
    restoring session started), which every closed one has.
    """
    closed = episodes.filter(~pl.col("is_censored"))
    is_known = closed.height and closed[TO_TRAINING].count() >= MOST_OFTEN_KNOWN * closed.height
    return TO_TRAINING if is_known else TO_SESSION


def with_hours(episodes: pl.DataFrame) -> pl.DataFrame:
    """Add `hours`: the length by `measured_to`; null where it has none and where nothing has trained yet."""
    return episodes.with_columns(hours=pl.col(measured_to(episodes)))


def hours_of(episodes: pl.DataFrame, kind: str, by: str = "recovery_kind") -> list[float]:
    """Lengths of the closed episodes of one kind, shortest first."""
    known: list[float] = episodes.filter(pl.col(by) == kind)["hours"].drop_nulls().sort().to_list()
    return known


def survival(episodes: pl.DataFrame) -> SurvivalCurve:
    """Kaplan-Meier over all episodes of `with_hours`: those still down count as far as they were watched."""
    durations = pl.when("is_censored").then("observed_h").otherwise("hours")
    return kaplan_meier(episodes.select(durations).to_series().to_numpy(), ~episodes["is_censored"].to_numpy())


def failures_only(episodes: pl.DataFrame) -> pl.DataFrame:
    """Episodes whose end was a failure: without those that a person or the scheduler ended."""
    return episodes.filter(pl.col("end_class") == EndClass.FAILURE)


def comparison(episodes: pl.DataFrame) -> dict[str, Estimate]:
    """Automatic against manual recoveries: `shift` (Hodges-Lehmann, h), `chance_less` and `p` of the rank sum."""
    automatic, manual = hours_of(episodes, AUTOMATIC), hours_of(episodes, MANUAL)
    return {
        "shift": shift(automatic, manual, "h"),
        "chance_less": chance_less(automatic, manual),
        "p": rank_sum_p(automatic, manual),
    }


def by_kind(episodes: pl.DataFrame) -> pl.DataFrame:
    """Closed episodes by who restored them: n, median with interval and its true coverage, range, all values if few.

    Takes rows of `with_hours`; `values` lists every length where there are fewer than six.
    """
    rows = [_kind_row(episodes, kind) for kind in KINDS]
    return pl.DataFrame(rows, schema=_KIND_SCHEMA, orient="row").filter(pl.col("episodes") > 0)


def by_end(episodes: pl.DataFrame) -> pl.DataFrame:
    """Both counts: all ends that are neither completed nor planned, and failures alone, with their medians."""
    groups = {"all ends neither completed nor planned": episodes, "failures only": failures_only(episodes)}
    rows = [
        (name, group.height, *(str(_median(group, kind)) for kind in (AUTOMATIC, MANUAL)), str(_km(group)))
        for name, group in groups.items()
    ]
    return pl.DataFrame(rows, schema=_END_SCHEMA, orient="row")


def episode_table(episodes: pl.DataFrame) -> pl.DataFrame:
    """Every episode with the sessions that it lies between."""
    return episodes.select(_EPISODE_COLUMNS)


def by_hour(episodes: pl.DataFrame) -> pl.DataFrame:
    """Episodes by the local weekday (1 Monday) and hour of their begin, with how many were failures, and median_h."""
    return (
        episodes.group_by("local_weekday", "local_hour")
        .agg(
            pl.len().cast(pl.Int64).alias("episodes"),
            (pl.col("end_class") == EndClass.FAILURE).sum().cast(pl.Int64).alias("failures"),
            pl.col("hours").median().alias("median_h"),
        )
        .sort("local_weekday", "local_hour")
    )


_UNITS = {
    "downtimes.episodes": "episodes",
    "downtimes.automatic_n": "episodes",
    "downtimes.automatic_median_h": "h",
    "downtimes.manual_n": "episodes",
    "downtimes.manual_median_h": "h",
    "downtimes.manual_min_h": "h",
    "downtimes.manual_max_h": "h",
    "downtimes.prequeued_n": "episodes",
    "downtimes.first_manual_n": "episodes",
    "downtimes.median_ratio": "times",
    "downtimes.censored_n": "episodes",
    "downtimes.p_value": "p",
    "downtimes.km_median_h": "h",
}
_KIND_SCHEMA = {
    "recovery_kind": pl.String,
    "episodes": pl.Int64,
    "failures": pl.Int64,
    "median_h": pl.Float64,
    "low_h": pl.Float64,
    "high_h": pl.Float64,
    "coverage_ratio": pl.Float64,
    "least_h": pl.Float64,
    "most_h": pl.Float64,
    "values": pl.String,
}
_END_SCHEMA = {
    "ends": pl.String,
    "episodes": pl.Int64,
    "automatic_median": pl.String,
    "manual_median": pl.String,
    "kaplan_meier_median": pl.String,
}
_EPISODE_COLUMNS = (
    "failed_session_id",
    "restoring_session_id",
    "started_at",
    "session_restored_at",
    "training_restored_at",
    "to_session_h",
    "downtime_h",
    "recovery_kind",
    "first_response",
    "failed_attempts",
    "end_class",
    "is_censored",
    "lineage_id",
    "chain_id",
)


def _counts(episodes: pl.DataFrame) -> dict[str, Estimate]:
    kinds = pl.col("recovery_kind")
    counts = {
        "episodes": pl.lit(value=True),
        "automatic_n": kinds == AUTOMATIC,
        "manual_n": kinds == MANUAL,
        "prequeued_n": kinds == PREQUEUED,
        "first_manual_n": pl.col("first_response") == MANUAL,
        "censored_n": pl.col("is_censored"),
    }
    return {f"downtimes.{name}": _count(episodes.filter(chosen).height, episodes) for name, chosen in counts.items()}


def _measured(estimate: Estimate, episodes: pl.DataFrame) -> Estimate:
    if estimate.value is None:
        return estimate
    return replace(estimate, method=f"{estimate.method}; {MEASURED[measured_to(episodes)]}")


def _count(count: int, episodes: pl.DataFrame) -> Estimate:
    return Estimate(float(count), "episodes", episodes.height, method="count")


def _median(episodes: pl.DataFrame, kind: str) -> Estimate:
    known = hours_of(episodes, kind)
    if not known:
        return Estimate.missing("h", _none_of(episodes, kind), n=0)
    return median(known, "h")


def _end(episodes: pl.DataFrame, kind: str, level: float, which: str) -> Estimate:
    known = hours_of(episodes, kind)
    if not known:
        return Estimate.missing("h", _none_of(episodes, kind), n=0, method=which)
    return Estimate(quantiles(known, [level]).values[0], "h", len(known), method=which)


def _none_of(episodes: pl.DataFrame, kind: str) -> str:
    if episodes.is_empty():
        return NO_EPISODE
    return "no retry ended a downtime" if kind == AUTOMATIC else "no person ended a downtime"


def _reasoned(p: Estimate, episodes: pl.DataFrame) -> Estimate:
    if p.value is not None:
        return p
    missing = next((kind for kind in (AUTOMATIC, MANUAL) if not hours_of(episodes, kind)), MANUAL)
    return Estimate.missing("p", _none_of(episodes, missing), n=p.n)


def _ratio(first: Estimate, second: Estimate) -> Estimate:
    method = "median of manual over median of automatic recoveries"
    n = (first.n or 0) + (second.n or 0)
    if first.value is None or second.value is None:
        return Estimate.missing("times", str(first.reason or second.reason), n=n, method=method)
    if second.value == 0:
        return Estimate.missing("times", "the median of automatic recoveries is 0", n=n, method=method)
    return Estimate(first.value / second.value, "times", n, method=method)


def _kind_row(episodes: pl.DataFrame, kind: str) -> tuple[object, ...]:
    rows, known = episodes.filter(pl.col("recovery_kind") == kind), hours_of(episodes, kind)
    middle = median(known, "h")
    values = ", ".join(f"{value:.2f}" for value in known) if len(known) < FEW else None
    ends = (known[0], known[-1]) if known else (None, None)
    counts = (rows.height, failures_only(rows).height)
    return (str(kind), *counts, middle.value, middle.low, middle.high, middle.level, *ends, values)


def _km(episodes: pl.DataFrame) -> Estimate:
    return survival(episodes).median("h") if episodes.height else Estimate.missing("h", NO_EPISODE, n=0)
