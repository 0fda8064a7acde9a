"""Efforts: what goes on under one name, what was done again, and what is no rework."""

from collections.abc import Iterator

import duckdb
import pytest

from gangline import efforts
from tests.recovering import days
from tests.running import cluster_with_runs

WHOLE = days(1, 11)


@pytest.fixture(scope="module")
def story() -> Iterator[duckdb.DuckDBPyConnection]:
    with cluster_with_runs() as con:
        yield con


def effort(con: duckdb.DuckDBPyConnection, name: str) -> dict[str, object]:
    return efforts.by_effort(con, WHOLE).filter(effort=name).row(0, named=True)


def test_what_the_second_run_and_the_restart_inside_did_again(story: duckdb.DuckDBPyConnection) -> None:
    train = effort(story, "train")
    # of ra the rows of steps 30 and 40 (rb goes on from 21), of rb that of step 40 (inside, from 31): ten minutes each
    assert (train["redone_rows"], train["redone_h"]) == (3, pytest.approx(0.5))
    assert (train["went_on"], train["inner_restarts"]) == (1, 1)
    assert (train["runs"], train["sessions"], train["max_step"], train["nan_steps"]) == (2, 2, 50, 1)


def test_runs_side_by_side_from_the_beginning_do_nothing_again(story: duckdb.DuckDBPyConnection) -> None:
    sweep = effort(story, "sweep")
    assert (sweep["runs"], sweep["went_on"], sweep["redone_rows"], sweep["redone_h"]) == (2, 0, 0, 0.0)


def test_the_fullest_effort_comes_first(story: duckdb.DuckDBPyConnection) -> None:
    assert efforts.by_effort(story, WHOLE)["effort"].to_list() == ["train", "sweep", "<b>nobody's</b>"]


def test_an_effort_without_a_step_has_done_nothing_again(story: duckdb.DuckDBPyConnection) -> None:
    nobody = effort(story, "<b>nobody's</b>")
    assert (nobody["rows_read"], nobody["max_step"], nobody["redone_rows"]) == (0, None, 0)


def test_a_sample_cannot_tell_what_was_done_again() -> None:
    with cluster_with_runs(sampled=["rb"]) as con:
        train = effort(con, "train")
    assert (train["is_sampled"], train["redone_rows"], train["redone_h"]) == (True, None, None)


def test_without_runs_there_is_no_effort() -> None:
    with cluster_with_runs(has_runs=False) as con:
        assert efforts.by_effort(con, WHOLE).is_empty()
