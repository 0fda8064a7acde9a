"""What a counter had counted at any instant: windows and steps, gaps, against the plain sums of `counters`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangline.counters import count_by_step, count_within, deltas_of
from gangline.ingest.accruals import Accrual, level_at

EDGES = np.array([0, 30_000, 60_000, 90_000])


def of(times_s: list[int], values: list[float]) -> Accrual:
    return Accrual.of(np.array(times_s) * 1000, np.array(values))


@pytest.mark.parametrize(
    ("values", "counted"),
    [([100, 130, 10, 40], 70), ([1000, 1010, 1008, 1020], 20), ([100, 130, 10, 200], 230)],
)
def test_restarts_and_flips_are_those_of_counters(values: list[float], counted: float) -> None:
    accrual = of([0, 30, 60, 90], values)
    assert accrual.increase(np.array([0]), np.array([90_000])).tolist() == [counted]


def test_a_gap_counts_but_leaves_its_steps_empty() -> None:
    accrual = of([0, 30, 60, 150, 180, 210], [0, 30, 60, 150, 180, 210])
    assert accrual.increase(np.array([0, 60_000]), np.array([210_000, 105_000])).tolist() == [210, 45]
    assert accrual.coverage(np.array([0]), np.array([210_000])) == pytest.approx([120 / 210])
    steps = accrual.by_step(np.arange(0, 240_000, 30_000))
    assert steps[[0, 1, 5, 6]].tolist() == [30, 30, 30, 30]
    assert np.isnan(steps[2:5]).all()


def test_beyond_its_samples_nothing_is_counted() -> None:
    accrual = of([30], [100])
    assert accrual.increase(EDGES[:-1], EDGES[1:]).tolist() == [0, 0, 0]
    assert np.isnan(accrual.by_step(EDGES)).all()
    assert accrual.coverage(EDGES[:1], EDGES[-1:]).tolist() == [0]


def test_a_level_may_be_one_and_a_half_steps_old() -> None:
    times, values = np.array([0, 31_000, 60_000]), np.array([1.0, 2.0, 3.0])
    assert level_at(times, values, EDGES[1:], 45_000).tolist() == [1.0, 2.0, 3.0]
    assert np.isnan(level_at(times, values, np.array([0, 106_000]), 45_000)).all()


@given(
    st.lists(st.tuples(st.integers(1, 200), st.integers(0, 1000)), min_size=2, max_size=30),
    st.integers(-100, 3000),
    st.integers(1, 3000),
)
def test_windows_and_steps_equal_the_sums_of_counters(
    samples: list[tuple[int, int]], start_s: int, length_s: int
) -> None:
    times = np.cumsum([gap for gap, _ in samples]) * 1000
    values = np.array([float(value) for _, value in samples])
    start, end = start_s * 1000, (start_s + length_s) * 1000
    accrual, deltas = Accrual.of(times, values), deltas_of(times, values)
    counted = count_within(deltas, start, end)
    edges = np.array([start]), np.array([end])
    assert accrual.increase(*edges) == pytest.approx([counted.increase], abs=1e-6)
    assert accrual.coverage(*edges) == pytest.approx([counted.covered_s / counted.wanted_s], abs=1e-9)
    step_ms = 60_000
    steps = accrual.by_step(start + step_ms * np.arange(6))
    np.testing.assert_allclose(steps, count_by_step(deltas, start, step_ms, 5), atol=1e-6)
