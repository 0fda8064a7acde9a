"""Local wall times across clock changes."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangline.sources.clocks import ImpossibleTimeError, midnight_s, readings, resolve

NEW_YORK = ZoneInfo("America/New_York")
SEOUL = ZoneInfo("Asia/Seoul")


def utc(hour: int, minute: int = 0) -> datetime:
    """A time on the day of New York's autumn change in 2026 (02:00 EDT becomes 01:00 EST at 06:00Z)."""
    return datetime(2026, 11, 1, hour, minute, tzinfo=UTC)


def wall(hour: int, minute: int = 0) -> datetime:
    """New York's clocks on that day."""
    return datetime(2026, 11, 1, hour, minute)  # noqa: DTZ001


def test_a_plain_hour_has_one_reading() -> None:
    assert readings(wall(3), NEW_YORK) == (utc(8),)
    assert readings(wall(3), SEOUL) == (datetime(2026, 10, 31, 18, tzinfo=UTC),)


def test_dst_fall_back_has_two_and_dst_spring_forward_none() -> None:
    assert readings(wall(1, 30), NEW_YORK) == (utc(5, 30), utc(6, 30))
    assert readings(datetime(2026, 3, 8, 2, 30), NEW_YORK) == ()  # noqa: DTZ001


def test_an_offset_settles_it() -> None:
    assert readings(datetime.fromisoformat("2026-11-01T01:30:00-05:00"), NEW_YORK) == (utc(6, 30),)


def test_an_impossible_time_names_itself() -> None:
    with pytest.raises(ImpossibleTimeError, match="2026-03-08T02:30:00 never was in America/New_York"):
        resolve([datetime(2026, 3, 8, 2, 30)], NEW_YORK)  # noqa: DTZ001


def test_order_picks_the_later_reading() -> None:
    resolved = resolve([wall(1, 40), wall(1, 50), wall(1, 10)], NEW_YORK)
    assert resolved.instants == (utc(5, 40), utc(5, 50), utc(6, 10))
    assert resolved.is_ambiguous


def test_elapsed_picks_among_readings_in_order() -> None:
    assert resolve([wall(0, 30), wall(1, 30)], NEW_YORK, elapsed_s=7200).instants == (utc(4, 30), utc(6, 30))
    assert resolve([wall(0, 30), wall(1, 30)], NEW_YORK, elapsed_s=3600).instants == (utc(4, 30), utc(5, 30))


def test_nothing_to_tell_them_apart_takes_the_earlier() -> None:
    assert resolve([wall(1, 30), None, None], NEW_YORK).instants == (utc(5, 30), None, None)
    assert resolve([wall(0, 30), wall(1, 30)], NEW_YORK).instants == (utc(4, 30), utc(5, 30))


def test_no_reading_in_order_takes_the_earlier_of_each() -> None:
    resolved = resolve([wall(5), wall(1, 30)], NEW_YORK)
    assert resolved.instants == (utc(10), utc(5, 30))


def test_a_day_with_a_change_has_no_cheap_midnight() -> None:
    assert midnight_s("2026-11-01", NEW_YORK) is None
    assert midnight_s("2026-03-08", NEW_YORK) is None
    assert midnight_s("2026-11-02", NEW_YORK) == 1793595600
    with pytest.raises(ValueError, match="day is out of range"):
        midnight_s("2026-02-30", NEW_YORK)


@given(
    st.integers(946_684_800, 1_893_456_000),
    st.sampled_from(["America/New_York", "Australia/Lord_Howe"]),
)
def test_every_instant_is_a_reading_of_its_own_wall_time(epoch_s: int, key: str) -> None:
    at = datetime.fromtimestamp(epoch_s, UTC)
    shown = at.astimezone(ZoneInfo(key)).replace(tzinfo=None)
    assert at in readings(shown, ZoneInfo(key))
    midnight = midnight_s(f"{shown:%Y-%m-%d}", ZoneInfo(key))
    seconds = shown.hour * 3600 + shown.minute * 60 + shown.second
    assert midnight is None or midnight + seconds == int(at.timestamp())
