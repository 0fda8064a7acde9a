"""GPU-hours by cause, each hour once."""

import duckdb
import pytest

from gangline.weekly.lost_hours import CAUSES, lost_hours
from gangline.windows import Window
from tests.weekly.conftest import WEEK


def _told(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, tuple[float | None, int, str | None]]:
    rows = lost_hours(con, window).rows
    return {cause: (hours, cases, reason) for cause, _, _, hours, cases, reason in rows.iter_rows()}


def test_each_hour_has_one_cause(con: duckdb.DuckDBPyConnection) -> None:
    told = _told(con, WEEK)
    assert list(told) == list(CAUSES)
    assert told["down"] == (pytest.approx(3.5 * 32), 1, None)
    assert told["attempts"] == (pytest.approx(0.5 * 32), 1, None)
    # n5 is left out for 30.5 h of gangs; somebody held it in the first five.
    assert told["idle"] == (pytest.approx(25.5 * 8), 1, None)


def test_what_cannot_be_told_is_null_with_its_reason(con: duckdb.DuckDBPyConnection) -> None:
    told = _told(con, WEEK)
    assert told["start"] == (None, 2, "no source tells when training began")
    assert told["unusable"] == (None, 0, "no source tells node states")
    assert told["saves"][0] is None
    assert "[storage]" in (told["saves"][2] or "")


def test_hours_are_clipped_to_the_window(con: duckdb.DuckDBPyConnection) -> None:
    day = Window.between("2026-03-10T11:00", "2026-03-10T12:15", "UTC")
    told = _told(con, day)
    assert told["down"][0] == pytest.approx(1.0 * 32)
    assert told["attempts"][0] == pytest.approx(0.25 * 32)


def test_halves_add_up(con: duckdb.DuckDBPyConnection) -> None:
    halves = [
        Window.between("2026-03-09", "2026-03-10T12:10", "UTC"),
        Window.between("2026-03-10T12:10", "2026-03-16", "UTC"),
    ]
    whole, parts = _told(con, WEEK), [_told(con, half) for half in halves]
    for cause in ("down", "attempts", "idle"):
        assert sum(part[cause][0] or 0 for part in parts) == pytest.approx(whole[cause][0])


def test_the_total_and_the_largest_cause(con: duckdb.DuckDBPyConnection) -> None:
    found = lost_hours(con, WEEK)
    known = found.rows["lost_gpu_h"].drop_nulls()
    assert found.total.value == pytest.approx(known.sum())
    assert found.largest == "idle"


def test_a_window_without_anything(con: duckdb.DuckDBPyConnection) -> None:
    found = lost_hours(con, Window.week("2020-W02", "UTC"))
    assert found.largest is None
    assert found.total.value == 0
