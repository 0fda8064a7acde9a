"""Rates of failures of several clusters, in blocks of what is counted."""

import altair as alt
import polars as pl

from gangline.charts.theme import BLUE, GREY, WIDTH
from gangline.published_clusters import HERE

ROW_HEIGHT = 22


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
    """A row a cluster, a strip a block: rate with interval on a logarithmic axis, this one in blue. Takes `dots`."""
    blocks = dots["block"].unique(maintain_order=True).to_list()
    ends = dots.select(pl.min_horizontal("low", "rate").min(), pl.col("high").max()).row(0)
    scale = alt.Scale(type="log", domain=[float(ends[0]) * 0.8, float(ends[1]) * 1.25], nice=False)
    strips = [
        _strip(dots.filter(pl.col("block") == block), block, scale, is_last=block == blocks[-1]) for block in blocks
    ]
    return alt.vconcat(*strips, spacing=8).resolve_scale(x="shared")


def _strip(rows: pl.DataFrame, block: str, scale: alt.Scale, *, is_last: bool) -> alt.LayerChart | alt.FacetChart:
    colour = alt.condition(alt.datum.is_here, alt.value(BLUE), alt.value(GREY))
    y = alt.Y("name:N", title=None, sort=rows["name"].to_list(), axis=alt.Axis(labelLimit=420))
    title = "Per 1,000 node-days" if is_last else None
    base = alt.Chart(rows.drop("block"))
    lines = base.mark_rule(strokeWidth=2, aria=False).encode(
        alt.X("low:Q", title=title, scale=scale), alt.X2("high:Q"), y, color=colour
    )
    marks = base.mark_circle(size=70, opacity=1).encode(alt.X("rate:Q", title=title, scale=scale), y, color=colour)
    return alt.layer(lines, marks).properties(
        width=WIDTH - 330, height=ROW_HEIGHT * rows.height, title=block.capitalize()
    )
