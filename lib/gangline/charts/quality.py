"""Pictures of what the sources cover."""

from datetime import UTC, datetime, timedelta

import altair as alt
import polars as pl

from gangline.charts.heat import Grid, heat_map
from gangline.charts.labels import shortened

ROW_HEIGHT = 26
MOST_NODES = 130


def coverage(days: pl.DataFrame, first: datetime, after: datetime, step_days: int, zone: str) -> alt.TopLevelMixin:
    """Sources by local day, each from light to dark by the share of its busiest day; grey where it tells nothing.

    Parameters
    ----------
    days : DataFrame
        Rows of `quality.coverage`.
    first, after : datetime
        The window's first local day and the one after its last, from `quality.midnights`.
    """
    if days.is_empty():
        return alt.Chart(days).mark_rect()
    named = shortened(days, "source")
    at = pl.col("day").cast(pl.Datetime("us", "UTC")).alias("at")
    cells = named.select(pl.col("source_label").alias("name"), at, pl.col("day_share").alias("value"))
    names = named["source_label"].unique().sort().to_list()
    grid = Grid(cells, names, first.astimezone(UTC), after.astimezone(UTC), timedelta(days=step_days))
    return heat_map(grid, "Share of busiest day", 0, 1, ROW_HEIGHT, zone)


def scrapes(days: pl.DataFrame, first: datetime, after: datetime) -> alt.TopLevelMixin:
    """Nodes by UTC day, light where samples cover all of it, grey where there is none; takes `by_node_and_day` rows."""
    if days.is_empty():
        return alt.Chart(days).mark_rect()
    nodes = days["node"].unique().sort().head(MOST_NODES)
    named = shortened(days.filter(pl.col("node").is_in(nodes.implode())), "node")
    at = pl.col("day").cast(pl.Datetime("us", "UTC")).alias("at")
    cells = named.select(pl.col("node_label").alias("name"), at, pl.col("coverage_ratio").alias("value"))
    names = named["node_label"].unique(maintain_order=True).to_list()
    return heat_map(Grid(cells, names, first, after, timedelta(days=1)), "Covered share", 0, 1, 11)
