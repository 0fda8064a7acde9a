"""Node incidents of a window: how many, how long, how concentrated, how they follow one another."""

import duckdb
import numpy as np
import polars as pl

from gangline.estimates import Estimate
from gangline.estimates.concentration import gini, top_fraction_share
from gangline.estimates.quantiles import median, quantile
from gangline.estimates.rates import per_1000_node_days
from gangline.estimates.survival import kaplan_meier
from gangline.estimates.weibull import WeibullFit, event_gaps, weibull
from gangline.warehouse.querying import query
from gangline.windows import Window

TOP_FRACTION = 0.05
NO_INCIDENTS = "no node incident starts in the window"
QUARTILES = {"duration_q1_h": 0.25, "duration_median_h": 0.5, "duration_q3_h": 0.75}


def figures(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """The `incidents.*` headlines, from rows of incident files that start in the window.

    Rates are per 1,000 in-service node-days of the window up to the export time; concentration is over the hours of
    all nodes in service, zeros included; durations are Kaplan-Meier where an incident is still open.
    """
    incidents = rows(con, window)
    hours = hours_by_node(con, window)["incident_h"].to_numpy()
    node_h = float(query(con, _EXPOSURE, start=window.start, end=window.end)["node_h"].item() or 0.0)
    count = incidents.height
    return {
        "incidents.count": Estimate(float(count), "incidents", count, method="count"),
        "incidents.nodes_affected": _nodes_affected(incidents),
        "incidents.per_1000_node_days": per_1000_node_days(count, node_h),
        **{f"incidents.{name}": _duration(incidents, level) for name, level in QUARTILES.items()},
        "incidents.top5pct_nodes_share": top_fraction_share(hours, TOP_FRACTION),
        "incidents.gini_hours": gini(hours),
        "incidents.weibull_shape": arrivals(con, window).shape,
    }


def rows(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Incidents that start in the window, with `duration_h` so far (to the export time where still open)."""
    return query(
        con,
        """
        select incident_id, node, kind, "class", detail, started_at, ended_at, is_censored, observed_until, source,
            (epoch(coalesce(ended_at, observed_until)) - epoch(started_at)) / 3600 as duration_h
        from marts.node_incidents
        where started_at >= $start and started_at < $end
        order by started_at, incident_id
        """,
        start=window.start,
        end=window.end,
    )


def hours_by_node(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Incident hours per node in service, zeros included, overlapping incidents added: node, incidents, incident_h.

    Durations are whole, not clipped: an incident belongs to the window that holds its start.
    """
    return query(
        con,
        """
        select nodes.node, nodes.is_named, count(incidents.incident_id) as incidents,
            coalesce(sum(epoch(coalesce(incidents.ended_at, incidents.observed_until)) - epoch(incidents.started_at)), 0)
                / 3600 as incident_h
        from marts.nodes as nodes
        left join marts.node_incidents as incidents
            on incidents.node = nodes.node and incidents.started_at >= $start and incidents.started_at < $end
        where coalesce(nodes.in_service_from, $start) < $end and coalesce(nodes.in_service_to, $end) > $start
        group by all
        order by incident_h desc, incidents desc, nodes.node
        """,
        start=window.start,
        end=window.end,
    )


def by_kind(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Incidents of the window by kind: kind, incidents, nodes, median_h (of those that ended), incident_h, open_count."""
    incidents = rows(con, window)
    return (
        incidents.group_by("kind")
        .agg(
            incidents=pl.len(),
            nodes=pl.col("node").n_unique(),
            median_h=pl.col("duration_h").filter(~pl.col("is_censored")).quantile(0.5, "linear"),
            incident_h=pl.col("duration_h").sum(),
            open_count=pl.col("is_censored").sum(),
        )
        .sort(["incidents", "kind"], descending=[True, False])
    )


def arrivals(con: duckdb.DuckDBPyConnection, window: Window) -> WeibullFit:
    """Weibull law of the gaps between starts on one node, in hours, the last gap of each node censored."""
    starts = rows(con, window).group_by("node", maintain_order=True).agg(pl.col("started_at").dt.epoch("us") / 3.6e9)
    by_node = {node: times for node, times in starts.iter_rows()}
    until = query(con, _UNTIL, start=window.start, end=window.end)["until_h"].item()
    gaps = event_gaps(by_node, until if until is not None else 0.0)
    return weibull(gaps.durations, gaps.is_ended, "h")


_UNTIL = """
    select least(epoch(max(observed_until)), epoch($end::timestamptz)) / 3600 as until_h
    from marts.node_incidents where started_at >= $start and started_at < $end
"""
_EXPOSURE = """
    with export as (select max(observed_until) as observed_until from marts.node_incidents)
    select sum(greatest(0,
        epoch(least(coalesce(in_service_to, $end), $end, coalesce(export.observed_until, $end)))
        - epoch(greatest(coalesce(in_service_from, $start), $start)))) / 3600 as node_h
    from marts.nodes cross join export
"""


def _nodes_affected(incidents: pl.DataFrame) -> Estimate:
    count = incidents["node"].n_unique()
    return Estimate(float(count), "nodes", count, method="count")


def _duration(incidents: pl.DataFrame, level: float) -> Estimate:
    hours = incidents["duration_h"].to_numpy()
    if not hours.size:
        return Estimate.missing("h", NO_INCIDENTS, n=0)
    is_ended = ~incidents["is_censored"].to_numpy()
    if not np.all(is_ended):
        return kaplan_meier(hours, is_ended).quantile(level, "h")
    return median(hours, "h") if level == QUARTILES["duration_median_h"] else quantile(hours, level, "h")
