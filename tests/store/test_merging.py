"""Samples from several places become one series, whatever order they come in."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangline.store.merging import merge

POINTS = st.lists(st.tuples(st.integers(0, 6), st.sampled_from([math.nan, -math.inf, -1.0, -0.0, 0.0, 2.0, math.inf])))


def merged(points: list[tuple[int, float]]) -> tuple[list[tuple[int, float]], int, int]:
    result = merge(np.array([t for t, _ in points], np.int64), np.array([v for _, v in points], np.float64))
    return list(zip(result.times_ms.tolist(), result.values.tolist(), strict=True)), result.repeats, result.conflicts


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([(1, 15.0), (1, 15.0)], ([(1, 15.0)], 1, 0)),
        ([(1, 15.0), (1, 17.0)], ([(1, 17.0)], 1, 1)),
        ([(1, 15.0), (1, math.nan)], ([(1, 15.0)], 1, 0)),
        ([(2, 1.0), (1, 2.0)], ([(1, 2.0), (2, 1.0)], 0, 0)),
        ([(1, 0.0), (1, -0.0)], ([(1, 0.0)], 1, 0)),
        ([], ([], 0, 0)),
    ],
)
def test_repeats_collapse_and_the_larger_value_wins(
    points: list[tuple[int, float]], expected: tuple[list[tuple[int, float]], int, int]
) -> None:
    assert repr(merged(points)) == repr(expected)


@given(POINTS, st.randoms())
def test_order_and_repetition_do_not_matter(points: list[tuple[int, float]], random: object) -> None:
    shuffled = points + points[:3]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    kept, repeats, _ = merged(points)
    assert repr(merged(shuffled)[0]) == repr(kept)
    assert [time for time, _ in kept] == sorted({time for time, _ in points})
    assert repeats == len(points) - len(kept)
