"""The downtime split, the attempts after an end, and what it cost."""

import duckdb
import pytest

from gangline.postmortem import course, find


def test_each_part_is_since_the_mark_before_that_is_known(con: duckdb.DuckDBPyConnection) -> None:
    rows = course.split(con, find(con, "UTC", session="a"))
    parts = dict(rows.select("mark", "part_min").iter_rows())
    assert list(parts) == list(course.MARKS)
    assert (parts["ended"], parts["resubmitted"], parts["started"]) == (2.0, 120.0, 30.0)
    unknown = rows.filter(rows["reached_at"].is_null())
    assert unknown["mark"].to_list() == ["last_step", "loaded", "first_step", "caught_up"]
    assert unknown["reason"].null_count() == 0


def test_attempts_up_to_the_one_that_trained_and_whether_they_kept_the_node(con: duckdb.DuckDBPyConnection) -> None:
    rows = course.attempts(con, find(con, "UTC", session="a"))
    assert [name.rpartition(":")[2] for name in rows["session_id"]] == ["b", "c"]
    assert rows["gap_min"].to_list() == [11.0, 120.0]
    assert rows["kept_node"].to_list() == [True, False]


def test_costs_are_hours_times_the_gpus_of_the_session(con: duckdb.DuckDBPyConnection) -> None:
    cost = course.cost(con, find(con, "UTC", session="a"), 1.5)
    assert (cost["down"].value, cost["down_gpu_h"].value) == (2.5, 200.0)
    assert cost["lost_gpu_h"].value == pytest.approx(120.0)
    assert cost["attempts"].value == 1
    unknown = course.cost(con, find(con, "UTC", session="a"), None)
    assert unknown["lost_gpu_h"].reason == unknown["lost"].reason


def test_an_event_in_no_session_has_no_marks_and_no_costs(con: duckdb.DuckDBPyConnection) -> None:
    subject = find(con, "UTC", incident="node:8")
    assert course.split(con, subject)["reached_at"].null_count() == len(course.MARKS)
    assert course.attempts(con, subject).is_empty()
    assert course.cost(con, subject, None)["down"].value is None
