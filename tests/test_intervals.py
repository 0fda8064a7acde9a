"""Interval sets against a slow model: a grid of minutes, each in or out."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.intervals import Intervals, union

Pairs = list[tuple[int, int]]
PAIRS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda pair: (pair[0], sum(pair))), max_size=8)
MINUTES = range(-1, 60)


def grid(pairs: Pairs) -> set[int]:
    return {minute for start, end in pairs for minute in range(start, end)}


def check(found: Intervals, expected: set[int]) -> None:
    """The set holds the minutes of the model, in disjoint intervals that do not touch."""
    assert grid(list(found)) == expected
    assert {minute for minute in MINUTES if minute in found} == expected
    assert found.measure() == len(expected)
    assert np.all(found.starts < found.ends)
    assert np.all(found.starts[1:] > found.ends[:-1])


@settings(deadline=None)
@given(PAIRS)
def test_any_pairs_become_disjoint(pairs: Pairs) -> None:
    check(Intervals.of(pairs), grid(pairs))
    assert Intervals.of(reversed(pairs)) == Intervals.of(pairs)


@settings(deadline=None)
@given(PAIRS, PAIRS)
def test_set_operations(first: Pairs, second: Pairs) -> None:
    mine, theirs = Intervals.of(first), Intervals.of(second)
    check(mine | theirs, grid(first) | grid(second))
    check(mine & theirs, grid(first) & grid(second))
    check(mine - theirs, grid(first) - grid(second))
    assert union([mine, theirs]) == mine | theirs


@settings(deadline=None)
@given(PAIRS, st.integers(0, 50), st.integers(0, 20))
def test_clip_and_coverage(pairs: Pairs, start: int, length: int) -> None:
    window = set(range(start, start + length))
    found = Intervals.of(pairs)
    check(found.clip(start, start + length), grid(pairs) & window)
    expected = len(grid(pairs) & window) / length if length else None
    assert found.coverage(start, start + length) == (None if expected is None else pytest.approx(expected))


def test_check_value_of_section_3() -> None:
    excluded, held = Intervals.of([(0, 10)]), Intervals.of([(1, 4), (3, 6), (8, 12), (10, 15)])
    assert (excluded & held).measure() / excluded.measure() == 0.7


def test_half_open() -> None:
    found = Intervals.of([(0, 2), (2, 3), (5, 5)])
    assert list(found) == [(0, 3)]
    assert (0 in found, 3 in found, -1 in found) == (True, False, False)
    assert len(found) == 1


def test_floats_keep_their_values() -> None:
    assert list(Intervals.of([(0.25, 1.5)]) - Intervals.of([(0.5, 0.75)])) == [(0.25, 0.5), (0.75, 1.5)]


def test_empty_sets() -> None:
    empty, one = Intervals.of([]), Intervals.of([(1, 2)])
    assert (empty | one) == one
    assert (one & empty) == empty == (one - one)
    assert (empty.measure(), len(empty), list(union([]))) == (0.0, 0, [])
    assert hash(one) == hash(Intervals.of([(1, 2)]))
    assert one != "one"


def test_instants_of_any_zone_are_whole_microseconds() -> None:
    seoul = timezone(timedelta(hours=9))
    start = datetime(2025, 9, 1, 9, tzinfo=seoul)
    found = Intervals.of_times([(start, datetime(2025, 9, 1, 1, 30, 0, 1, tzinfo=UTC))])
    assert list(found) == [(1756684800000000, 1756690200000001)]
    assert found.hours() == pytest.approx(1.5)


def test_bad_pairs() -> None:
    with pytest.raises(ValueError, match=r"must not end before it starts; got \[3, 2\)"):
        Intervals.of([(1, 2), (3, 2)])
    with pytest.raises(ValueError, match="must not end before it starts"):
        Intervals.of([(1, float("nan"))])
    with pytest.raises(TypeError, match="offset-naive"):
        Intervals.of_times([(datetime(2025, 9, 1), datetime(2025, 9, 2))])  # noqa: DTZ001
