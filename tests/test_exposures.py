"""Training hours and ends of a window: runs where they are linked, sessions where none is, both counts, the gaps."""

from collections.abc import Iterator
from dataclasses import replace

import duckdb
import polars as pl
import pytest

from gangline import exposures
from gangline.exclusions import NO_SESSIONS
from gangline.windows import Window
from tests.checkpointing import cluster_with_checkpoints
from tests.recovering import DAY, at, days

WHOLE = days(1, 10)


@pytest.fixture
def story() -> Iterator[duckdb.DuckDBPyConnection]:
    with cluster_with_checkpoints() as con:
        yield con


def minutes(first: float, last: float) -> Window:
    return Window.between(at(first), at(last), "UTC")


def made(hours: list[float], ended: list[bool], lineage: list[str] | None = None) -> exposures.Exposure:
    """An exposure of sessions one after another, abnormal where they ended."""
    count = len(hours)
    sessions = pl.DataFrame(
        {
            "session_id": [f"s{place}" for place in range(count)],
            "lineage_id": lineage or ["all"] * count,
            "exposure_h": hours,
            "node_h": [60 * hour for hour in hours],
            "shown_to": [DAY.replace(day=1 + place) for place in range(count)],
            "ended_at": [DAY.replace(day=1 + place) for place in range(count)],
            "ends_within": ended,
            "is_abnormal_end": ended,
            "is_failure": ended,
            "reached_training": [True] * count,
            "run_ids": [[f"r{place}"] for place in range(count)],
        }
    )
    return exposures.Exposure(sessions, is_from_runs=True, unlinked=0, has_sessions=True)


def test_runs_tell_the_hours_and_their_sessions_the_ends(story: duckdb.DuckDBPyConnection) -> None:
    found = exposures.exposure(story, WHOLE)
    assert found.is_from_runs
    assert dict(found.sessions.select("session_id", "exposure_h").rows()) == pytest.approx(
        {"a": 595 / 60, "b": 6.0, "d": 295 / 60}
    )
    figures = exposures.figures(found)
    values = {name.removeprefix("checkpoints."): estimate.value for name, estimate in figures.items()}
    assert values == pytest.approx(
        {"runs": 3, "abnormal_ends": 2, "failure_ends": 2, "training_h": 1250 / 60, "mtbf_h": 1250 / 120}
    )
    assert figures["checkpoints.runs"].unit == "runs"


def test_hours_are_cut_to_the_window_and_open_runs_count(story: duckdb.DuckDBPyConnection) -> None:
    found = exposures.exposure(story, minutes(300, 700))
    assert dict(found.sessions.select("session_id", "exposure_h").rows()) == pytest.approx({"a": 5.0, "b": 80 / 60})
    assert found.ends["session_id"].to_list() == ["a"]


def test_an_end_counts_where_it_falls_though_its_run_ended_before(story: duckdb.DuckDBPyConnection) -> None:
    found = exposures.exposure(story, minutes(990, 1001))
    assert found.sessions.select("session_id", "exposure_h", "run_ids").rows() == [("b", 0.0, [])]
    assert found.ends.height == 1
    assert exposures.figures(found)["checkpoints.mtbf_h"].reason == "there is no exposure"


def test_runs_side_by_side_count_once_and_those_of_no_gang_do_not(story: duckdb.DuckDBPyConnection) -> None:
    story.execute("update marts.run_processes set session_id = 'a'")
    sessions = exposures.exposure(story, WHOLE).sessions
    assert sessions.select("session_id", "run_ids", "exposure_h").rows() == [
        ("a", ["ra", "rb", "rd"], pytest.approx(1250 / 60))
    ]
    story.execute("insert into marts.run_processes by name select * replace (9 as process) from marts.run_processes")
    assert exposures.exposure(story, WHOLE).hours == pytest.approx(1250 / 60)
    story.execute("update marts.sessions set is_gang = false")
    assert exposures.exposure(story, WHOLE).sessions.is_empty()


def test_without_runs_sessions_that_trained_stand_in() -> None:
    with cluster_with_checkpoints(has_runs=False) as con:
        found = exposures.exposure(con, WHOLE)
        figures = exposures.figures(found)
    assert not found.is_from_runs
    assert found.sessions["session_id"].to_list() == ["a", "b", "d"]  # c lasted 20 min
    assert found.hours == pytest.approx((600 + 390 + 9 * 1440 - 1100) / 60)
    assert figures["checkpoints.runs"].unit == "sessions"
    assert "no run linked" in figures["checkpoints.training_h"].method


def test_trained_sessions_without_a_run_are_counted_as_left_out(story: duckdb.DuckDBPyConnection) -> None:
    assert exposures.exposure(story, WHOLE).unlinked == 0
    story.execute("delete from marts.run_processes where session_id = 'b'")
    assert exposures.exposure(story, WHOLE).unlinked == 1


def test_both_counts_of_the_504_gpu_report() -> None:
    """23 ends in 1,294 h at 60 nodes (arXiv 2605.09370): 56.26 h (37.49-88.75), 7.11 per 1,000 node-days."""
    found = made([1294 / 24] * 24, [True] * 23 + [False])
    both = exposures.by_ends(found)
    assert both.select("ends", "count").rows() == [(exposures.ALL_ENDS, 23), (exposures.FAILURES, 23)]
    assert both.row(0)[2:5] == pytest.approx((56.26, 37.49, 88.75), abs=5e-3)
    assert both.row(0)[5:] == pytest.approx((7.11, 4.51, 10.67), abs=5e-3)
    assert exposures.figures(found)["checkpoints.runs"].value == 24


def test_ends_of_sessions_that_never_trained_are_told_apart() -> None:
    found = made([10.0, 20.0], [True, True])
    reached = pl.Series("reached_training", [True, False])
    untrained = replace(found, sessions=found.sessions.with_columns(reached))
    assert exposures.by_ends(untrained).select("ends", "count").rows()[2:] == [(exposures.TRAINED, 1)]


def test_gaps_are_training_hours_between_ends_of_one_lineage() -> None:
    found = made([1.0, 5.0, 2.0, 4.0, 3.0, 7.0], [True, False, True, True, True, False], ["x"] * 4 + ["y"] * 2)
    law = exposures.gaps(found)
    # x: ends at 1, 8 and 12 h of 12; y: an end at 3 h, then 7 h more. Gaps: 7, 4, and 7 that is open.
    assert law.shape.n == 2
    assert "1 gap still open" in law.shape.method
    assert "2 ended gaps" in law.power


def test_nothing_is_said_as_what_it_is(story: duckdb.DuckDBPyConnection) -> None:
    empty = exposures.exposure(story, Window.between("2025-01-01", "2025-01-08", "UTC"))
    assert {estimate.reason for estimate in exposures.figures(empty).values()} == {exposures.NO_TRAINING}
    assert exposures.by_ends(empty).is_empty()
    assert exposures.gaps(empty).shape.value is None
    story.execute("delete from marts.run_processes")
    story.execute("delete from marts.sessions")
    none = exposures.figures(exposures.exposure(story, WHOLE))
    assert {estimate.reason for estimate in none.values()} == {NO_SESSIONS}


def test_no_end_leaves_a_lower_bound(story: duckdb.DuckDBPyConnection) -> None:
    story.execute("update marts.sessions set is_abnormal_end = false, is_failure = false")
    found = exposures.figures(exposures.exposure(story, WHOLE))["checkpoints.mtbf_h"]
    assert found.value is None
    assert found.low == pytest.approx(1250 / 60 / 3.6889, rel=1e-4)
