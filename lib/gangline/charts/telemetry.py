"""Pictures of telemetry: the fleet's band with nodes over it, nodes by time, one node across its layers."""

from typing import Any

import altair as alt
import polars as pl

from gangline.charts.heat import Grid, heat_map
from gangline.charts.labels import shortened
from gangline.charts.spans import Span, framed
from gangline.charts.theme import BLUE, GREY, SKY, WIDTH, series_colour, series_dash, value_axis
from gangline.courses import Course

MOST_ROWS = 130
ROW_HEIGHT, LAYER_HEIGHT = 10, 92


def band(course: Course, fleet: pl.DataFrame, lines: pl.DataFrame) -> alt.TopLevelMixin:
    """The fleet from the 5th to the 95th percentile, its median, and chosen nodes; takes `band` and `lines`."""
    span = Span.of(course.window)
    x = span.axis("at")
    base = alt.Chart(span.clocked(fleet, "at"))
    title = course.title
    area = base.mark_area(color=SKY, opacity=0.45, aria=False).encode(
        x, value_axis("p5", title, zero=False), alt.Y2("p95:Q")
    )
    middle = base.mark_line(color=BLUE, strokeWidth=2.2, aria=False).encode(x, value_axis("median", title, zero=False))
    named = shortened(lines, "node")
    names = named["node_label"].unique(maintain_order=True).to_list()
    over = (
        alt.Chart(span.clocked(named, "at").select("node_label", "at", "value"))
        .mark_line(strokeWidth=1.3, aria=False)
        .encode(
            x,
            value_axis("value", title, zero=False),
            series_colour("node_label", names, "Node").legend(symbolType="stroke"),
            series_dash("node_label", names).title("Node").legend(symbolType="stroke"),
        )
    )
    return framed(alt.layer(area, middle, over), 250)


def heat(course: Course, cells: pl.DataFrame) -> alt.TopLevelMixin:
    """Nodes by time, light where the role is high, grey where there is no sample; takes `cells`, at most 130 nodes."""
    if cells.is_empty():
        return alt.Chart(cells).mark_rect()
    nodes = cells["node"].unique().sort().head(MOST_ROWS)
    named = shortened(cells.filter(pl.col("node").is_in(nodes.implode())).sort("node", "at"), "node")
    low, high = (float(x) for x in named.select(low=pl.col("value").min(), high=pl.col("value").max()).row(0))
    span = Span.of(course.window)
    shown = span.clocked(named.select(pl.col("node_label").alias("name"), "at", "value"), "at")
    start, end = span.clocked(pl.DataFrame({"at": [course.window.start, course.window.end]}), "at")["at"].to_list()
    names = named["node_label"].unique(maintain_order=True).to_list()
    return heat_map(Grid(shown, names, start, end, course.step), course.title, low, high, ROW_HEIGHT, span.zone)


def layers(course: Course, rows: pl.DataFrame) -> alt.TopLevelMixin:
    """One node's layers above each other on one time axis, the fleet's median grey behind; takes `layers`."""
    span = Span.of(course.window)
    names = rows["layer"].unique(maintain_order=True).to_list()
    return alt.vconcat(*[_layer(span, rows.filter(pl.col("layer") == name), name) for name in names], spacing=6)


def _layer(span: Span, rows: pl.DataFrame, name: str) -> Any:
    base = alt.Chart(span.clocked(rows, "at").select("at", "value", "median"))
    x = span.axis("at", " ")
    fleet = base.mark_line(color=GREY, strokeWidth=1.2, strokeDash=[3, 2], aria=False)
    own = base.mark_line(color=BLUE, strokeWidth=1.5, aria=False)
    layered = alt.layer(
        span.edges("at", " "),
        fleet.encode(x, value_axis("median", "", zero=False)),
        own.encode(x, value_axis("value", "", zero=False).axis(tickCount=3, format="~s")),
    )
    return layered.properties(width=WIDTH - 40, height=LAYER_HEIGHT, title=name)
