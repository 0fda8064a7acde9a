"""Pictures of the storage over time: the average save and start, how loads come in, how full the storage is."""

from typing import Any

import altair as alt
import polars as pl

from gangline.charts.spans import Span, framed
from gangline.charts.theme import BLUE, GREY, QUIET, SKY, VERMILLION, WIDTH, ratio_axis, value_axis
from gangline.windows import Window

PANEL_HEIGHT = 78
SCALES = {"G": 1e9, "M": 1e6, "k": 1e3, "": 1.0}
MOST_CURVES, MOST_POINTS = 60, 4000


def epochs(rows: pl.DataFrame, peaks: pl.DataFrame, unit_s: int, title: str) -> alt.TopLevelMixin:
    """Each layer's median and middle half over all saves (or starts), on one axis of time since their start.

    Parameters
    ----------
    rows
        From `save_epochs.saves` or `starts`, with `layer`.
    peaks
        From `save_epochs.peaks`; a red line at each layer's usual peak. Empty: none.
    unit_s : int
        Seconds of a unit of the axis: 1 or 60.
    """
    if rows.is_empty():
        return alt.Chart(rows).mark_line()
    layers = rows["layer"].unique(maintain_order=True).to_list()
    titles = dict.fromkeys(layers, " ") | {layers[-1]: title}
    panels = [_panel(rows.filter(pl.col("layer") == layer), peaks, unit_s, titles[layer]) for layer in layers]
    return alt.vconcat(*panels, spacing=6)


def tails(curves: pl.DataFrame, slowest: str) -> alt.TopLevelMixin:
    """How the bytes of each load came in; takes `load_starts.curves`, red the load with the slowest tail."""
    shown = [slowest, *(name for name in curves["load_id"].unique(maintain_order=True) if name != slowest)]
    drawn = _thinned(curves.filter(pl.col("load_id").is_in(shown[:MOST_CURVES]))).with_columns(
        is_slowest=pl.col("load_id") == slowest
    )
    x, y = (
        value_axis("minute", "Minutes since the load began", channel=alt.X),
        ratio_axis("share_ratio", "Share of its bytes", channel=alt.Y),
    )
    base = alt.Chart(drawn).encode(x, y, alt.Detail("load_id:N"))
    others = base.transform_filter("!datum.is_slowest").mark_line(color=BLUE, strokeWidth=1.1, opacity=0.55, aria=False)
    worst = base.transform_filter("datum.is_slowest").mark_line(color=VERMILLION, strokeWidth=2.4, aria=False)
    mark = alt.Chart(pl.DataFrame({"share_ratio": [0.9]})).mark_rule(color=QUIET, strokeDash=[5, 3]).encode(y)
    return framed(alt.layer(others, worst, mark), 260)


def capacity(levels: pl.DataFrame, forecast: pl.DataFrame, window: Window) -> alt.TopLevelMixin:
    """What is used, the trend with its interval, and the size; takes `storage_capacity.largest` and `forecast`."""
    if levels.is_empty():
        return alt.Chart(levels).mark_line()
    span = Span(window.start, max([window.end, *forecast["at"].to_list()]), window.time_zone)
    x, y = span.axis("at"), "Used (TB)"
    size = pl.DataFrame({"size_tb": [float(levels["size_tb"][-1])]})
    parts: list[Any] = [
        alt.Chart(size).mark_rule(color=QUIET, strokeDash=[5, 3], strokeWidth=1.6).encode(value_axis("size_tb", y)),
    ]
    if forecast.height:
        ahead = alt.Chart(span.clocked(forecast, "at"))
        band = ahead.mark_area(color=SKY, opacity=0.4, aria=False)
        parts.append(band.encode(x, value_axis("low_tb", y), alt.Y2("high_tb:Q")))
        parts.append(ahead.mark_line(color=BLUE, strokeDash=[6, 3], aria=False).encode(x, value_axis("used_tb", y)))
    hours = levels.select("at", "used_tb").gather_every(max(1, -(-levels.height // MOST_POINTS)))
    used = alt.Chart(span.clocked(hours, "at")).mark_line(color=BLUE, strokeWidth=2.2, aria=False)
    return framed(alt.layer(*parts, used.encode(x, value_axis("used_tb", y))), 250)


def _panel(rows: pl.DataFrame, peaks: pl.DataFrame, unit_s: int, title: str) -> Any:
    x = value_axis("lag", title, channel=alt.X, scale=alt.Scale(nice=False, zero=False))
    scale, y_title = _scale(rows)
    drawn = rows.select(
        (pl.col("lag_s") / unit_s).alias("lag"), *(pl.col(name) / scale for name in ("median", "q1", "q3"))
    )
    base = alt.Chart(drawn)
    axis = {"tickCount": 3, "format": ".5~g"}  # of "~g" alone Vega makes 8e+1
    area = base.mark_area(color=SKY, opacity=0.45, aria=False).encode(
        x, value_axis("q1", y_title).axis(**axis), alt.Y2("q3:Q")
    )
    line = base.mark_line(color=BLUE, strokeWidth=1.8, aria=False).encode(x, value_axis("median", y_title).axis(**axis))
    start = alt.Chart(pl.DataFrame({"lag": [0.0]})).mark_rule(color=GREY, strokeDash=[3, 3]).encode(alt.X("lag:Q"))
    marks = peaks.filter(pl.col("role") == rows["role"][0]).select((pl.col("median_s") / unit_s).alias("lag"))
    peak = alt.Chart(marks).mark_rule(color=VERMILLION, strokeWidth=1.6).encode(alt.X("lag:Q"))
    layered = alt.layer(area, line, start, peak) if marks.height else alt.layer(area, line, start)
    return layered.properties(width=WIDTH - 40, height=PANEL_HEIGHT, title=str(rows["layer"][0]))


def _thinned(curves: pl.DataFrame) -> pl.DataFrame:
    """Every so many points of each curve, and its last one."""
    every = max(1, -(-curves.height // MOST_POINTS))
    place = pl.int_range(pl.len()).over("load_id")
    return curves.filter((place % every == 0) | (place == place.max().over("load_id")))


def _scale(rows: pl.DataFrame) -> tuple[float, str]:
    """What bytes are divided by so that their axis has short numbers, and the unit then; other units stay."""
    unit, high = str(rows["unit"][0]), max([0.0, *rows["q3"].to_list()])
    if not unit.startswith("bytes"):
        return 1.0, unit
    prefix = next((prefix for prefix, size in SCALES.items() if high >= size), "")
    return SCALES[prefix], f"{prefix}B{unit.removeprefix('bytes')}"
