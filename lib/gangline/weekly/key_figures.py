"""The key figures of a week's first page, for it and for the windows before, all on today's data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

import duckdb
import polars as pl

from gangline import exclusions, exposures, retries, scrapes
from gangline.estimates import Estimate
from gangline.estimates.rates import event_count, mean_time_between, rates_p
from gangline.estimates.wording import words
from gangline.exposures import Exposure
from gangline.warehouse import reaches_into
from gangline.warehouse.querying import query
from gangline.weekly.lost_hours import NAMES, UNIT, LostHours, lost_hours
from gangline.windows import Window

WINDOWS_BEFORE = 8
MTBF_DAYS = 28
CARDS = (
    "exclusions.gang_time_share",
    "weekly.abnormal_ends",
    "weekly.failure_ends",
    "weekly.mtbf_4w_h",
    "weekly.down_h",
    "weekly.lost_gpu_h",
    "retries.chain_success",
    "exclusions.top3_share_hours",
    "weekly.coverage",
)
NO_GANGS = "no gang session runs in the window"
NO_TELEMETRY = "no telemetry was read"
NOT_SCRAPED = "no scrape of the window was read"


@dataclass(frozen=True)
class Week:
    """Key figures of a window and of those before it.

    Attributes
    ----------
    figures
        Of the window itself, by id.
    before
        Values of the same figures in up to eight windows before, oldest first; None where the export does not reach.
    tests
        The exact p of a figure that is a rate against the window before, by id.
    """

    lost: LostHours
    lost_before: LostHours | None
    figures: Mapping[str, Estimate]
    before: Mapping[str, tuple[float | None, ...]]
    tests: Mapping[str, float]

    @property
    def case(self) -> str:
        """Which sentence fits: `no_gang` (none ran in the window), else `found`."""
        return "no_gang" if self.figures["weekly.abnormal_ends"].value is None else "found"

    @property
    def largest_cause(self) -> str:
        """The cause that cost most, as a table names it, with its hours."""
        cause = self.lost.largest
        if cause is None:
            return "none"
        hours = float(self.lost.rows.filter(pl.col("cause") == cause)["lost_gpu_h"].item())
        return f"{lowered(NAMES[cause])} ({words(hours, UNIT)})"


def week(con: duckdb.DuckDBPyConnection, window: Window) -> Week:
    """Measure a window, and the eight before it as they stand on today's data."""
    lost = lost_hours(con, window)
    earlier = list(reversed(window.before(WINDOWS_BEFORE)))
    losses = [lost_hours(con, before) if reaches_into(con, before) else None for before in earlier]
    pairs = zip(earlier, losses, strict=True)
    measured = [found and figures(con, before, found) for before, found in pairs]
    own = figures(con, window, lost)
    return Week(
        lost,
        losses[-1] if losses else None,
        own,
        {name: tuple(found[name].value if found else None for found in measured) for name in own},
        _tests(lost.found.exposure, losses[-1].found.exposure) if losses and losses[-1] else {},
    )


def figures(con: duckdb.DuckDBPyConnection, window: Window, lost: LostHours) -> dict[str, Estimate]:
    """The figures of `CARDS` for one window."""
    return {
        "exclusions.gang_time_share": exclusions.gang_time(con, window)["exclusions.gang_time_share"],
        **_ends(con, window),
        "weekly.mtbf_4w_h": mtbf(con, window),
        "weekly.down_h": down(con, window),
        "weekly.lost_gpu_h": lost.total,
        "retries.chain_success": retries.figures(con, window)["retries.chain_success"],
        "exclusions.top3_share_hours": exclusions.concentration(con, window)["exclusions.top3_share_hours"],
        "weekly.coverage": coverage(con, window),
    }


def mtbf(con: duckdb.DuckDBPyConnection, window: Window) -> Estimate:
    """Training hours per abnormal end over the four weeks up to the window's end (one week has too few ends)."""
    found = exposures.exposure(con, _four_weeks(window))
    if found.sessions.is_empty():
        return Estimate.missing("h", "no gang session trains in these four weeks", n=0)
    return mean_time_between(found.ends.height, found.hours)


def down(con: duckdb.DuckDBPyConnection, window: Window) -> Estimate:
    """Hours of the window in which some lineage that had trained was down: the union of its downtimes, clipped."""
    hours, episodes, gangs = query(con, _DOWN, start=window.start, end=window.end).row(0)
    if not gangs:
        return Estimate.missing("h", NO_GANGS, n=0)
    return Estimate(float(hours or 0.0), "h", episodes, method="union of downtimes, clipped to the window")


def coverage(con: duckdb.DuckDBPyConnection, window: Window) -> Estimate:
    """The share of the window's scrapes that were read, all targets together."""
    if not scrapes.has_telemetry(con):
        return Estimate.missing("ratio", NO_TELEMETRY, n=0)
    days = query(con, _COVERAGE, first=scrapes.days(window)[0].date(), after=scrapes.days(window)[1].date())
    share, targets = days.row(0)
    if share is None:
        return Estimate.missing("ratio", NOT_SCRAPED, n=0)
    return Estimate(float(share), "ratio", targets, method="seconds covered by scrapes over seconds wanted")


def ends(con: duckdb.DuckDBPyConnection, window: Window, week: Week) -> pl.DataFrame:
    """Gang sessions that ended in the window, neither completed nor planned, latest first; `week` tells what they lost.

    session_id, run_name, ended_at, end_class, end_reason, lost_h (null where nothing tells), evidence.
    """
    sessions = query(con, _ENDED, start=window.start, end=window.end)
    lost = week.lost.found.lost.select("session_id", "lost_h", "evidence")
    return sessions.join(lost, on="session_id", how="left", maintain_order="left")


def lowered(sentence: str) -> str:
    """A sentence as a part of another.

    >>> lowered("Down or drained nodes")
    'down or drained nodes'
    """
    return sentence[:1].lower() + sentence[1:]


def _four_weeks(window: Window) -> Window:
    return replace(window, start=min(window.start, window.end - timedelta(days=MTBF_DAYS)))


def _ends(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    counted = query(con, _ENDS, start=window.start, end=window.end).row(0, named=True)
    if not counted["gangs"]:
        return {f"weekly.{name}_ends": Estimate.missing("ends", NO_GANGS, n=0) for name in ("abnormal", "failure")}
    return {f"weekly.{name}_ends": event_count(counted[name], "ends") for name in ("abnormal", "failure")}


def _tests(now: Exposure, then: Exposure) -> dict[str, float]:
    """Ends per training hour against the window before; four weeks against the four before overlap too much to test."""
    counts: dict[str, Callable[[Exposure], pl.DataFrame]] = {
        "weekly.abnormal_ends": lambda found: found.ends,
        "weekly.failure_ends": lambda found: found.failures,
    }
    tested = {
        name: rates_p(ends(now).height, now.hours, ends(then).height, then.hours) for name, ends in counts.items()
    }
    return {name: p.value for name, p in tested.items() if p.value is not None}


_ENDS = """
    with gangs as (
        select * from marts.sessions where is_gang and started_at < $end and until_at >= $start
    )
    select count(*) as gangs,
        count(*) filter (where ended_at >= $start and ended_at < $end and is_abnormal_end) as abnormal,
        count(*) filter (where ended_at >= $start and ended_at < $end and is_failure) as failure
    from gangs
"""
_ENDED = """
    select session_id, run_name, ended_at, end_class, end_reason
    from marts.ends_within($start, $end) where is_gang and is_abnormal_end order by ended_at desc, session_id
"""
_DOWN = """
    with clipped as (
        select downtime_id, greatest(started_at, $start) as from_at,
            least(coalesce(training_restored_at, session_restored_at, observed_until), $end) as to_at
        from marts.downtimes
        where started_at < $end and coalesce(training_restored_at, session_restored_at, observed_until) > $start
    ),
    ordered as (
        select *, greatest(from_at, coalesce(max(to_at) over (
            order by from_at, to_at, downtime_id rows between unbounded preceding and 1 preceding
        ), from_at)) as new_from_at
        from clipped
    )
    select sum(greatest(0, hours_between(new_from_at, to_at))) as hours, count(*) as episodes,
        (select count(*) from marts.sessions where is_gang and started_at < $end and until_at >= $start) as gangs
    from ordered
"""
_COVERAGE = """
    select sum(coverage_ratio * wanted_s) / nullif(sum(wanted_s) filter (where coverage_ratio is not null), 0) as share,
        count(distinct (node, job)) as targets
    from marts.scrape_days where day >= $first and day < $after
"""
