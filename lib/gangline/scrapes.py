"""How whole the telemetry is: which targets were scraped how often, where samples are missing, repeated or at odds."""

from datetime import UTC, datetime, time, timedelta

import duckdb
import polars as pl

from gangline.warehouse.querying import query
from gangline.windows import Window

MOST_GAPS = 200


def has_telemetry(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether any sample was read, points of a query's grid included."""
    return query(con, "select 1 from marts.series where sample_count > 0 limit 1").height > 0


def by_node_and_day(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """What samples cover of each node and UTC day: node, day, jobs, coverage_ratio (of its least covered job)."""
    return query(con, _DAYS, **_edges(window))


def targets(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Scrape jobs of the window: job, nodes, series, step_s and its extremes, gaps, longest_gap_s, coverage_ratio."""
    return query(con, _TARGETS, **_edges(window))


def gaps(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Nodes' days with a gap of more than two scrape steps, longest first: node, job, day, gaps, longest_gap_s, ..."""
    return query(con, _GAPS, most=MOST_GAPS, **_edges(window))


def unmatched_nodes(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Nodes of the telemetry that neither sessions nor the config name: node, series, metrics, first_at, last_at."""
    return query(con, _UNMATCHED)


def collisions(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Samples of several files at one instant, by metric: metric, days, repeats (equal), conflicts (the larger won)."""
    return query(con, _COLLISIONS)


def days(window: Window) -> tuple[datetime, datetime]:
    """The window's first UTC day and the one after its last."""
    first = window.start.astimezone(UTC).date()
    last = (window.end.astimezone(UTC) - timedelta(microseconds=1)).date() if window.days else first
    return datetime.combine(first, time(), UTC), datetime.combine(last + timedelta(days=1), time(), UTC)


def _edges(window: Window) -> dict[str, object]:
    first, after = days(window)
    return {"first": first.date(), "after": after.date()}


_DAYS = """
    select node, day, count(*) as jobs, min(coverage_ratio) as coverage_ratio
    from marts.scrape_days
    where node is not null and day >= $first and day < $after
    group by node, day
    order by node, day
"""
_TARGETS = """
    select
        if(job = '', 'no job label', job) as job,
        count(distinct node) as nodes,
        max(series_count) as most_series,
        median(step_s) as step_s,
        min(step_s) as least_step_s,
        max(step_s) as greatest_step_s,
        sum(gap_count)::bigint as gaps,
        max(longest_gap_s) as longest_gap_s,
        sum(coverage_ratio * wanted_s) / nullif(sum(wanted_s) filter (where coverage_ratio is not null), 0)
            as coverage_ratio
    from marts.scrape_days
    where day >= $first and day < $after
    group by all
    order by coverage_ratio, job
"""
_GAPS = """
    select node, if(job = '', 'no job label', job) as job, day, gap_count as gaps, longest_gap_s, step_s, coverage_ratio
    from marts.scrape_days
    where gap_count > 0 and day >= $first and day < $after
    order by longest_gap_s desc, node, job, day
    limit $most
"""
_UNMATCHED = """
    select node, count(*) as series, count(distinct metric) as metrics, min(first_at) as first_at,
        max(last_at) as last_at
    from marts.series
    where node is not null and not is_known_node
        and exists (from intermediate.int_nodes_keyed where is_named)
    group by node
    order by series desc, node
"""
_COLLISIONS = """
    select metric, count(distinct day) as days, sum(repeat_count - conflict_count)::bigint as repeats,
        sum(conflict_count)::bigint as conflicts
    from meta.sample_parts
    where is_live and (repeat_count > 0 or conflict_count > 0)
    group by metric
    order by conflicts desc, repeats desc, metric
"""
