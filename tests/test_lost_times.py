"""Work lost at ends: steps before saves, who resumed, what cannot be told, and checkpoints that could not be used."""

from collections.abc import Iterator

import duckdb
import polars as pl
import pytest

from gangline import exposures, lost_times
from tests.checkpointing import cluster_with_checkpoints, fill, phase
from tests.recovering import days

WHOLE = days(1, 10)
INTERVALS = {"4K": 100 / 60}


def lost_of(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    return lost_times.by_end(con, exposures.exposure(con, WHOLE), INTERVALS)


def row(lost: pl.DataFrame, session: str) -> dict[str, object]:
    found: dict[str, object] = lost.row(by_predicate=pl.col("session_id") == session, named=True)
    return found


@pytest.fixture
def story() -> Iterator[duckdb.DuckDBPyConnection]:
    with cluster_with_checkpoints() as con:
        yield con


@pytest.fixture
def no_runs() -> Iterator[duckdb.DuckDBPyConnection]:
    with cluster_with_checkpoints(has_runs=False) as con:
        yield con


def test_steps_that_were_done_again_come_first(story: duckdb.DuckDBPyConnection) -> None:
    lost = lost_of(story)
    assert lost.select("session_id", "evidence", "lost_steps", "next_session_id", "stage").rows() == [
        ("a", "steps", 70, "b", "4K"),
        ("b", "steps", 260, "d", "4K"),
    ]
    assert lost["lost_h"].to_list() == pytest.approx([70 / 60, 260 / 60])
    assert lost["by_save_h"].to_list() == pytest.approx([139 / 60, 59 / 60])
    figures = lost_times.figures(lost)
    assert figures["checkpoints.lost_mean_h"].value == pytest.approx(2.75)
    assert figures["checkpoints.lost_mean_h"].low == 0
    assert figures["checkpoints.lost_total_h"].value == pytest.approx(5.5)


def test_an_earlier_checkpoint_than_the_last_was_unusable(story: duckdb.DuckDBPyConnection) -> None:
    findings = lost_times.findings(lost_of(story))
    assert findings.select("session_id", "save_id", "finding").rows() == [("b", "save:b:940", lost_times.UNUSABLE)]


def test_less_lost_than_since_the_last_save_is_listed_too(story: duckdb.DuckDBPyConnection) -> None:
    story.execute("delete from marts.checkpoint_saves where save_id in ('save:a:360', 'save:a:460')")
    assert row(lost_of(story), "a")["finding"] == lost_times.UNSEEN


def test_a_run_may_say_which_step_it_resumed_from(story: duckdb.DuckDBPyConnection) -> None:
    story.execute("update marts.run_processes set starting_step = 480 where session_id = 'b'")
    assert row(lost_of(story), "a")["lost_steps"] == 100


def test_without_steps_the_last_completed_save_tells(no_runs: duckdb.DuckDBPyConnection) -> None:
    lost = lost_of(no_runs)
    assert lost["evidence"].to_list() == ["save", "save"]
    assert lost["lost_h"].to_list() == pytest.approx([139 / 60, 59 / 60])
    no_runs.execute("update marts.checkpoint_saves set is_completed = false where save_id = 'save:b:940'")
    assert row(lost_of(no_runs), "b")["save_id"] == "save:b:840"


def test_without_a_save_the_begin_of_training_tells(no_runs: duckdb.DuckDBPyConnection) -> None:
    no_runs.execute("delete from marts.checkpoint_saves")
    assert row(lost_of(no_runs), "a")["reason"] == lost_times.UNTOLD
    no_runs.execute("update marts.sessions set training_from = started_at + interval 1 hour")
    assert row(lost_of(no_runs), "a")["evidence"] == lost_times.TRAINING
    assert row(lost_of(no_runs), "a")["lost_h"] == pytest.approx(9)


def test_a_session_that_is_not_watched_tells_nothing(no_runs: duckdb.DuckDBPyConnection) -> None:
    no_runs.execute("update marts.checkpoint_sessions set save_evidence = null where session_id = 'a'")
    lost = lost_of(no_runs)
    assert (row(lost, "a")["lost_h"], row(lost, "a")["reason"]) == (None, lost_times.UNTOLD)
    assert "1 of 2 ends not known" in lost_times.figures(lost)["checkpoints.lost_total_h"].method
    assert lost_times.by_evidence(lost).select("evidence", "ends", "lost_h").rows() == [
        ("save", 1, pytest.approx(59 / 60)),
        ("not known", 1, None),
    ]


def test_what_never_trained_lost_nothing(story: duckdb.DuckDBPyConnection) -> None:
    story.execute("update marts.sessions set reached_training = false, last_step = null where session_id = 'a'")
    story.execute("update marts.run_processes set median_step_s = null where session_id = 'a'")
    assert row(lost_of(story), "a")["evidence"] == lost_times.UNTRAINED
    assert row(lost_of(story), "a")["lost_h"] == 0


def test_hours_without_telemetry_before_the_end_are_told(story: duckdb.DuckDBPyConnection) -> None:
    fill(
        story, "phases", [phase("a", 0, 500, "training"), phase("a", 500, 560, "unknown"), phase("a", 560, 600, "save")]
    )
    assert row(lost_of(story), "a")["unseen_h"] == pytest.approx(1)
    assert row(lost_of(story), "b")["unseen_h"] == 0


def test_another_job_of_the_lineage_did_not_resume_it(story: duckdb.DuckDBPyConnection) -> None:
    story.execute("update marts.sessions set run_name = 'tune' where session_id = 'b'")
    story.execute("update marts.run_processes set first_step = 1 where session_id = 'b'")
    assert row(lost_of(story), "a")["next_session_id"] == "d"
    assert row(lost_of(story), "b")["next_session_id"] is None  # d is train, which was there before


def test_a_job_that_was_renamed_goes_on_where_its_steps_do(story: duckdb.DuckDBPyConnection) -> None:
    story.execute("update marts.sessions set run_name = 'long' where session_id = 'b'")
    assert row(lost_of(story), "a")["next_session_id"] == "b"


def test_steps_beyond_the_last_that_was_logged_are_of_something_else(story: duckdb.DuckDBPyConnection) -> None:
    story.execute("update marts.run_processes set first_step = 601 where session_id = 'b'")
    assert row(lost_of(story), "a")["evidence"] == "save"
    story.execute("update marts.run_processes set first_step = 600 where session_id = 'b'")
    assert (row(lost_of(story), "a")["evidence"], row(lost_of(story), "a")["lost_h"]) == ("steps", 0)


def test_no_end_is_said(story: duckdb.DuckDBPyConnection) -> None:
    lost = lost_times.by_end(story, exposures.exposure(story, days(5, 6)), {})
    assert lost.is_empty()
    assert {figure.reason for figure in lost_times.figures(lost).values()} == {lost_times.NO_END}
    assert lost_times.table(lost).is_empty()
