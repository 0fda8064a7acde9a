"""Failures of a window: XID events and incidents, how often, of what kind; why there is none where nothing was read."""

from collections.abc import Mapping

import duckdb
import polars as pl

from gangline import exposures, failure_rates, taxonomies
from gangline.estimates import Estimate
from gangline.estimates.rates import rates_p
from gangline.warehouse.querying import query
from gangline.windows import Window

NO_SOURCE = failure_rates.NO_SOURCE
LOWER_BOUND = "a lower bound: the gauge keeps its last code, so the same code again is not seen"
CARDS = (
    "failures.incidents",
    "failures.xid_events",
    "failures.node_per_1000_node_days",
    "failures.job_per_1000_node_days",
    "failures.share.not_attributed",
)


def figures(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """`failures.{xid_events, incidents, job_per_1000_node_days, node_per_1000_node_days, share.<kind>}`.

    Counts of XIDs are lower bounds where only a gauge tells, and say so; without a kernel log or a gauge they are null.
    Shares are of ends of gang sessions that trained, neither completed nor planned.
    """
    found = exposures.exposure(con, window)
    caused = taxonomies.ends(con, found)
    return {**_counts(con, window), **failure_rates.figures(con, window, found), **taxonomies.shares(caused)}


def changes(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, float]:
    """The exact p that each rate is that of the window before, by figure id; empty where nothing is to compare."""
    before = window.previous()
    if before is None:
        return {}
    now, then = (exposures.exposure(con, span) for span in (window, before))
    pairs = {"failures.job_per_1000_node_days": [failure_rates.of_jobs(side) for side in (now, then)]}
    if failure_rates.has_source(con):
        sides = [failure_rates.of_nodes(con, span) for span in (window, before)]
        pairs["failures.node_per_1000_node_days"] = sides
    found = {name: rates_p(a.count, a.node_h, b.count, b.node_h).value for name, (a, b) in pairs.items()}
    return {name: p for name, p in found.items() if p is not None}


def case(con: duckdb.DuckDBPyConnection, figures: Mapping[str, Estimate]) -> str:
    """Which sentence fits: `no_source` (no kernel log, no gauge), `none` (no incident in the window), else `found`."""
    if not failure_rates.has_source(con):
        return "no_source"
    return "found" if figures["failures.incidents"].value else "none"


def rows(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Incidents of kernel logs and gauges that begin in a window: rows of `marts.incidents`."""
    return query(con, _INCIDENTS, start=window.start, end=window.end)


def by_code(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Events by kind and code, commonest first.

    kind, code, meaning, events, of them secondary, only_gauge (a lower bound), nodes, lines.
    """
    return query(con, _BY_CODE, start=window.start, end=window.end)


def gauge_only(events: pl.DataFrame) -> int:
    """Events that only a gauge tells of; takes `by_code`."""
    return int(events["only_gauge"].sum())


def _counts(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    if not failure_rates.has_source(con):
        missing = {"xid_events": "events", "incidents": "incidents"}
        return {f"failures.{name}": Estimate.missing(unit, NO_SOURCE, n=0) for name, unit in missing.items()}
    events, gauged = by_code(con, window)["events"].sum(), gauge_only(by_code(con, window))
    said = f"count, {gauged} only by the gauge: {LOWER_BOUND}" if gauged else "count"
    count = rows(con, window).height
    return {
        "failures.xid_events": Estimate(float(events), "events", int(events), method=said),
        "failures.incidents": Estimate(float(count), "incidents", count, method="count"),
    }


_INCIDENTS = "from marts.incidents_within($start::timestamptz, $end::timestamptz) order by started_at, incident_id"
_BY_CODE = """
    select events.kind, events.code, any_value(codes.name) as meaning, count(*) as events,
        count(*) filter (where is_secondary) as secondary,
        count(*) filter (where events.source = 'gauge') as only_gauge,
        count(distinct node) as nodes, sum(line_count)::bigint as lines
    from marts.xid_events_within($start::timestamptz, $end::timestamptz) as events
    left join staging.xid_codes as codes on events.kind = 'xid' and codes.code = events.code
    group by events.kind, events.code
    order by count(*) desc, events.kind, events.code
"""
