"""Failures over exposure, in two kinds that are never mixed: job interruptions of gangs, and incidents of nodes."""

from dataclasses import dataclass

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gangline import exposures
from gangline.estimates import Estimate
from gangline.estimates.rates import per_1000_node_days
from gangline.exposures import Exposure
from gangline.incidents import Dispersion, dispersion_of
from gangline.units import HOURS_PER_DAY
from gangline.warehouse.querying import query
from gangline.windows import Window

NO_SOURCE = 'a kernel log ([[sources]] kind = "kernel_log") or the XID gauge of the telemetry is needed'
JOBS, NODES = "job interruptions", "node incidents"
ALL_GANGS = "of all gangs"


@dataclass(frozen=True)
class Rate:
    """Events over exposure: the estimate, widened where counts are overdispersed, and what it was made of.

    Attributes
    ----------
    counts
        Events of equal stretches of the exposure, in order of time.
    """

    what: str
    count: int
    node_h: float
    counts: NDArray[np.int64]

    @property
    def dispersion(self) -> Dispersion:
        """How much more than by chance the counts of equal stretches vary."""
        return dispersion_of(self.counts)

    @property
    def plain(self) -> Estimate:
        """The rate per 1,000 node-days with the exact interval of independent events."""
        return per_1000_node_days(self.count, self.node_h)

    @property
    def widened(self) -> Estimate:
        """The same, the interval widened by the dispersion index where counts are overdispersed."""
        return per_1000_node_days(self.count, self.node_h, dispersion=self.dispersion.widening)


def of_jobs(found: Exposure) -> Rate:
    """Ends neither completed nor planned of gang sessions that trained, over the node-days that they trained."""
    return Rate(JOBS, found.ends.height, found.node_hours, _by_gang_day(found.sessions))


def of_failures(found: Exposure) -> Rate:
    """The same of failures only."""
    failed = found.sessions.with_columns(is_abnormal_end=pl.col("is_failure"))
    return Rate(f"{JOBS}, failures only", found.failures.height, found.node_hours, _by_gang_day(failed))


def of_all_gangs(con: duckdb.DuckDBPyConnection, window: Window) -> Rate:
    """The same over all gang sessions: attempts that never trained are interruptions here, their hours exposure."""
    sessions = query(con, _ALL_GANGS, start=window.start, end=window.end)
    ends = sessions.filter("ends_within", "is_abnormal_end").height
    return Rate(f"{JOBS} {ALL_GANGS}", ends, float(sessions["node_h"].sum()), _by_gang_day(sessions))


def of_nodes(con: duckdb.DuckDBPyConnection, window: Window) -> Rate:
    """Incidents that begin in a window over in-service node-days in which a kernel log or a gauge told of the node."""
    watched = watch(con, window)
    days = query(con, _DAILY, start=window.start, end=window.end)["incidents"].to_numpy()
    return Rate(NODES, int(watched["incidents"].sum()), float(watched["watched_h"].sum()), days)


def watch(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Nodes of the inventory in service: node, has_kernel_log, has_gauge, watched_h, incidents, xid_events.

    A node is watched from its first kernel message, or sample of the XID gauge, to the export time of the kernel logs,
    or its gauge's last sample; clipped to its service and the window.
    """
    return query(con, _WATCH, start=window.start, end=window.end)


def has_source(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether any kernel log or XID gauge was read, with an event in it or not."""
    return bool(query(con, _HAS_SOURCE).item())


def table(con: duckdb.DuckDBPyConnection, window: Window, found: Exposure) -> pl.DataFrame:
    """All rates beside each other, kinds apart.

    what, events, node_days, rate_per_1000_node_days, low_..., high_..., widening (the dispersion index, 1 where it is
    not beyond chance).
    """
    rates: list[Rate] = [of_jobs(found), of_failures(found), of_all_gangs(con, window)]
    if has_source(con):
        rates.append(of_nodes(con, window))
    return pl.DataFrame([_row(rate) for rate in rates], schema=_SCHEMA, orient="row")


def figures(con: duckdb.DuckDBPyConnection, window: Window, found: Exposure) -> dict[str, Estimate]:
    """`failures.{job_per_1000_node_days, node_per_1000_node_days}`; null, with reasons, where nothing tells."""
    nothing = exposures.figures(found)["checkpoints.training_h"].reason
    unit = "per_1000_node_days"
    jobs = Estimate.missing(unit, nothing, n=0) if nothing else of_jobs(found).widened
    nodes = of_nodes(con, window).widened if has_source(con) else Estimate.missing(unit, NO_SOURCE, n=0)
    return {"failures.job_per_1000_node_days": jobs, "failures.node_per_1000_node_days": nodes}


_SCHEMA = {
    "what": pl.String,
    "events": pl.Int64,
    "node_days": pl.Float64,
    "rate_per_1000_node_days": pl.Float64,
    "low_per_1000_node_days": pl.Float64,
    "high_per_1000_node_days": pl.Float64,
    "widening": pl.Float64,
}


def _row(rate: Rate) -> tuple[object, ...]:
    said = rate.widened
    days = rate.node_h / HOURS_PER_DAY
    return rate.what, rate.count, days, said.value, said.low, said.high, rate.dispersion.widening


def _by_gang_day(sessions: pl.DataFrame) -> NDArray[np.int64]:
    """Ends by stretches of equal exposure, each as long as the mean gang needs for a day; the rest is left out."""
    hours, nodes = float(sessions["exposure_h"].sum()), float(sessions["node_h"].sum())
    if not hours or not nodes:
        return np.zeros(0, np.int64)
    stretch = HOURS_PER_DAY * nodes / hours
    ordered = sessions.sort("shown_to", "session_id").with_columns(passed=pl.col("node_h").cum_sum())
    ends = ordered.filter("ends_within", "is_abnormal_end")["passed"].to_numpy()
    return _binned(ends, stretch, int(nodes / stretch + 1e-9))


def _binned(places: NDArray[np.float64], stretch: float, count: int) -> NDArray[np.int64]:
    """How many places lie in each of `count` stretches; one on an edge ends the stretch before it."""
    steps = np.ceil(places / stretch - 1e-9).astype(np.int64) - 1
    kept = steps[(steps >= 0) & (steps < count)]
    return np.bincount(kept, minlength=count).astype(np.int64)


_SOURCES = """
    logs as (
        select logs.node, min(least(coalesce(boot_at, first_at), first_at)) as from_at,
            max(greatest(files.observed_until, latest_at)) as to_at
        from staging.stg_exports__kernel_logs as logs join intermediate.int_files_dated as files using (file_id)
        where logs.node is not null and first_at is not null
        group by logs.node
    ),
    gauges as (
        select node, min(first_at) as from_at, max(last_at) as to_at from marts.series
        semi join meta.xid_series using (series_id) where node is not null group by node
    )
"""
_WATCHED = f"""
    {_SOURCES},
    seen as (
        select node, logs.node is not null as has_kernel_log, gauges.node is not null as has_gauge,
            least(logs.from_at, gauges.from_at) as seen_from, greatest(logs.to_at, gauges.to_at) as seen_to
        from logs full join gauges using (node)
    ),
    served as (
        select node, coalesce(has_kernel_log, false) as has_kernel_log, coalesce(has_gauge, false) as has_gauge,
            seen_from, seen_to, coalesce(in_service_from, $start) as in_from, coalesce(in_service_to, $end) as in_to
        from marts.nodes left join seen using (node)
    ),
    watched as (
        select node, has_kernel_log, has_gauge,
            if(seen_from is null, null, greatest(seen_from, in_from, $start)) as from_at,
            if(seen_from is null, null, least(seen_to, in_to, $end)) as to_at
        from served where in_from < $end and in_to > $start
    )
"""  # noqa: S608
_WATCH = f"""
    with {_WATCHED},
    incidents as (
        select node, count(*) as incidents from marts.incidents_within($start::timestamptz, $end::timestamptz)
        group by node
    ),
    events as (
        select node, count(*) as xid_events from marts.xid_events_within($start::timestamptz, $end::timestamptz)
        group by node
    )
    select watched.node, has_kernel_log, has_gauge,
        greatest(0, coalesce(hours_between(from_at, to_at), 0)) as watched_h,
        coalesce(incidents.incidents, 0) as incidents, coalesce(events.xid_events, 0) as xid_events
    from watched left join incidents using (node) left join events using (node)
    order by watched.node
"""  # noqa: S608
_HAS_SOURCE = f"""
    with {_SOURCES}
    select exists(from meta.files where kind = 'kernel_log') or exists(from gauges) as has_source
"""
_DAILY = f"""
    with {_WATCHED},
    ends as (select min(from_at) as from_at, max(to_at) as to_at from watched where to_at > from_at),
    days as (select unnest(range(floor(hours_between(from_at, to_at) / 24)::bigint)) as day from ends),
    counted as (
        select floor(hours_between(ends.from_at, found.started_at) / 24)::bigint as day, count(*) as incidents
        from marts.incidents_within($start::timestamptz, $end::timestamptz) as found
        semi join marts.nodes using (node), ends
        group by all
    )
    select days.day, coalesce(counted.incidents, 0) as incidents
    from days left join counted using (day) order by days.day
"""  # noqa: S608
_ALL_GANGS = """
    select session_id, started_at, ended_at, least(until_at, $end) as shown_to,
        coalesce(is_abnormal_end, false) as is_abnormal_end,
        coalesce(ended_at >= $start and ended_at < $end, false) as ends_within,
        greatest(0, hours_between(greatest(started_at, $start), least(until_at, $end))) as exposure_h,
        greatest(0, hours_between(greatest(started_at, $start), least(until_at, $end))) * node_count as node_h
    from marts.sessions
    where is_gang and started_at < $end and (until_at > $start or started_at >= $start)
    order by started_at, session_id
"""
