"""Random sets have the right size, and every set is equally likely."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from gangline.estimates import sampling
from gangline.estimates.sampling import Drawing, drawn_hours


def generator() -> np.random.Generator:
    return np.random.default_rng(11)


@pytest.mark.parametrize("size", [0, 1, 3, 4, 6, 7])
def test_every_row_has_a_set_of_the_size(size: int) -> None:
    hours = drawn_hours([Drawing(np.arange(7), size, 2.0)], 500, 7, generator())
    assert set(np.unique(hours)) <= {0.0, 2.0}
    assert np.all(np.count_nonzero(hours, axis=1) == size)


@pytest.mark.parametrize("size", [2, 4])
def test_every_set_is_equally_likely(size: int) -> None:
    """6 members: C(6, 2) = C(6, 4) = 15 sets; 4 is drawn through its complement."""
    hours = drawn_hours([Drawing(np.arange(6), size, 1.0)], 30_000, 6, generator())
    codes = (hours > 0) @ (1 << np.arange(6))
    counts = [np.count_nonzero(codes == sum(1 << node for node in nodes)) for nodes in combinations(range(6), size)]
    assert sum(counts) == 30_000
    assert stats.chisquare(counts).pvalue > 0.001


def test_drawings_are_independent_and_add_up() -> None:
    """Both sets of one node: the same node in a third of the rows."""
    drawing = Drawing(np.array([1, 3, 4]), 1, 1.0)
    hours = drawn_hours([drawing, drawing], 30_000, 5, generator())
    assert np.all(hours[:, [0, 2]] == 0)
    assert np.all(hours.sum(axis=1) == 2.0)
    assert np.mean(hours.max(axis=1) == 2.0) == pytest.approx(1 / 3, abs=0.01)


def test_stamps_start_again_before_they_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "LAST_STAMP", 5)
    hours = drawn_hours([Drawing(np.arange(6), 3, 1.0)] * 20, 50, 6, generator())
    assert np.all(hours.sum(axis=1) == 60.0)
    assert hours.max() <= 20.0
