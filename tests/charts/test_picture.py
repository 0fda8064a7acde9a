"""Pictures: harmless, small, the same wherever they are drawn, legible in the dark."""

import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import altair as alt
import polars as pl
import pytest

from gangline.charts import picture, theme
from tests.report.making import HOSTILE

START = datetime(2025, 10, 6, tzinfo=UTC)


def bars(names: list[str]) -> alt.Chart:
    rows = pl.DataFrame({"node": names, "h": [float(n) for n in range(len(names))]})
    return (
        alt.Chart(rows)
        .mark_bar()
        .encode(x=theme.value_axis("h", "Excluded (h)", channel=alt.X), y=theme.name_axis("node"))
    )


def line(count: int = 48) -> alt.Chart:
    rows = pl.DataFrame(
        {"at": [START + timedelta(hours=n) for n in range(count)], "h": [n % 7 / 7 for n in range(count)]}
    )
    return alt.Chart(rows).mark_line().encode(x=theme.time_axis("at"), y=theme.value_axis("h", "Load (GB/s)"))


def test_hostile_names_are_drawn_as_text() -> None:
    drawn = picture.svg(bars(list(HOSTILE)))
    assert "<script" not in drawn
    assert "<img" not in drawn
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in drawn
    assert "한국어 노드 이름" in drawn
    assert f">{'x' * 39}…<" in drawn


def test_long_names_alike_are_not_added_up() -> None:
    drawn = picture.svg(bars(["x" * 100 + "1", "x" * 100 + "2"]))
    assert f">{'x' * 39}…<" in drawn
    assert f">{'x' * 39}… (2)<" in drawn


def test_coordinates_are_rounded_and_names_are_not() -> None:
    drawn = picture.svg(bars(["v0.123456", "gpu"]))
    assert ">v0.123456<" in drawn
    attributes = re.findall(r' (?:d|transform|x|y|width)="([^"]*)"', drawn)
    assert attributes
    assert not any(re.search(r"\.\d{3}", attribute) for attribute in attributes)


def test_a_style_for_the_dark_and_no_background() -> None:
    drawn = picture.svg(line())
    assert "@media (prefers-color-scheme:dark)" in drawn
    assert 'fill="white"' not in drawn
    assert "aria-label" not in drawn


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Seoul"])
def test_axes_are_utc_on_any_machine(zone: str) -> None:
    imports = "from tests.charts.test_picture import line; from gangline.charts import picture"
    source = f"{imports}; print(picture.svg(line()), end='')"
    environment = os.environ | {"TZ": zone}
    told = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, env=environment)
    assert told.stdout == picture.svg(line())
    assert ">06 Oct<" in told.stdout
    assert ">12:00<" in told.stdout
    assert ">Time (UTC)<" in told.stdout


def test_the_clock_of_another_zone_is_named() -> None:
    rows = pl.DataFrame({"at": [START, START + timedelta(hours=12)], "h": [1.0, 2.0]})
    local = theme.wall_clock(rows, ["at"], "Asia/Seoul")
    assert local["at"].to_list() == [START + timedelta(hours=9), START + timedelta(hours=21)]
    assert theme.time_axis("at", zone="Asia/Seoul").to_dict()["title"] == "Time (Asia/Seoul)"


def test_instants_keep_their_offset_over_a_clock_change() -> None:
    """Regression of vega/altair#3921: five hours around the autumn change stay five points."""
    first = datetime(2023, 11, 5, 6, tzinfo=UTC)
    rows = pl.DataFrame({"at": [first + timedelta(hours=n) for n in range(5)]})
    local = rows.with_columns(pl.col("at").dt.convert_time_zone("US/Mountain"))
    specification = picture.specification(alt.Chart(local).mark_point().encode(x=theme.time_axis("at")))
    (points,) = specification["datasets"].values()
    assert [point["at"][-5:] for point in points] == ["-0600", "-0600", "-0700", "-0700", "-0700"]


def test_more_rows_than_a_picture_has_pixels_are_refused() -> None:
    with pytest.raises(alt.MaxRowsError):
        picture.svg(line(6000))


def test_the_size_is_read_from_the_picture() -> None:
    width, height = picture.size(picture.svg(line()))
    assert theme.WIDTH < width < theme.WIDTH + 100
    assert theme.HEIGHT < height < theme.HEIGHT + 100
