"""Training exposure of a window and the ends that broke it off: the time between failures, by both counts of ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import duckdb
import polars as pl

from gangline.estimates import Estimate
from gangline.estimates.rates import mean_time_between, per_1000_node_days
from gangline.estimates.weibull import WeibullFit, event_gaps, weibull
from gangline.exclusions import NO_SESSIONS
from gangline.warehouse.querying import query
from gangline.windows import Window

NO_TRAINING = "no gang session trains in the window"
ALL_ENDS, FAILURES = "ends neither completed nor planned", "failures only"
TRAINED = "of all ends, those of sessions that had reached training"


@dataclass(frozen=True)
class Exposure:
    """Gang sessions that trained in a window, and for how long.

    Attributes
    ----------
    sessions
        A row a gang session, by start: session_id, lineage_id, node_count, started_at, ended_at, training_from,
        reached_training, end_class, is_abnormal_end, is_failure, ends_within, run_ids, exposure_h (clipped to the
        window; runs side by side count once), node_h, shown_from, shown_to.
    is_from_runs
        Whether linked runs tell the time; else sessions that reached training stand in, from start to end.
    unlinked
        Gang sessions of the window that reached training, but have no linked run: left out where runs tell.
    has_sessions
        Whether the export holds a started session at all.
    """

    sessions: pl.DataFrame
    is_from_runs: bool
    unlinked: int
    has_sessions: bool

    @cached_property
    def ends(self) -> pl.DataFrame:
        """Sessions that ended in the window, neither completed nor planned, in order of their ends."""
        return self.sessions.filter("ends_within", "is_abnormal_end").sort("ended_at", "session_id")

    @cached_property
    def failures(self) -> pl.DataFrame:
        """Ends that were failures."""
        return self.ends.filter("is_failure")

    @property
    def hours(self) -> float:
        """Training hours in the window."""
        return float(self.sessions["exposure_h"].sum())

    @property
    def node_hours(self) -> float:
        """The same times the nodes of each session."""
        return float(self.sessions["node_h"].sum())

    @property
    def source(self) -> str:
        """What the hours are of, in words."""
        return "wall time of linked runs" if self.is_from_runs else "gang sessions that reached training: no run linked"


def exposure(con: duckdb.DuckDBPyConnection, window: Window) -> Exposure:
    """What trained in a window: linked runs of gang sessions, open ones included, else sessions that reached training.

    A session that ended in the window counts, though its run may have ended before.
    """
    span = {"start": window.start, "end": window.end}
    by_run, by_session = query(con, _BY_RUN, **span), query(con, _BY_SESSION, **span)
    has_sessions = bool(query(con, "select exists(from marts.sessions where has_started) as found").item())
    is_from_runs = by_run.height > 0
    unlinked = by_session.join(by_run, on="session_id", how="anti").height if is_from_runs else 0
    return Exposure(by_run if is_from_runs else by_session, is_from_runs, unlinked, has_sessions)


def figures(found: Exposure) -> dict[str, Estimate]:
    """`checkpoints.{runs, abnormal_ends, failure_ends, training_h, mtbf_h}`; all null where nothing trained."""
    if found.sessions.is_empty():
        reason = NO_TRAINING if found.has_sessions else NO_SESSIONS
        return {name: Estimate.missing(unit, reason, n=0) for name, unit in _UNITS.items()}
    runs, unit = _runs(found), "runs" if found.is_from_runs else "sessions"
    return {
        "checkpoints.runs": Estimate(float(runs), unit, runs, method=f"count, {found.source}"),
        "checkpoints.abnormal_ends": _count(found.ends.height, found, ALL_ENDS),
        "checkpoints.failure_ends": _count(found.failures.height, found, FAILURES),
        "checkpoints.training_h": Estimate(found.hours, "h", runs, method=f"sum, {found.source}"),
        "checkpoints.mtbf_h": mean_time_between(found.ends.height, found.hours),
    }


def by_ends(found: Exposure) -> pl.DataFrame:
    """Both counts of ends, and where some never trained, those that did, with their time between and rate.

    ends, count, mtbf_h, low_h, high_h, rate_per_1000_node_days with its interval.
    """
    counts = {ALL_ENDS: found.ends.height, FAILURES: found.failures.height}
    trained = found.ends.filter("reached_training").height
    if trained < found.ends.height:
        counts[TRAINED] = trained
    rows = []
    for name, count in counts.items() if found.sessions.height else ():
        between, rate = mean_time_between(count, found.hours), per_1000_node_days(count, found.node_hours)
        rows.append((name, count, between.value, between.low, between.high, rate.value, rate.low, rate.high))
    return pl.DataFrame(rows, schema=_END_SCHEMA, orient="row")


def gaps(found: Exposure) -> WeibullFit:
    """Weibull law of the training hours between ends of one lineage, the last stretch of each still open.

    Hours in which nothing trained do not count, so a long downtime does not make a gap.
    """
    starts: dict[str, Sequence[float]] = {}
    until: dict[str, float] = {}
    for (lineage,), sessions in found.sessions.sort("shown_to", "session_id").group_by("lineage_id"):
        trained = sessions.with_columns(trained_h=pl.col("exposure_h").cum_sum())
        name, until_h = str(lineage), float(sessions["exposure_h"].sum())
        ended = trained.filter("ends_within", "is_abnormal_end")["trained_h"]
        starts[name], until[name] = ended.clip(upper_bound=until_h).to_list(), until_h
    spans = event_gaps(starts, until)
    return weibull(spans.durations, spans.is_ended, "h")


_UNITS = {
    "checkpoints.runs": "runs",
    "checkpoints.abnormal_ends": "ends",
    "checkpoints.failure_ends": "ends",
    "checkpoints.training_h": "h",
    "checkpoints.mtbf_h": "h",
}
_END_SCHEMA = {
    "ends": pl.String,
    "count": pl.Int64,
    "mtbf_h": pl.Float64,
    "low_h": pl.Float64,
    "high_h": pl.Float64,
    "rate_per_1000_node_days": pl.Float64,
    "low_per_1000_node_days": pl.Float64,
    "high_per_1000_node_days": pl.Float64,
}
_GANGS = """
    gangs as (
        select session_id, lineage_id, node_count, started_at, ended_at, until_at, training_from, reached_training,
            end_class, coalesce(is_abnormal_end, false) as is_abnormal_end, coalesce(is_failure, false) as is_failure,
            coalesce(ended_at >= $start and ended_at < $end, false) as ends_within
        from marts.sessions
        where is_gang and started_at < $end
    )
"""
_COLUMNS = """
    gangs.* exclude (until_at), coalesce(shown.exposure_h, 0) as exposure_h,
    coalesce(shown.exposure_h, 0) * gangs.node_count as node_h,
    coalesce(shown.shown_from, gangs.started_at) as shown_from, coalesce(shown.shown_to, gangs.ended_at) as shown_to
"""
_BY_RUN = f"""
    with {_GANGS},
    clipped as (
        select session_id, run_id, process, greatest(started_at, $start) as from_at,
            least(coalesce(ended_at, started_at), $end) as to_at
        from marts.run_processes semi join gangs using (session_id)
        where started_at < $end and (ended_at > $start or started_at >= $start)
    ),
    ordered as (
        select *, greatest(from_at, coalesce(max(to_at) over (
            partition by session_id order by from_at, to_at, run_id, process
            rows between unbounded preceding and 1 preceding
        ), from_at)) as new_from
        from clipped
    ),
    shown as (
        select session_id, list(distinct run_id order by run_id) as run_ids, min(from_at) as shown_from,
            max(to_at) as shown_to, sum(greatest(0, hours_between(new_from, to_at))) as exposure_h
        from ordered group by session_id
    ),
    linked as (select distinct session_id from marts.run_processes where started_at < $end)
    select {_COLUMNS}, coalesce(shown.run_ids, []) as run_ids
    from gangs semi join linked using (session_id) left join shown using (session_id)
    where shown.session_id is not null or gangs.ends_within
    order by gangs.started_at, gangs.session_id
"""  # noqa: S608
_BY_SESSION = f"""
    with {_GANGS},
    shown as (
        select session_id, greatest(started_at, $start) as shown_from, least(until_at, $end) as shown_to,
            greatest(0, hours_between(greatest(started_at, $start), least(until_at, $end))) as exposure_h
        from gangs where reached_training and (until_at > $start or started_at >= $start)
    )
    select {_COLUMNS}, []::varchar[] as run_ids
    from gangs join shown using (session_id)
    order by gangs.started_at, gangs.session_id
"""  # noqa: S608


def _runs(found: Exposure) -> int:
    if not found.is_from_runs:
        return found.sessions.height
    return found.sessions["run_ids"].explode(empty_as_null=False).n_unique()


def _count(count: int, found: Exposure, which: str) -> Estimate:
    return Estimate(float(count), "ends", _runs(found), method=f"count, {which}")
