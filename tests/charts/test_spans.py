"""Windows as axes: the zone's clock, whole days, bars that leave a gap."""

from datetime import date

import polars as pl
import pytest

from gangline.charts import picture
from gangline.charts.spans import Span, bar_ends
from gangline.windows import Window


def test_the_axis_shows_the_zones_clock_from_edge_to_edge() -> None:
    span = Span.of(Window.between("2026-03-02", "2026-03-09", "Asia/Seoul"))
    (edges,) = picture.specification(span.edges("at"))["datasets"].values()  # type: ignore[attr-defined]
    assert [row["at"] for row in edges] == ["2026-03-02T00:00:00+0000", "2026-03-09T00:00:00+0000"]
    assert span.axis("at").to_dict()["title"] == "Time (Asia/Seoul)"


def test_an_hour_that_the_clock_repeats_is_drawn_over_itself() -> None:
    span = Span.of(Window.between("2026-10-31", "2026-11-02", "America/New_York"))
    at = pl.DataFrame({"at": ["2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"]}).with_columns(
        pl.col("at").str.to_datetime(time_zone="UTC")
    )
    assert span.clocked(at, "at")["at"].dt.strftime("%H:%M").to_list() == ["01:30", "01:30"]


def test_an_empty_window_has_a_pixel() -> None:
    assert Span.of(Window.whole(None, None, "UTC")).pixel.total_seconds() == pytest.approx(1e-6)


@pytest.mark.parametrize(("stretch", "days"), [("day", 1), ("week", 7), ("month", 28)])
def test_bars_leave_a_tenth_free(stretch: str, days: int) -> None:
    (row,) = bar_ends(pl.DataFrame({"day": [date(2026, 2, 1)]}), stretch).rows(named=True)
    assert (row["to"] - row["from"]).total_seconds() == pytest.approx(0.9 * 86_400 * days)
