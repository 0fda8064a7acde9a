"""Pictures of runs: rework stands out, many runs fit, hostile names are text, nothing is a picture too."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import duckdb
import polars as pl
import pytest

from gangline import run_curves
from gangline.charts import picture
from gangline.charts import runs as charts
from tests.recovering import days
from tests.report.making import HOSTILE
from tests.running import cluster_with_runs

DAY = days(1, 2)


@pytest.fixture(scope="module")
def story() -> Iterator[duckdb.DuckDBPyConnection]:
    with cluster_with_runs() as con:
        yield con


def curve_of(efforts: list[str], rows: int) -> pl.DataFrame:
    """A run an effort, `rows` rows each."""
    start = datetime(2026, 3, 1, tzinfo=UTC)
    lines = [
        (effort, f"r{place}", 100_000, False, start + timedelta(minutes=row), row, 1.0, 2.0, 3.0, 1)
        for place, effort in enumerate(efforts)
        for row in range(rows)
    ]
    kinds = [
        pl.String,
        pl.String,
        pl.Int64,
        pl.Boolean,
        pl.Datetime("us", "UTC"),
        pl.Int64,
        *[pl.Float64] * 3,
        pl.Int64,
    ]
    names = ("effort", "run_id", "stretch", "is_lost", "from_at", "step", "low", "middle", "high", "points")
    schema = dict(zip(names, kinds, strict=True))
    return pl.DataFrame(lines, schema=schema, orient="row")


def test_what_was_done_again_is_a_series_of_its_own(story: duckdb.DuckDBPyConnection) -> None:
    rows = charts.shown(run_curves.progress(story, DAY))
    assert charts.order(rows) == ["train", "sweep", "done again later"]
    lost = rows.filter(series="done again later").sort("from_at")
    assert lost.select("run_id", "step").rows() == [("ra", 30), ("ra", 40), ("rb", 40)]
    assert rows.filter(run_id="rb")["line"].n_unique() == 3


def test_each_new_begin_is_marked_with_its_kind(story: duckdb.DuckDBPyConnection) -> None:
    rows, again = charts.shown(run_curves.progress(story, DAY)), run_curves.restarts(story, DAY)
    svg = picture.svg(charts.progress(rows, again, DAY))
    assert all(f">{word}<" in svg for word in ("new run", "inside", "train", "done again later"))


def test_metrics_have_their_name_on_the_axis(story: duckdb.DuckDBPyConnection) -> None:
    steps = charts.shown(run_curves.over_steps(story, DAY, "train/loss"))
    timed = charts.shown(run_curves.over_time(story, DAY, "train/loss"))
    again = run_curves.restarts(story, DAY)
    for chart in (charts.by_step(steps, "train/loss"), charts.over_time(timed, again, "train/loss", DAY)):
        assert ">train/loss<" in picture.svg(chart)


def test_runs_that_do_not_fit_are_left_out_whole() -> None:
    rows = charts.shown(curve_of([f"e{place}" for place in range(20)], 600))
    assert rows.height == charts.MOST_ROWS
    assert set(rows.group_by("run_id").len()["len"]) == {600}


def test_one_run_alone_is_cut() -> None:
    assert charts.shown(curve_of(["e"], 9000)).height == charts.MOST_ROWS


def test_efforts_without_a_colour_share_one() -> None:
    rows = charts.shown(curve_of([f"e{place}" for place in range(8)], 3))
    assert charts.order(rows) == ["e0", "e1", "e2", "e3", "e4", "other efforts"]


def test_hostile_names_are_text() -> None:
    rows = charts.shown(curve_of(list(HOSTILE), 3))
    assert len(charts.order(rows)) == 6
    for chart in (charts.by_step(rows, "\u202eloss <b>"), charts.progress(rows, _no_restarts(), DAY)):
        assert "<script" not in picture.svg(chart)
        assert "<b>" not in picture.svg(chart)


def test_nothing_is_a_picture_too() -> None:
    rows = charts.shown(curve_of([], 0))
    charted = (
        charts.progress(rows, _no_restarts(), DAY),
        charts.by_step(rows, "Loss"),
        charts.over_time(rows, _no_restarts(), "Throughput", DAY),
    )
    assert all(picture.svg(chart).startswith("<svg") for chart in charted)


def _no_restarts() -> pl.DataFrame:
    schema = {"at": pl.Datetime("us", "UTC"), "step": pl.Int64, "kind": pl.String}
    return pl.DataFrame(schema=schema)
