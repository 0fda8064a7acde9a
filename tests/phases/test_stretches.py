"""Stretches above thresholds with hysteresis (analyses 6)."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangline.phases.stretches import merged, risen, runs

RATES = st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=60)


def by_plain_loop(steps: list[tuple[int, bool]], start: float, end: float) -> list[tuple[int, int]]:
    found, begun = [], None
    for place, (rate, is_known) in enumerate(steps):
        if is_known and begun is None and rate > start:
            begun = place
        elif is_known and begun is not None and rate < end:
            found.append((begun, place))
            begun = None
    return found if begun is None else [*found, (begun, len(steps))]


def rates_of(steps: list[tuple[int, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([rate for rate, _ in steps], float), np.array([is_known for _, is_known in steps], bool)


def test_the_check_of_the_analyses() -> None:
    rates = np.array([0, 0, 25, 18, 22, 0, 0, 0, 30, 0, 19, 21, 12, 25, 0.0])
    found = risen(rates, np.ones(15, bool), 20, 10)
    assert found == [(2, 5), (8, 9), (11, 14)]
    assert merged(found, 60 / 30) == [(2, 5), (8, 14)]
    assert merged(found, 59 / 30) == found


@given(RATES)
def test_a_plain_loop_finds_the_same(steps: list[tuple[int, bool]]) -> None:
    assert risen(*rates_of(steps), 20, 10) == by_plain_loop(steps, 20, 10)


@given(RATES, st.integers(0, 4))
def test_merged_stretches_lie_further_apart(steps: list[tuple[int, bool]], apart: int) -> None:
    found = risen(*rates_of(steps), 20, 10)
    joined = merged(found, apart)
    assert all(later[0] - earlier[1] > apart for earlier, later in pairwise(joined))
    inside = {step for first, stop in joined for step in range(first, stop)}
    assert {step for first, stop in found for step in range(first, stop)} <= inside


@pytest.mark.parametrize(("rate", "found"), [(20.0, []), (20.0 + 1e-9, []), (20.001, [(0, 1)])])
def test_thresholds_are_strict(rate: float, found: list[tuple[int, int]]) -> None:
    assert risen(np.array([rate, 0.0]), np.ones(2, bool), 20, 10) == found


def test_no_step_no_stretch() -> None:
    assert risen(np.empty(0), np.empty(0, bool), 20, 10) == []
    assert list(runs(np.empty(0))) == []
