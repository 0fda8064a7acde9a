"""Pictures of downtimes: how long each was, who ended it by when, and at what hour of the week they begin."""

import json

import altair as alt
import polars as pl

from gangline.charts.theme import (
    BLUE,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    WIDTH,
    name_axis,
    ratio_axis,
    rows_height,
    value_axis,
)

LEAST_H = 1 / 60
STILL_DOWN = "still down"
GROUPS = {"automatic": "by a retry", "prequeued": "from the queue", "manual": "by a person"}
COLOURS = {"by a retry": BLUE, "from the queue": PURPLE, "by a person": ORANGE, STILL_DOWN: SKY}
DASHES = {"by a retry": [1, 0], "from the queue": [2, 2], "by a person": [6, 3]}
ENDS = {"failure": "circle", "user": "square", "preempted": "diamond", "unknown": "triangle-up"}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
TICKS_H = [0.02, 0.1, 0.5, 1, 2, 4, 8, 24, 72, 168, 720]
MOST_DOTS = 400
LANES = 5


def dots(episodes: pl.DataFrame) -> pl.DataFrame:
    """A row an episode for `strip`: group, end, shown_h, at_least (not over yet), lane; takes `downtimes.with_hours`.

    At most 400 a group, evenly over its lengths; a minute is the least that is drawn.
    """
    group = pl.when("is_censored").then(pl.lit(STILL_DOWN)).otherwise(pl.col("recovery_kind").replace(GROUPS))
    hours = pl.when("is_censored").then("observed_h").otherwise("hours").clip(LEAST_H)
    rows = episodes.select(
        "failed_session_id", group.alias("group"), pl.col("end_class").alias("end"), hours.alias("shown_h")
    ).drop_nulls("shown_h")
    ranked = rows.sort("shown_h", "failed_session_id").with_columns(
        rank=pl.int_range(pl.len()).over("group"), size=pl.len().over("group")
    )
    step = (pl.col("size") / MOST_DOTS).ceil().clip(1).cast(pl.Int64)
    evenly = ranked.filter((pl.col("rank") % step == 0) | (pl.col("rank") == pl.col("size") - 1))
    return evenly.with_columns(lane=(pl.col("rank") // step) % LANES).drop("rank", "size")


def strip(dots: pl.DataFrame, kinds: pl.DataFrame) -> alt.TopLevelMixin:
    """Every downtime as a dot on a logarithmic axis, with the median of each kind and its interval.

    Takes `dots` and `downtimes.by_kind`; the shape of a dot says what ended the session.
    """
    order = [name for name in COLOURS if name in set(dots["group"])]
    row, scale = _rows("place", order), alt.Scale(type="log", nice=False, padding=14)
    colour = alt.Color("group:N", legend=None, scale=alt.Scale(domain=order, range=[COLOURS[name] for name in order]))
    ends = [name for name in ENDS if name in set(dots["end"])]
    shape = alt.Shape("end:N", title="Ended by", scale=alt.Scale(domain=ends, range=[ENDS[name] for name in ends]))
    place = _place(order) + (pl.col("lane") - LANES // 2) * 0.13
    points = (
        alt.Chart(dots.with_columns(place=place).select("group", "end", "shown_h", "place"))
        .mark_point(size=56, opacity=0.8, filled=False, strokeWidth=1.8, aria=False)
        .encode(_hours("shown_h", scale), row, colour, shape)
    )
    layers = [*_medians(kinds, order, scale), points]
    return alt.layer(*layers).properties(width=WIDTH - 90, height=rows_height(len(order), 66))


def incidence(steps: pl.DataFrame) -> alt.TopLevelMixin:
    """Share of downtimes that each kind of recovery has ended by a time, with its band; takes `recoveries.steps`."""
    named = steps.with_columns(group=pl.col("recovery_kind").replace(GROUPS))
    order = [name for name in COLOURS if name in set(named["group"])]
    lines = alt.Legend(symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=2.4, symbolFillColor="transparent")
    scale = alt.Scale(domain=order, range=[COLOURS[name] for name in order])
    colour = alt.Color("group:N", title=None, scale=scale, legend=lines)
    x = value_axis("after_h", "Hours since training stopped (square-root scale)", channel=alt.X)
    x = x.scale(type="pow", exponent=0.5, nice=False)
    y = ratio_axis("restored_share", "Downtimes ended", channel=alt.Y)
    base = alt.Chart(_thinned(named))
    band = base.mark_area(opacity=0.16, interpolate="step-after", aria=False).encode(
        x, ratio_axis("low_share", "Downtimes ended", channel=alt.Y), alt.Y2("high_share:Q"), colour
    )
    dash = alt.StrokeDash("group:N", title=None, scale=alt.Scale(domain=order, range=[DASHES[name] for name in order]))
    line = base.mark_line(interpolate="step-after", strokeWidth=2.2, aria=False).encode(x, y, colour, dash)
    return alt.layer(band, line).properties(width=WIDTH, height=240)


def week(rows: pl.DataFrame, zone: str) -> alt.TopLevelMixin:
    """How many downtimes began at each hour of the local week, written into the cell; takes `downtimes.by_hour`."""
    named = rows.with_columns(
        weekday=pl.col("local_weekday").replace_strict(dict(enumerate(WEEKDAYS, 1)), return_dtype=pl.String)
    )
    grid = pl.DataFrame({"weekday": [day for day in WEEKDAYS for _ in range(24)], "local_hour": list(range(24)) * 7})
    x = alt.X(
        "local_hour:O",
        title=f"Hour at which it began ({zone})",
        axis=alt.Axis(labelAngle=0),
        scale=alt.Scale(domain=list(range(24)), paddingInner=0.06),
    )
    y = name_axis("weekday", sort=list(WEEKDAYS)).scale(paddingInner=0.08)
    empty = alt.Chart(grid).mark_rect(color=GREY, opacity=0.12, aria=False).encode(x, y)
    most = max(int(rows["episodes"].max() or 1), 4)  # type: ignore[arg-type]
    # Let the page shine through, so that the number can be read on a light page and on a dark one.
    shade = alt.Opacity("episodes:Q", legend=None, scale=alt.Scale(range=[0.2, 0.62], domain=[1, most]))
    cells = alt.Chart(named).mark_rect(color=BLUE, aria=False).encode(x, y, shade, tooltip=_hour_tooltips())
    words = alt.Chart(named).mark_text(aria=False, fontSize=11).encode(x, y, alt.Text("episodes:Q"))
    return alt.layer(empty, cells, words).properties(width=WIDTH - 60, height=7 * 26)


def _hour_tooltips() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("weekday:N", title="Day"),
        alt.Tooltip("local_hour:O", title="Hour"),
        alt.Tooltip("episodes:Q", title="Downtimes"),
        alt.Tooltip("failures:Q", title="Of these after failures"),
        alt.Tooltip("median_h:Q", title="Median length (h)", format=".1f"),
    ]


def _medians(kinds: pl.DataFrame, order: list[str], scale: alt.Scale) -> list[alt.Chart]:
    """A box from side to side of each median's interval, and a line at the median."""
    known = kinds.drop_nulls("median_h").with_columns(group=pl.col("recovery_kind").replace(GROUPS))
    known = known.with_columns(
        **{name: pl.col(name).clip(LEAST_H) for name in ("median_h", "low_h", "high_h")},
        place=_place(order),
    )
    sides = known.with_columns(top=pl.col("place") - 0.42, bottom=pl.col("place") + 0.42)
    base = alt.Chart(sides.select("median_h", "low_h", "high_h", "top", "bottom"))
    row, until = _rows("top", order), alt.Y2("bottom:Q")
    box = base.mark_rect(opacity=0.2, color=GREY, aria=False).encode(
        _hours("low_h", scale), alt.X2("high_h:Q"), row, until
    )
    line = base.mark_rule(strokeWidth=2.4, color=VERMILLION, aria=False).encode(_hours("median_h", scale), row, until)
    return [box, line]


def _place(order: list[str]) -> pl.Expr:
    places = {name: float(order.index(name)) if name in order else -1.0 for name in COLOURS}
    return pl.col("group").replace_strict(places, return_dtype=pl.Float64)


def _rows(field: str, names: list[str]) -> alt.Y:
    """Names at whole numbers of a plain axis, so that dots of one name can stand above one another."""
    told = f"{json.dumps(names)}[datum.value]"
    axis = alt.Axis(values=list(range(len(names))), labelExpr=told, ticks=False, domain=False, grid=False)
    scale = alt.Scale(domain=[-0.5, len(names) - 0.5], reverse=True, nice=False, zero=False)
    return alt.Y(f"{field}:Q", title=None, axis=axis, scale=scale)


def _hours(field: str, scale: alt.Scale) -> alt.X:
    axis: alt.X = value_axis(field, "Length (h, logarithmic)", channel=alt.X, scale=scale)
    return axis.axis(format="~g", values=TICKS_H, labelOverlap="greedy")


def _thinned(steps: pl.DataFrame) -> pl.DataFrame:
    every = max(1, steps.height // 2000)
    return steps.filter((pl.int_range(pl.len()) % every == 0) | (pl.col("after_h") == pl.col("after_h").max()))
