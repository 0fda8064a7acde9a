"""The house's look for Altair charts: colours, axes and the settings that every chart shares.

Importing this module enables the theme. Times are UTC-aware columns on a UTC scale, else Vega would draw them in the
zone of whatever machine renders the page. Colours are those of Okabe and Ito (jfly.uni-koeln.de/color), told apart by
readers with any kind of colour vision; give series a dash or a shape as well.
"""

from typing import Any
from zoneinfo import ZoneInfo

import altair as alt
import polars as pl

BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, GREY = "#E69F00", "#56B4E9", "#8A94A6"
SERIES = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, GREY)
DASHES: tuple[tuple[int, int], ...] = ((1, 0), (6, 3), (2, 2), (8, 2), (4, 4), (1, 3), (10, 4))
HEAT_SCHEME = "viridis"
NO_DATA = "#B8BFCA"

INK, QUIET, LINE = "#1a2233", "#5b6678", "#dfe4ea"
FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Noto Sans KR', 'DejaVu Sans', sans-serif"
TIME_FORMAT = {
    "year": "%Y",
    "quarter": "%b %Y",
    "month": "%d %b",
    "week": "%d %b",
    "date": "%d %b",
    "day": "%d %b",
    "hours": "%H:%M",
    "minutes": "%H:%M",
    "seconds": "%H:%M:%S",
    "milliseconds": "%H:%M:%S.%L",
}
WIDTH, HEIGHT = 860, 240
ROW_HEIGHT = 16


@alt.theme.register("gangline", enable=True)
def house() -> alt.theme.ThemeConfig:
    """Give the theme; `alt.theme.enable("gangline")` turns it on again where another was chosen."""
    return {"config": _config()}


def time_axis(field: str, title: str | None = None, zone: str = "UTC", **axis: Any) -> alt.X:
    """Put an instant on x, on a UTC scale, the zone named in the title.

    Parameters
    ----------
    field : str
        A UTC-aware column; for another zone, one that `wall_clock` made.
    zone : str
        The zone that the column's clock shows.
    """
    return alt.X(f"{field}:T", title=title or f"Time ({zone})", scale=alt.Scale(type="utc"), axis=_time_ticks(axis))


def wall_clock(frame: pl.DataFrame, columns: list[str], zone: str) -> pl.DataFrame:
    """Turn UTC instants into the zone's own clock, for a `time_axis` titled with that zone.

    An hour that the clock repeats is drawn over itself; say so beside a chart that shows one.
    """
    ZoneInfo(zone)
    shown = [pl.col(column).dt.convert_time_zone(zone).dt.replace_time_zone(None) for column in columns]
    return frame.with_columns([column.dt.replace_time_zone("UTC") for column in shown])


def value_axis(field: str, title: str, *, channel: type[Any] = alt.Y, zero: bool = True, **options: Any) -> Any:
    """Put a number on y (or on `channel`), its unit in the title."""
    scale = options.pop("scale", alt.Scale(zero=zero, nice=True))
    return channel(f"{field}:Q", title=title, scale=scale, **options)


def ratio_axis(field: str, title: str, *, channel: type[Any] = alt.X, top: float | None = 1.0) -> Any:
    """Put a ratio on x (or on `channel`) in per cent, from 0 to `top` (None: as far as the data goes)."""
    scale = alt.Scale(domainMin=0) if top is None else alt.Scale(domain=[0, top])
    return channel(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(format="~%"))


def name_axis(field: str, title: str | None = None, *, sort: Any = None, channel: type[Any] = alt.Y) -> Any:
    """Put names on y in the frame's own order; cut long ones first with `labels.shortened`."""
    return channel(
        f"{field}:N",
        title=title,
        sort=sort,
        axis=alt.Axis(ticks=False, domain=False, labelOverlap=True),
    )


def series_colour(field: str, names: list[str], title: str | None = None) -> alt.Color:
    """Colour a few named series, each name always the same colour; the seventh and later share grey."""
    colours = [SERIES[min(position, len(SERIES) - 1)] for position in range(len(names))]
    return alt.Color(f"{field}:N", title=title, scale=alt.Scale(domain=names, range=colours))


def series_dash(field: str, names: list[str]) -> alt.StrokeDash:
    """Dash the same series, so that they are told apart without colour."""
    dashes = [list(DASHES[min(position, len(DASHES) - 1)]) for position in range(len(names))]
    return alt.StrokeDash(f"{field}:N", title=None, scale=alt.Scale(domain=names, range=dashes), legend=None)


def rows_height(count: int, row_height: int = ROW_HEIGHT, least: int = 60, most: int = 1100) -> int:
    """Give the height of a chart with `count` rows; print keeps a picture on one page up to about 1,100."""
    return max(least, min(most, count * row_height))


def _time_ticks(axis: dict[str, Any]) -> alt.Axis:
    usual: dict[str, Any] = {
        "format": TIME_FORMAT,
        "tickCount": 8,
        "labelOverlap": "greedy",
        "labelFlush": True,
        "grid": True,
    }
    return alt.Axis(**usual | axis)


def _config() -> Any:
    text: dict[str, Any] = {
        "labelFont": FONT,
        "titleFont": FONT,
        "labelColor": QUIET,
        "titleColor": QUIET,
        "labelFontSize": 11.5,
        "labelLimit": 0,
    }
    return {
        "aria": False,
        "background": None,
        "font": FONT,
        "view": {"continuousWidth": WIDTH, "continuousHeight": HEIGHT, "discreteWidth": WIDTH, "stroke": None},
        "range": {"category": list(SERIES), "heatmap": {"scheme": HEAT_SCHEME}, "ramp": {"scheme": HEAT_SCHEME}},
        **_guides(text),
        **_marks(),
    }


def _guides(text: dict[str, Any]) -> dict[str, Any]:
    """Axes, legends and titles, whose labels are `text`."""
    return {
        "axis": text
        | {"titleFontSize": 12, "titleFontWeight": 500, "gridColor": LINE, "domainColor": "#aab3c0"}
        | {"tickColor": "#aab3c0", "labelPadding": 5, "titlePadding": 9},
        "axisX": {"grid": False},
        "axisQuantitative": {"tickCount": 6, "grid": True},
        "axisBand": {"grid": False},
        "legend": text
        | {"titleFontSize": 12, "titleFontWeight": 600, "orient": "top", "symbolSize": 90, "titleLimit": 0},
        "title": {"font": FONT, "color": INK, "fontSize": 13, "anchor": "start", "fontWeight": 600},
        "header": text | {"titleFontSize": 12},
    }


def _marks() -> dict[str, Any]:
    return {
        "text": {"font": FONT, "color": INK, "fontSize": 11.5},
        "bar": {"color": BLUE},
        "line": {"color": BLUE, "strokeWidth": 1.6},
        "area": {"color": SKY},
        "point": {"color": BLUE, "filled": True, "size": 36},
        "rule": {"color": QUIET},
    }
