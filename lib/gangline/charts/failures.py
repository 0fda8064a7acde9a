"""Pictures of failures: incidents by node and time, kinds of faults beside published ones, chance, remapped rows."""

from typing import Any

import altair as alt
import polars as pl

from gangline.charts.labels import shortened
from gangline.charts.spans import Span, counts, framed
from gangline.charts.theme import (
    BLUE,
    GREY,
    ORANGE,
    VERMILLION,
    name_axis,
    ratio_axis,
    rows_height,
    series_colour,
    series_dash,
    value_axis,
)
from gangline.windows import Window

MOST_NODES = 40
MOST_GPUS = 7
OURS, OURS_KNOWN, THEIRS = "here, of all ends", "here, of the attributed", "Minder"
SEEN, CHANCE = "seen", "by chance"


def calendar(incidents: pl.DataFrame, window: Window) -> alt.TopLevelMixin:
    """Incidents as marks, one row a node, most incidents first, coloured by class, a cross where no end goes with it.

    Takes rows of `failures.rows`; the first 40 nodes.
    """
    counted = incidents.group_by("node").agg(n=pl.len()).sort(["n", "node"], descending=[True, False]).head(MOST_NODES)
    named = shortened(incidents.filter(pl.col("node").is_in(counted["node"].to_list())), "node")
    labels = dict(named.select("node", "node_label").iter_rows())
    order = [labels[node] for node in counted["node"]]
    classes = named["class"].unique().sort().to_list()
    ended = pl.when(pl.col("session_id").is_null()).then(pl.lit("no end")).otherwise(pl.lit("a session ended"))
    span = Span.of(window)
    shown = span.clocked(named.with_columns(with_it=ended), "started_at")
    marks = alt.Chart(shown.select("node_label", "class", "started_at", "with_it")).mark_point(
        size=90, strokeWidth=2, filled=True, opacity=1, aria=False
    )
    shape = alt.Shape(
        "with_it:N",
        title=None,
        scale=alt.Scale(domain=["a session ended", "no end"], range=["circle", "cross"]),
        legend=alt.Legend(symbolFillColor=GREY, symbolStrokeColor=GREY),
    )
    encoded = marks.encode(
        span.axis("started_at"), name_axis("node_label", sort=order), series_colour("class", classes), shape
    )
    return framed(alt.layer(span.edges("started_at"), encoded), rows_height(len(order), 20))


def kinds(beside: pl.DataFrame) -> alt.TopLevelMixin:
    """Shares of kinds, ours with interval over the published mark; takes `taxonomies.beside`."""
    order = beside["kind"].to_list()
    row = name_axis("kind", sort=order).axis(ticks=False, domain=False, labelPadding=10)
    shares = {OURS: "all_share", OURS_KNOWN: "attributed_share", THEIRS: "published_share"}
    long = pl.concat(
        beside.select("kind", pl.lit(whose).alias("whose"), share=column) for whose, column in shares.items()
    ).drop_nulls("share")
    base = alt.Chart(beside.drop_nulls("all_share"))
    bars = base.mark_rule(color=BLUE, strokeWidth=3, opacity=0.35, aria=False).encode(
        ratio_axis("low_share", "Share of ends"), alt.X2("high_share:Q"), row
    )
    names = list(shares)
    dots = (
        alt.Chart(long)
        .mark_point(filled=True, size=85, opacity=1, aria=False)
        .encode(
            ratio_axis("share", "Share of ends"),
            row,
            alt.Color("whose:N", title=None, scale=alt.Scale(domain=names, range=[BLUE, GREY, VERMILLION])),
            alt.Shape("whose:N", title=None, scale=alt.Scale(domain=names, range=["circle", "square", "diamond"])),
        )
    )
    return framed(alt.layer(bars, dots), rows_height(len(order), 30))


def chance(spread: pl.DataFrame) -> alt.TopLevelMixin:
    """Nodes by how many incidents they have, beside what chance gives; takes `lemon_nodes.spread`."""
    names = [SEEN, CHANCE]
    long = pl.concat(
        spread.select("count", pl.lit(name).alias("which"), nodes=pl.col(column).cast(pl.Float64))
        for name, column in zip(names, ("nodes", "expected_nodes"), strict=True)
    )
    return framed(
        alt.Chart(long)
        .mark_bar(aria=False)
        .encode(
            alt.X("count:O", title="Incidents of a node", axis=alt.Axis(labelAngle=0)),
            counts("nodes", "Nodes"),
            alt.Color("which:N", title=None, scale=alt.Scale(domain=names, range=[BLUE, ORANGE])),
            alt.XOffset("which:N", sort=names),
        ),
        170,
    )


def remaps(points: pl.DataFrame, window: Window) -> alt.TopLevelMixin:
    """Remapped rows over time, a step line a GPU; takes `row_remaps.Remaps.points`, the seven GPUs that stand first.

    Dashed differently per GPU; correctable rows above, uncorrectable ones below.
    """
    named = points.with_columns(gpu=gpu_names(points))
    names = named["gpu"].unique(maintain_order=True).head(MOST_GPUS).to_list()
    span = Span.of(window)
    shown = span.clocked(named.filter(pl.col("gpu").is_in(names)), "at").select("gpu", "role", "at", "rows")
    panels = [
        _remap_panel(shown.filter(pl.col("role") == role), span, names, title)
        for role, title in (
            ("remapped_rows", "Rows after correctable errors"),
            ("remapped_rows_uncorrectable", "Rows after uncorrectable errors"),
        )
        if role in set(shown["role"])
    ]
    return alt.vconcat(*panels, spacing=12)


def gpu_names(frame: pl.DataFrame) -> pl.Expr:
    """A GPU's name for a picture: node and index, or the end of its UUID where there is no index."""
    part = pl.coalesce(pl.col("gpu_index").cast(pl.String), pl.col("gpu_uuid").str.slice(-8), pl.lit("?"))
    return pl.concat_str("node", pl.lit(" GPU "), part) if frame.height else pl.lit("")


def _remap_panel(shown: pl.DataFrame, span: Span, names: list[str], title: str) -> Any:
    lines = (
        alt.Chart(shown.drop("role"))
        .mark_line(interpolate="step-after", strokeWidth=2, point=alt.OverlayMarkDef(size=14), aria=False)
        .encode(
            span.axis("at"),
            value_axis("rows", "Rows").axis(tickMinStep=1, tickCount=5),
            series_colour("gpu", names),
            series_dash("gpu", names).legend(title=None),
        )
    )
    return alt.layer(span.edges("at"), lines).properties(width=820, height=130, title=title)
