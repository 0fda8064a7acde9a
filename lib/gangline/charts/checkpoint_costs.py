"""What an interval between saves costs, and what downtime costs beside it."""

from itertools import cycle
from typing import Literal

import altair as alt
import polars as pl

from gangline.charts.labels import shortened
from gangline.charts.theme import GREY, QUIET, WIDTH, series_colour, series_dash, value_axis

TICKS_H = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200]
SHAPES = {"now": "circle", "optimum": "diamond"}
HEADROOM = 1.06
ALIGNS: dict[str, Literal["left", "center", "right"]] = {"amid": "center", "left": "left", "right": "right"}


def overhead(curve: pl.DataFrame, marks: pl.DataFrame, downtimes: pl.DataFrame) -> alt.TopLevelMixin:
    """Overhead by interval, a line and a band a stage, with where it is and where it could be; downtime as level lines.

    Takes `overheads.curve`, `marks` and `by_downtime`. The axis of shares is a square root, so that a per cent can be
    read beside what downtime takes.
    """
    named = shortened(curve, "stage")
    names = named["stage_label"].unique(maintain_order=True).to_list()
    labels = named.select("stage", "stage_label").unique(maintain_order=True)
    scale = alt.Scale(type="pow", exponent=0.5, domain=[0, _top(curve, downtimes)], nice=False, clamp=True)
    base = alt.Chart(named.select("stage_label", "interval_h", "overhead_share", "low_share", "high_share"))
    colour = series_colour("stage_label", names, "Stage").legend(
        symbolType="stroke", symbolStrokeWidth=2.4, symbolOpacity=1
    )
    dash = series_dash("stage_label", names).title("Stage")
    band = base.mark_area(opacity=0.13, aria=False).encode(
        _hours("interval_h"), _share("low_share", scale), alt.Y2("high_share:Q"), colour
    )
    line = base.mark_line(strokeWidth=2.2, aria=False).encode(
        _hours("interval_h"), _share("overhead_share", scale), colour, dash
    )
    return alt.layer(
        band, *_levels(curve, downtimes, scale), line, _points(marks.join(labels, on="stage"), scale, colour)
    ).properties(width=WIDTH, height=300)


def _points(marks: pl.DataFrame, scale: alt.Scale, colour: alt.Color) -> alt.Chart:
    shape = alt.Scale(domain=list(SHAPES), range=list(SHAPES.values()))
    return (
        alt.Chart(marks.select("stage_label", "place", "interval_h", "overhead_share"))
        .mark_point(size=120, opacity=1, filled=True, aria=False)
        .encode(
            _hours("interval_h"),
            _share("overhead_share", scale),
            colour,
            alt.Shape(
                "place:N",
                title="Interval",
                scale=shape,
                legend=alt.Legend(symbolFillColor=GREY, symbolStrokeColor=GREY, symbolOpacity=1),
            ),
        )
    )


def _levels(curve: pl.DataFrame, downtimes: pl.DataFrame, scale: alt.Scale) -> list[alt.Chart]:
    """A level line for each downtime; words stand amid, left and right in turn, so that those of close lines part."""
    edges = curve.select(left=pl.col("interval_h").min(), right=pl.col("interval_h").max())
    edges = edges.with_columns(amid=(pl.col("left") * pl.col("right")).sqrt())
    rows = downtimes.join(edges, how="cross").with_columns(
        words=pl.format("{} h down: {}", pl.col("downtime_h").round(2), "downtime")
    )
    rules = (
        alt.Chart(rows.select("left", "right", "lost_share"))
        .mark_rule(color=GREY, strokeDash=[3, 3], strokeWidth=1.5, aria=False)
        .encode(_hours("left"), alt.X2("right:Q"), _share("lost_share", scale))
    )
    return [rules, *(_words(row, place, scale) for row, place in zip(rows.iter_slices(1), cycle(ALIGNS), strict=False))]


def _words(row: pl.DataFrame, place: str, scale: alt.Scale) -> alt.Chart:
    return (
        alt.Chart(row.select(pl.col(place).alias("at_h"), "words", "lost_share"))
        .mark_text(align=ALIGNS[place], baseline="bottom", dy=-3, color=QUIET, aria=False)
        .encode(_hours("at_h"), _share("lost_share", scale), alt.Text("words:N"))
    )


def _top(curve: pl.DataFrame, downtimes: pl.DataFrame) -> float:
    shares = [*curve["overhead_share"].to_list(), *downtimes["lost_share"].to_list(), 0.01]
    return min(1.0, HEADROOM * max(share for share in shares if share is not None))


def _hours(field: str) -> alt.X:
    scale = alt.Scale(type="log", nice=False)
    axis: alt.X = value_axis(field, "Interval between saves (h, logarithmic)", channel=alt.X, scale=scale)
    return axis.axis(format="~g", values=TICKS_H, labelOverlap="greedy")


def _share(field: str, scale: alt.Scale) -> alt.Y:
    axis = alt.Axis(format="~%", tickCount=6)
    return alt.Y(f"{field}:Q", title="Share of time lost (square-root scale)", scale=scale, axis=axis)
