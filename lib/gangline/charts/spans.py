"""A window as the x axis of a picture: the zone's clock, from the window's first instant to its last."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import altair as alt
import polars as pl

from gangline.charts.theme import WIDTH, time_axis, value_axis, wall_clock
from gangline.windows import Window

FULL_WIDTH = 940


@dataclass(frozen=True)
class Span:
    """The stretch of time that a picture covers.

    An hour that the zone's clock repeats is drawn over itself, one that it skips is empty.
    """

    start: datetime
    end: datetime
    zone: str

    @classmethod
    def of(cls, window: Window) -> "Span":
        """Cover a window."""
        return cls(window.start, window.end, window.time_zone)

    @property
    def pixel(self) -> timedelta:
        """What one pixel of the picture's width stands for."""
        return max((self.end - self.start) / WIDTH, timedelta(microseconds=1))

    def clocked(self, frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
        """Turn UTC instants into what the zone's clock shows."""
        return wall_clock(frame, list(columns), self.zone)

    def axis(self, field: str, title: str | None = None) -> alt.X:
        """Put a column that `clocked` made on x; `edges` makes the axis as long as the window."""
        return time_axis(field, title, self.zone).scale(type="utc", nice=False)

    def edges(self, field: str, title: str | None = None) -> alt.Chart:
        """Give a layer that nobody sees at both ends of the window, on the axis of `field`.

        A domain would say it shorter, but Vega takes that of a bar with two ends for two that conflict, and warns.
        """
        ends = self.clocked(pl.DataFrame({field: [self.start, self.end]}), field)
        return alt.Chart(ends).mark_rule(opacity=0, aria=False).encode(self.axis(field, title))

    def day_axis(self, field: str) -> alt.X:
        """Put local days on x, the first and the last one whole."""
        return time_axis(field, f"Day ({self.zone})")


def framed(chart: Any, height: float) -> alt.TopLevelMixin:
    """Give a picture its height and the page's whole width, axis and labels included, so that all are equally wide."""
    return chart.properties(
        width=FULL_WIDTH, height=height, autosize=alt.AutoSizeParams(type="fit-x", contains="padding")
    )


def counts(field: str, title: str, **options: Any) -> Any:
    """Put a count on y, with ticks at whole numbers only."""
    return value_axis(field, title, **options).axis(tickMinStep=1, tickCount=5)


def bar_ends(frame: pl.DataFrame, stretch: str) -> pl.DataFrame:
    """Add `from` and `to`, the ends of a bar for each local `day`, a tenth of the stretch left free between bars."""
    until = {"day": "1d", "week": "1w", "month": "1mo"}[stretch]
    opened = frame.with_columns(pl.col("day").cast(pl.Datetime("us", "UTC")).alias("from"))
    length = pl.col("from").dt.offset_by(until) - pl.col("from")
    return opened.with_columns((pl.col("from") + length * 0.9).alias("to"))
