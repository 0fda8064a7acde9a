"""Runs of a window: which there were, how they ended, what linked them, and what is said where there are none."""

from collections.abc import Iterator

import duckdb
import pytest

from gangline import runs
from gangline.windows import Window
from tests.recovering import days
from tests.running import cluster_with_runs

WHOLE = days(1, 11)


@pytest.fixture(scope="module")
def story() -> Iterator[duckdb.DuckDBPyConnection]:
    with cluster_with_runs() as con:
        yield con


def test_runs_by_start_with_their_effort(story: duckdb.DuckDBPyConnection) -> None:
    rows = runs.by_run(story, WHOLE)
    assert rows.select("run_id", "effort", "session_id").rows() == [
        ("ra", "train", "a"),
        ("s1", "sweep", None),
        ("s2", "sweep", None),
        ("rb", "train", "b"),
        ("u", "<b>nobody's</b>", None),
    ]
    assert runs.case(story, rows) == "found"


def test_a_run_belongs_to_every_window_in_which_it_was(story: duckdb.DuckDBPyConnection) -> None:
    def shown(start: str, end: str) -> list[tuple[str, bool]]:
        rows = runs.by_run(story, Window.between(f"2026-03-01T{start}", f"2026-03-01T{end}", "UTC"))
        return rows.select("run_id", "began_within").rows()

    assert shown("00:06", "00:10") == [("ra", False), ("s1", False), ("s2", True)]
    assert shown("00:55", "02:15") == [("ra", False)]
    assert shown("00:56", "02:15") == []
    assert shown("02:15", "02:16") == [("rb", True)]


def test_what_is_counted(story: duckdb.DuckDBPyConnection) -> None:
    rows = runs.by_run(story, WHOLE)
    counts = {"runs": 5, "linked": 2, "with_steps": 4, "sampled": 0, "unfinished": 0, "nan_runs": 1, "damaged": 0}
    assert runs.counts(rows) == counts
    assert runs.states(rows).rows() == [("finished", 2, 2), ("crashed", 1, 1), ("failed", 1, 1), ("killed", 1, 0)]
    assert runs.links(rows).drop("run_share").rows() == [
        ("name", "its name and the time", 2),
        ("not linked", "nothing", 3),
    ]
    assert runs.links(rows)["run_share"].to_list() == pytest.approx([0.4, 0.6])
    assert runs.unlinked(rows)["run_id"].to_list() == ["s1", "s2", "u"]
    assert runs.table(rows).filter(run_id="rb").select("rework_steps", "inner_restarts", "nan_steps").row(0) == (
        1,
        1,
        1,
    )


def test_gang_sessions_without_a_run_are_told(story: duckdb.DuckDBPyConnection) -> None:
    assert str(runs.gangs_with_runs(story, WHOLE)).startswith("2 of 3, 66.7 %")
    assert runs.gangs_with_runs(story, days(5, 6)).reason == "no gang session starts in the window"


def test_no_run_in_the_window(story: duckdb.DuckDBPyConnection) -> None:
    rows = runs.by_run(story, days(5, 6))
    assert runs.case(story, rows) == "none"
    assert runs.counts(rows)["runs"] == 0
    assert runs.links(rows).is_empty()
    assert runs.states(rows).is_empty()


def test_sessions_without_runs() -> None:
    with cluster_with_runs(has_runs=False) as con:
        assert runs.case(con, runs.by_run(con, WHOLE)) == "no_source"
        assert str(runs.gangs_with_runs(con, WHOLE)).startswith("0 of 3")


def test_runs_without_sessions() -> None:
    with cluster_with_runs(has_sessions=False) as con:
        rows = runs.by_run(con, WHOLE)
        assert runs.case(con, rows) == "found"
        assert runs.counts(rows)["linked"] == 0
        assert set(rows["effort"]) == {"train", "sweep", "<b>nobody's</b>"}


def test_runs_without_a_step() -> None:
    with cluster_with_runs(has_steps=False) as con:
        assert runs.case(con, runs.by_run(con, WHOLE)) == "no_history"
