"""A week's key figures and those of the eight windows before, on today's data."""

from dataclasses import replace

import duckdb
import pytest

from gangline.report.catalogue import with_courses
from gangline.weekly import key_figures
from gangline.weekly.lost_hours import LostHours
from gangline.windows import Window
from tests.weekly.conftest import WEEK


def test_the_figures_of_a_week(con: duckdb.DuckDBPyConnection) -> None:
    found = key_figures.week(con, WEEK).figures
    assert set(found) == set(key_figures.CARDS)
    assert found["weekly.abnormal_ends"].value == 2
    assert found["weekly.failure_ends"].value == 2
    assert found["weekly.down_h"].value == pytest.approx(4.0)
    # 24 h of a and 10 and 20 h of b and d trained in the four weeks, and one end of a session that trained.
    assert found["weekly.mtbf_4w_h"].value == pytest.approx(54.0)
    assert found["weekly.coverage"].reason == "no telemetry was read"


def test_the_largest_cause_is_named_with_its_hours(con: duckdb.DuckDBPyConnection) -> None:
    week = key_figures.week(con, WEEK)
    assert week.largest_cause == "left out and not held (204 GPU-hours)"
    nothing = replace(week, lost=LostHours(week.lost.rows.head(0), week.lost.found))
    assert nothing.largest_cause == "none"


def test_windows_before_that_the_export_does_not_reach_are_not_known(con: duckdb.DuckDBPyConnection) -> None:
    before = key_figures.week(con, WEEK).before
    assert before["weekly.abnormal_ends"] == (None,) * 7 + (0.0,)


def test_a_week_without_gangs_has_no_figures_and_says_so(con: duckdb.DuckDBPyConnection) -> None:
    found = key_figures.week(con, Window.week("2026-W13", "UTC"))
    assert found.case == "no_gang"
    assert found.figures["weekly.abnormal_ends"].value is None
    assert found.figures["weekly.down_h"].reason == key_figures.NO_GANGS


def test_the_rate_of_ends_is_tested_against_the_week_before(con: duckdb.DuckDBPyConnection) -> None:
    tests = key_figures.week(con, WEEK).tests
    assert 0 < tests["weekly.abnormal_ends"] <= 1


def test_figures_carry_the_value_before_and_the_course(con: duckdb.DuckDBPyConnection) -> None:
    week = key_figures.week(con, WEEK)
    figures = {figure.id: figure for figure in with_courses(week.figures, week.before, week.tests)}
    ends = figures["weekly.abnormal_ends"]
    assert (ends.previous, len(ends.history), ends.label) == (0.0, 8, "Ends of gang sessions")


def test_the_whole_export_has_no_window_before(con: duckdb.DuckDBPyConnection) -> None:
    from gangline.warehouse import export_span

    week = key_figures.week(con, Window.whole(*export_span(con), "UTC"))
    assert week.before["weekly.abnormal_ends"] == ()
    assert (week.lost_before, week.tests) == (None, {})


def test_the_ends_of_a_week(con: duckdb.DuckDBPyConnection) -> None:
    ends = key_figures.ends(con, WEEK, key_figures.week(con, WEEK))
    assert [name.rpartition(":")[2] for name in ends["session_id"]] == ["c", "b"]
