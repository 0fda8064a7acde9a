"""Node incidents of a window: how many, how long, how concentrated, how they follow one another."""

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gangline.estimates import Estimate
from gangline.estimates.concentration import gini, top_fraction_share
from gangline.estimates.quantiles import median, quantile
from gangline.estimates.rates import dispersion_index, dispersion_p, per_1000_node_days, rates_p
from gangline.estimates.survival import SurvivalCurve, kaplan_meier
from gangline.estimates.weibull import Gaps, WeibullFit, event_gaps, weibull
from gangline.warehouse.querying import query
from gangline.windows import Window

TOP_FRACTION = 0.05
OVERDISPERSED_P = 0.05
NO_SOURCE = 'an incident file is needed ([[sources]] kind = "incidents")'
NO_INCIDENTS = "no node incident starts in the window"
CARDS = (
    "incidents.count",
    "incidents.per_1000_node_days",
    "incidents.duration_median_h",
    "incidents.top5pct_nodes_share",
    "incidents.weibull_shape",
)
QUARTILES = {"duration_q1_h": 0.25, "duration_median_h": 0.5, "duration_q3_h": 0.75}
QUARTILE_IDS = tuple(f"incidents.{name}" for name in QUARTILES)


@dataclass(frozen=True)
class Dispersion:
    """How much more than by chance the counts of whole days vary: variance over mean, and the p of that much."""

    index: Estimate
    p: Estimate

    @property
    def widening(self) -> float:
        """The factor that a rate's interval is widened by: the index where counts are overdispersed, else 1."""
        is_over = self.p.value is not None and self.p.value < OVERDISPERSED_P
        return self.index.value if is_over and self.index.value is not None else 1.0


@dataclass(frozen=True)
class Arrivals:
    """Gaps between starts of incidents on one node, in hours: as they are, as a curve, as a Weibull law."""

    gaps: Gaps
    curve: SurvivalCurve
    fit: WeibullFit


def figures(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """The `incidents.*` headlines, from rows of incident files that start in the window.

    Rates are per 1,000 in-service node-days of the window up to the export time; concentration is over the hours of
    all nodes in service, zeros included; durations are Kaplan-Meier where an incident is still open. Without an
    incident file every figure is null and says so.
    """
    if not has_source(con):
        return {name: Estimate.missing(unit, NO_SOURCE, n=0) for name, unit in _UNITS.items()}
    incidents = rows(con, window)
    hours = hours_by_node(con, window)["incident_h"].to_numpy()
    count = incidents.height
    return {
        "incidents.count": Estimate(float(count), "incidents", count, method="count"),
        "incidents.nodes_affected": _nodes_affected(incidents),
        "incidents.per_1000_node_days": rate(con, window),
        **{f"incidents.{name}": duration(incidents, level) for name, level in QUARTILES.items()},
        "incidents.top5pct_nodes_share": _shared(top_fraction_share(hours, TOP_FRACTION), count),
        "incidents.gini_hours": _shared(gini(hours), count),
        "incidents.weibull_shape": arrivals(con, window).fit.shape,
    }


def changes(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, float]:
    """The exact p that the rate is that of the window before, by figure id; empty where there is nothing to compare."""
    before = window.previous()
    if before is None or not has_source(con):
        return {}
    sides = [(rows(con, span).height, exposure_h(con, span)) for span in (window, before)]
    p = rates_p(*sides[0], *sides[1])
    return {} if p.value is None else {"incidents.per_1000_node_days": p.value}


def case(con: duckdb.DuckDBPyConnection, figures: Mapping[str, Estimate]) -> str:
    """Which sentence fits: `no_source` (no incident file), `none` (none starts in the window), else `found`."""
    if not has_source(con):
        return "no_source"
    return "found" if figures["incidents.count"].value else "none"


def has_source(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether the warehouse read an incident file, with incidents in it or not."""
    return bool(query(con, "select exists(from meta.files where kind = 'incidents') as has_source").item())


def rows(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Incidents that start in the window, with `duration_h` so far (to the export time where still open)."""
    return query(con, _ROWS, start=window.start, end=window.end)


def strangers(con: duckdb.DuckDBPyConnection, window: Window) -> int:
    """Incidents of the window on nodes that the inventory does not hold: counted, but in no figure per node."""
    sql = f"select count(*) as strangers from ({_ROWS}) anti join marts.nodes using (node)"  # noqa: S608
    return int(query(con, sql, start=window.start, end=window.end).item())


def exposure_h(con: duckdb.DuckDBPyConnection, window: Window) -> float:
    """In-service node-hours of the window up to the export time of the incident files."""
    return float(query(con, _EXPOSURE, start=window.start, end=window.end).item() or 0.0)


def dispersion(con: duckdb.DuckDBPyConnection, window: Window) -> Dispersion:
    """Whether incidents come in clusters: counts of the window's whole days (of 24 hours) up to the export time."""
    return dispersion_of(query(con, _DAILY, start=window.start, end=window.end)["incidents"].to_numpy())


def dispersion_of(counts: NDArray[np.int64]) -> Dispersion:
    """Whether counts of equal stretches of exposure vary more than by chance."""
    return Dispersion(dispersion_index(counts), dispersion_p(counts))


def rate(con: duckdb.DuckDBPyConnection, window: Window, *, is_widened: bool = True) -> Estimate:
    """Incidents per 1,000 in-service node-days; the interval is widened where days vary more than by chance."""
    widening = dispersion(con, window).widening if is_widened else 1.0
    return per_1000_node_days(rows(con, window).height, exposure_h(con, window), dispersion=widening)


def duration(incidents: pl.DataFrame, level: float) -> Estimate:
    """A quantile of durations in hours: Kaplan-Meier where an incident is open, the median with its interval."""
    hours = incidents["duration_h"].to_numpy()
    if not hours.size:
        return Estimate.missing("h", NO_INCIDENTS, n=0)
    is_ended = ~incidents["is_censored"].to_numpy()
    if not np.all(is_ended):
        return kaplan_meier(hours, is_ended).quantile(level, "h")
    return median(hours, "h") if level == QUARTILES["duration_median_h"] else quantile(hours, level, "h")


def hours_by_node(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Incident hours per node in service, zeros included, overlapping incidents added: node, incidents, incident_h.

    Durations are whole, not clipped: an incident belongs to the window that holds its start.
    """
    return query(con, _HOURS_BY_NODE, start=window.start, end=window.end)


def beside(con: duckdb.DuckDBPyConnection, window: Window, nodes: pl.DataFrame) -> pl.DataFrame:
    """Rows about nodes with `incidents` and `incident_h` beside them, in their order; none without an incident file."""
    known = nodes if has_source(con) else nodes.clear()
    hours = hours_by_node(con, window).select("node", "incidents", "incident_h")
    return known.join(hours, on="node", how="left", maintain_order="left").with_columns(
        pl.col("incidents").fill_null(0), pl.col("incident_h").fill_null(0.0)
    )


def by_kind(incidents: pl.DataFrame) -> pl.DataFrame:
    """Incidents by kind, commonest first: kind, incidents, nodes, median_h, incident_h, still_open.

    The median is null where too few have ended.
    """
    kinds = incidents.sort("kind").partition_by("kind", maintain_order=True)
    counted = [
        {
            "kind": kind["kind"][0],
            "incidents": kind.height,
            "nodes": kind["node"].n_unique(),
            "median_h": duration(kind, 0.5).value,
            "incident_h": float(kind["duration_h"].sum()),
            "still_open": int(kind["is_censored"].sum()),
        }
        for kind in kinds
    ]
    return pl.DataFrame(counted, schema=_KIND_SCHEMA).sort(["incidents", "kind"], descending=[True, False])


def starts(con: duckdb.DuckDBPyConnection, window: Window, stretch: str) -> pl.DataFrame:
    """Incidents per stretch (`day`, `week`, `month`) of the zone's calendar: day, incidents.

    Zeros are included; without an incident there is no row.
    """
    return query(con, _STARTS, start=window.start, end=window.end, zone=window.time_zone, stretch=stretch)


def arrivals(con: duckdb.DuckDBPyConnection, window: Window) -> Arrivals:
    """Gaps between starts on one node, in hours, the last gap of each node censored at the export time."""
    incidents = rows(con, window)
    since = (pl.col("started_at") - pl.lit(window.start)).dt.total_microseconds() / 3.6e9
    by_node = dict(incidents.group_by("node", maintain_order=True).agg(since).iter_rows())
    until_h = query(con, _UNTIL, start=window.start, end=window.end).item()
    gaps = event_gaps(by_node, until_h if until_h is not None else 0.0)
    return Arrivals(gaps, kaplan_meier(gaps.durations, gaps.is_ended), weibull(gaps.durations, gaps.is_ended, "h"))


_UNITS = {
    "incidents.count": "incidents",
    "incidents.nodes_affected": "nodes",
    "incidents.per_1000_node_days": "per_1000_node_days",
    **{f"incidents.{name}": "h" for name in QUARTILES},
    "incidents.top5pct_nodes_share": "ratio",
    "incidents.gini_hours": "index",
    "incidents.weibull_shape": "shape",
}
_KIND_SCHEMA = {
    "kind": pl.String,
    "incidents": pl.Int64,
    "nodes": pl.Int64,
    "median_h": pl.Float64,
    "incident_h": pl.Float64,
    "still_open": pl.Int64,
}
_DURATION_H = "greatest(0, hours_between(started_at, coalesce(ended_at, observed_until, started_at)))"
_EXPORTED_AT = "(select coalesce(max(observed_until), $end) from marts.node_incidents)"
_ROWS = f"""
    select incident_id, node, kind, "class", detail, started_at, ended_at, is_censored, observed_until, source,
        {_DURATION_H} as duration_h
    from marts.node_incidents
    where started_at >= $start and started_at < $end
    order by started_at, incident_id
"""  # noqa: S608
_HOURS_BY_NODE = f"""
    select nodes.node, nodes.is_named, count(incidents.incident_id) as incidents,
        coalesce(sum({_DURATION_H}), 0)::double as incident_h
    from marts.nodes as nodes
    left join marts.node_incidents as incidents
        on incidents.node = nodes.node and incidents.started_at >= $start and incidents.started_at < $end
    where coalesce(nodes.in_service_from, $start) < $end and coalesce(nodes.in_service_to, $end) > $start
    group by all
    order by incident_h desc, incidents desc, nodes.node
"""  # noqa: S608
_UNTIL = f"""
    select hours_between($start, greatest(max(started_at), least($end, {_EXPORTED_AT}))) as until_h
    from marts.node_incidents where started_at >= $start and started_at < $end
"""  # noqa: S608
_EXPOSURE = f"""
    select sum(greatest(0, hours_between(
        greatest(coalesce(in_service_from, $start), $start),
        least(coalesce(in_service_to, $end), $end, {_EXPORTED_AT})
    ))) as node_h
    from marts.nodes
"""  # noqa: S608
_DAILY = f"""
    with days as (
        select unnest(range(floor(hours_between($start, least($end, {_EXPORTED_AT})) / 24)::bigint)) as day
    ),
    counted as (
        select floor(hours_between($start, started_at) / 24)::bigint as day, count(*) as incidents
        from marts.node_incidents where started_at >= $start and started_at < $end group by all
    )
    select days.day, coalesce(counted.incidents, 0) as incidents
    from days left join counted using (day) order by days.day
"""  # noqa: S608
_STARTS = """
    with days as (
        select unnest(range(
            date_trunc($stretch, $start::timestamptz at time zone $zone),
            ($end::timestamptz - interval 1 microsecond) at time zone $zone,
            ('1 ' || $stretch)::interval
        ))::date as day
    ),
    counted as (
        select date_trunc($stretch, started_at at time zone $zone)::date as day, count(*) as incidents
        from marts.node_incidents where started_at >= $start and started_at < $end group by all
    )
    select day, coalesce(counted.incidents, 0) as incidents
    from days full join counted using (day) where exists(from counted) order by day
"""


def _nodes_affected(incidents: pl.DataFrame) -> Estimate:
    count = incidents["node"].n_unique()
    return Estimate(float(count), "nodes", count, method="count")


def _shared(spread: Estimate, count: int) -> Estimate:
    if spread.value is not None:
        return spread
    reason = "no incident of the window has a length" if count else NO_INCIDENTS
    return Estimate.missing(spread.unit, reason, n=spread.n, method=spread.method)
