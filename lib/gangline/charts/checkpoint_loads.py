"""Pictures of starts: loads as shares of the storage's maximum, and the time from the start to the first step."""

import altair as alt
import polars as pl

from gangline.charts.labels import unused
from gangline.charts.spans import Span
from gangline.charts.theme import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    SKY,
    WIDTH,
    name_axis,
    ratio_axis,
    rows_height,
    value_axis,
    wall_clock,
)
from gangline.estimates.wording import counted
from gangline.startups import PARTS
from gangline.windows import Window

RATES = {"mean": (BLUE, "circle"), "peak": (ORANGE, "triangle-up")}
COLOURS = dict(zip(PARTS.values(), (GREY, SKY, GREEN), strict=True))
MOST_LOADS = 400
MOST_STARTS = 40


def rates(loads: pl.DataFrame) -> pl.DataFrame:
    """A row a load and rate for `shares`: load_id, at (the load's begin), rate (`mean`, `peak`), share of the maximum.

    The latest 400 loads; takes `startups.loads`.
    """
    latest = loads.tail(MOST_LOADS).select("load_id", pl.col("started_at").alias("at"), "mean_share", "peak_share")
    named = latest.rename({"mean_share": "mean", "peak_share": "peak"})
    long = named.unpivot(index=["load_id", "at"], variable_name="rate", value_name="share")
    return long.drop_nulls("share").sort("at", "load_id", "rate")


def shares(rates: pl.DataFrame, window: Window) -> alt.TopLevelMixin:
    """Mean and peak read rate of each load, as shares of the storage's maximum, over time; takes `rates`."""
    span = Span.of(window)
    timed = span.clocked(rates, "at")
    whole = timed.group_by("load_id", "at").agg(low=pl.col("share").min(), high=pl.col("share").max()).sort("at")
    top = max(1.0, *rates["share"].to_list(), 0.0)
    y, ends = (ratio_axis(name, "Of the storage's maximum", channel=alt.Y, top=top) for name in ("share", "low"))
    lines = alt.Chart(whole.select("at", "low", "high")).mark_rule(color=GREY, strokeWidth=1.4, aria=False)
    colour = alt.Scale(domain=list(RATES), range=[colour for colour, _ in RATES.values()])
    shape = alt.Scale(domain=list(RATES), range=[shape for _, shape in RATES.values()])
    points = (
        alt.Chart(timed.select("at", "rate", "share"))
        .mark_point(size=64, opacity=1, filled=True, aria=False)
        .encode(
            span.axis("at"),
            y,
            alt.Color("rate:N", title="Read rate", scale=colour),
            alt.Shape("rate:N", title="Read rate", scale=shape),
        )
    )
    lines = lines.encode(span.axis("at"), ends, alt.Y2("high:Q"))
    return alt.layer(span.edges("at"), lines, points).properties(width=WIDTH, height=230)


def starts(parts: pl.DataFrame, window: Window) -> pl.DataFrame:
    """Rows of `startups.parts` with `label` (local time and nodes): the latest 40 starts, latest first."""
    sessions = parts.select("session_id", "session_started_at", "node_count").unique(maintain_order=True)
    latest = sessions.sort("session_started_at", "session_id").tail(MOST_STARTS).reverse()
    local = wall_clock(latest, ["session_started_at"], window.time_zone)
    labels: list[str] = []
    for at, nodes in local.select("session_started_at", "node_count").iter_rows():
        labels.append(unused(f"{at:%d %b %H:%M}, {counted(nodes, 'nodes')}", set(labels)))
    named = latest.select("session_id").with_columns(pl.Series("label", labels, dtype=pl.String))
    return named.join(parts, on="session_id", maintain_order="left_right")


def split(starts: pl.DataFrame) -> alt.TopLevelMixin:
    """Starts as bars in minutes since the session's start, split into their parts; takes `starts`."""
    order = starts["label"].unique(maintain_order=True).to_list()
    names = [name for name in COLOURS if name in set(starts["part"])]
    x: alt.X = value_axis("from_min", "Minutes since the session's start", channel=alt.X)
    colour = alt.Scale(domain=names, range=[COLOURS[name] for name in names])
    return (
        alt.Chart(starts.select("label", "part", "from_min", "to_min"))
        .mark_bar(height={"band": 0.7}, aria=False)
        .encode(
            x.bin("binned"),
            alt.X2("to_min:Q"),
            name_axis("label", sort=order),
            alt.Color("part:N", title="Time", scale=colour),
        )
        .properties(width=WIDTH - 160, height=rows_height(len(order), 22))
    )
