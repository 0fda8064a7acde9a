"""Pictures of telemetry: what stands on which axis, and that they draw."""

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from gangline import telemetry
from gangline.charts import picture
from gangline.charts import telemetry as charts
from gangline.courses import Course
from gangline.roles import RoleKind, RoleSource
from gangline.roles.resolving import ResolvedRole
from gangline.windows import Window

START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def course() -> Course:
    role = ResolvedRole("gpu_util", RoleKind.LEVEL, "ratio", RoleSource("dcgm-exporter", "U"), False, pl.DataFrame())
    window = Window.between("2026-03-01", "2026-03-02", "Asia/Seoul")
    values = np.array([[0.1, 0.9], [0.2, np.nan], [0.3, 0.8]])
    return Course(role, "ratio", window, timedelta(hours=8), ("n1", "<b>n2"), values)


def test_the_band_has_a_line_a_node_in_colour_and_dash(course: Course) -> None:
    chart = charts.band(course, telemetry.band(course), telemetry.lines(course, ["n1", "<b>n2"])).to_dict()
    area, median, over = chart["layer"]
    assert (area["encoding"]["y"]["field"], area["encoding"]["y2"]["field"]) == ("p5", "p95")
    assert median["encoding"]["y"]["title"] == "gpu_util (ratio)"
    assert over["encoding"]["color"]["scale"]["domain"] == ["n1", "<b>n2"]
    assert over["encoding"]["strokeDash"]["scale"]["domain"] == ["n1", "<b>n2"]
    assert over["encoding"]["x"]["title"] == "Time (Asia/Seoul)"


def test_every_picture_draws(course: Course) -> None:
    rows = telemetry.lines(course, ["n1"]).select(
        pl.lit("gpu_util (ratio)").alias("layer"), "at", "value", median="value"
    )
    for chart in (
        charts.band(course, telemetry.band(course), telemetry.lines(course, ["n1"])),
        charts.heat(course, telemetry.cells(course)),
        charts.heat(course, telemetry.cells(course).clear()),
        charts.layers(course, rows),
    ):
        assert "<svg" in picture.svg(chart)
