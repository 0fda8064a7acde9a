"""Rates of failures of several clusters, in blocks of what is counted."""

import json

import altair as alt
import polars as pl

from gangline.charts.labels import legible
from gangline.charts.theme import BLUE, GREY
from gangline.published_clusters import HERE

ROW_HEIGHT, BELOW = 36, 8
STRIP_WIDTH, MOST_LETTERS = 610, 90


def dots(rates: pl.DataFrame) -> pl.DataFrame:
    """Rows for `strips`, of known rates: name, block, is_here, rate, low, high. Takes `published_clusters.rates`."""
    name = pl.concat_str("cluster", pl.lit(": "), "meaning")
    known = rates.drop_nulls("rate_per_1000_node_days")
    rate, low, high = (pl.col(f"{part}_per_1000_node_days") for part in ("rate", "low", "high"))
    return known.select(
        name.alias("name"),
        "block",
        (pl.col("cluster") == HERE).alias("is_here"),
        rate.alias("rate"),
        low.fill_null(rate).alias("low"),
        high.fill_null(rate).alias("high"),
    ).filter(pl.col("rate") > 0)


def strips(dots: pl.DataFrame) -> alt.TopLevelMixin:
    """A row a cluster, a strip a block: rate with interval on a logarithmic axis, this one in blue. Takes `dots`.

    Names stand above their marks, over the whole width: beside them no more than 40 letters have room.
    """
    blocks = dots["block"].unique(maintain_order=True).to_list()
    ends = dots.select(pl.min_horizontal("low", "rate").min(), pl.col("high").max()).row(0)
    scale = alt.Scale(type="log", domain=[float(ends[0]) * 0.8, float(ends[1]) * 1.25], nice=False)
    placed = dots.with_row_index("place").with_columns(pl.format("row {}", "place").alias("row"))
    strips = [
        _strip(placed.filter(pl.col("block") == block), block, scale, is_last=block == blocks[-1]) for block in blocks
    ]
    return alt.vconcat(*strips, spacing=8).resolve_scale(x="shared")


def _strip(rows: pl.DataFrame, block: str, scale: alt.Scale, *, is_last: bool) -> alt.LayerChart | alt.FacetChart:
    colour = alt.condition(alt.datum.is_here, alt.value(BLUE), alt.value(GREY))
    y = alt.Y("row:N", title=None, sort=rows["row"].to_list(), axis=_names_above(rows))
    title = "Per 1,000 node-days" if is_last else None
    base = alt.Chart(rows.select("row", "is_here", "rate", "low", "high"))
    lines = base.mark_rule(strokeWidth=2, aria=False, yOffset=BELOW).encode(
        alt.X("low:Q", title=title, scale=scale), alt.X2("high:Q"), y, color=colour
    )
    marks = base.mark_circle(size=70, opacity=1, yOffset=BELOW).encode(
        alt.X("rate:Q", title=title, scale=scale), y, color=colour
    )
    return alt.layer(lines, marks).properties(
        width=STRIP_WIDTH, height=ROW_HEIGHT * rows.height, title=block.capitalize()
    )


def _names_above(rows: pl.DataFrame) -> alt.Axis:
    names = {row: legible(name, MOST_LETTERS) for row, name in rows.select("row", "name").iter_rows()}
    looked_up = f"{json.dumps(names)}[datum.value]"
    return alt.Axis(labelExpr=looked_up, labelAlign="left", labelPadding=-4, labelOffset=-BELOW, ticks=False)
