"""Windows: cut in the cluster's zone, held in UTC, end not part of them."""

from datetime import UTC, datetime

import pytest

from gangline.windows import Window, WindowError


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc]


def test_an_iso_week_is_monday_to_monday_of_the_zone() -> None:
    week = Window.week("2025-W41", "Asia/Seoul")
    assert (week.start, week.end) == (utc(2025, 10, 5, 15), utc(2025, 10, 12, 15))
    assert (week.label, week.folder) == ("2025-W41", "2025-W41")


def test_seven_days_from_a_monday_are_that_week() -> None:
    assert Window.between("2025-10-06", "2025-10-13", "Asia/Seoul") == Window.week("2025W41", "Asia/Seoul")


def test_the_week_of_a_clock_change_has_169_hours_and_the_week_before_168() -> None:
    week = Window.week("2025-W43", "Europe/Berlin")
    assert week.end - week.start == (utc(2025, 10, 26, 23) - utc(2025, 10, 19, 22))
    before = week.previous()
    assert before is not None
    assert (before.label, before.days) == ("2025-W42", 7)


def test_iso_years_turn_with_their_weeks() -> None:
    week = Window.week("2026-W01", "UTC")
    assert week.start == utc(2025, 12, 29)
    before = week.previous()
    assert before is not None
    assert before.folder == "2025-W52"


def test_dates_name_the_last_day_on_the_page_and_the_day_after_in_the_folder() -> None:
    window = Window.between("2025-09-01", "2025-11-13", "UTC")
    assert (window.label, window.folder) == ("2025-09-01 to 2025-11-12", "2025-09-01_2025-11-13")
    before = window.previous()
    assert before is not None
    assert (before.start, before.end) == (utc(2025, 6, 20), utc(2025, 9, 1))


def test_hours_may_be_asked_for() -> None:
    window = Window.between("2025-09-01T06:00", "2025-09-01T18:00", "UTC")
    assert window.folder == "2025-09-01T0600_2025-09-01T1800"
    before = window.previous()
    assert before is not None
    assert before.start == utc(2025, 8, 31, 18)


def test_the_whole_export_holds_its_last_instant_and_has_no_window_before() -> None:
    window = Window.whole(utc(2025, 9, 1, 3), utc(2025, 11, 12, 9), "UTC")
    assert window.start <= utc(2025, 11, 12, 9) < window.end
    assert (window.folder, window.label) == ("2025-09-01_2025-11-13", "whole export")
    assert window.previous() is None
    assert window.before(8) == []


def test_a_whole_export_that_ends_just_before_midnight_ends_on_that_day() -> None:
    assert Window.whole(utc(2025, 9, 1), utc(2025, 9, 2, 23, 59, 59), "UTC").folder == "2025-09-01_2025-09-03"


def test_an_export_of_midnight_begins_no_day_of_its_own() -> None:
    """73 days from 1 September, exported at their end: the folder that the design names for them."""
    window = Window.whole(utc(2025, 9, 1), utc(2025, 11, 13), "UTC")
    assert window.start <= utc(2025, 11, 13) < window.end
    assert (window.folder, window.span()) == ("2025-09-01_2025-11-13", "2025-09-01 to 2025-11-12")
    assert Window.whole(utc(2025, 9, 1), utc(2025, 11, 13, 0, 0, 1), "UTC").folder == "2025-09-01_2025-11-14"


def test_an_empty_export_is_an_empty_window() -> None:
    window = Window.whole(None, None, "UTC")
    assert (window.folder, window.label, window.days, window.is_whole) == ("no_data", "no data", 0, True)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (utc(2025, 10, 13, 0), "2025-W41"),
        (utc(2025, 10, 12, 14, 59), "2025-W40"),
        (utc(2025, 10, 12, 15), "2025-W41"),
        (utc(2026, 1, 1), "2025-W52"),
    ],
)
def test_the_last_whole_week_follows_the_zone(now: datetime, expected: str) -> None:
    assert Window.last_week(now, "Asia/Seoul").label == expected


def test_eight_weeks_before_come_newest_first() -> None:
    weeks = Window.week("2025-W41", "UTC").before(8)
    assert [week.label for week in weeks] == [f"2025-W{number}" for number in range(40, 32, -1)]


@pytest.mark.parametrize("text", ["2025-W54", "2025-W00", "last", "W41", ""])
def test_a_week_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(WindowError, match="ISO week"):
        Window.week(text, "UTC")


def test_bad_dates_and_an_end_before_the_start_are_refused() -> None:
    with pytest.raises(WindowError, match="'yesterday' is not a date"):
        Window.between("yesterday", "2025-01-01", "UTC")
    with pytest.raises(WindowError, match="not after its start"):
        Window.between("2025-01-02", "2025-01-02", "UTC")
