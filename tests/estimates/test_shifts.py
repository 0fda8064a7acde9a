"""Rank sums against Hollander and Wolfe 1973 and against listing every split."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gangline.estimates import shifts
from gangline.estimates.shifts import chance_less, rank_sum_p, shift

TERM = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
EARLY = [1.15, 0.88, 0.90, 0.74, 1.21]
"""Permeability of the human chorioamnion, Hollander and Wolfe 1973, p. 69 (also in R's help page of wilcox.test)."""

SMALL = st.lists(st.integers(0, 5), min_size=1, max_size=5)


def test_published_p() -> None:
    """W = 35; one-sided 0.1272, so 382 of the 3,003 splits on either side."""
    assert rank_sum_p(TERM, EARLY).value == pytest.approx(2 * 0.1272, abs=1e-4)
    assert rank_sum_p(EARLY, TERM).value == pytest.approx(rank_sum_p(TERM, EARLY).value)


def test_published_shift() -> None:
    """Hollander and Wolfe: 0.305, and -0.15 to 0.76 at 96 %."""
    found = shift(TERM, EARLY, "h")
    assert found.value == pytest.approx(0.305)
    assert (found.low, found.high, found.level) == pytest.approx((-0.15, 0.76, 0.96), abs=5e-4)
    back = shift(EARLY, TERM, "h")
    assert (back.value, back.low, back.high) == pytest.approx((-0.305, -0.76, 0.15))


@settings(deadline=None)
@given(SMALL, SMALL)
def test_ties_as_if_every_split_were_listed(first: list[int], second: list[int]) -> None:
    ranks = stats.rankdata(first + second)
    centre = ranks.mean() * len(first)
    seen = abs(ranks[: len(first)].sum() - centre)
    splits = [abs(sum(split) - centre) for split in combinations(ranks, len(first))]
    expected = np.mean([split >= seen - 1e-9 for split in splits])
    assert rank_sum_p(first, second).value == pytest.approx(expected, rel=1e-9)


def test_all_equal_values_tell_nothing() -> None:
    assert rank_sum_p([1, 1, 1], [1, 1]).value == 1.0


def test_automatic_against_manual_sizes_are_exact() -> None:
    """4 against 17: the smallest two-sided p is 2 of C(21, 4) = 5,985 splits."""
    found = rank_sum_p(range(4), range(10, 27))
    assert found.value == pytest.approx(2 / 5985)
    assert found.method == "rank sum, exact permutation distribution, two-sided"


def test_drawn_p_is_near_the_exact_one_and_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = rank_sum_p(TERM, EARLY).value
    monkeypatch.setattr(shifts, "MOST_EXACT_STEPS", 0)
    drawn = rank_sum_p(TERM, EARLY, seed=7, draws=20_000)
    assert drawn.value == pytest.approx(exact, abs=0.01)
    assert drawn.value == rank_sum_p(TERM, EARLY, seed=7, draws=20_000).value
    assert drawn.method == "rank sum, 20,000 drawn permutations (seed 7), two-sided"


def test_draws_of_tied_and_of_many_values_are_near_the_exact_p(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within four standard errors of 20,000 draws, whether the subset or the values are walked."""
    generator = np.random.default_rng(1)
    for digits in (15, 0):
        first, second = generator.normal(size=50).round(digits), generator.normal(0.4, size=60).round(digits)
        exact = rank_sum_p(first, second).value
        with monkeypatch.context() as patch:
            patch.setattr(shifts, "MOST_EXACT_STEPS", 0)
            assert rank_sum_p(first, second, draws=20_000).value == pytest.approx(exact, abs=0.014)


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8), st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8))
def test_a_shift_as_if_every_difference_were_listed(first: list[float], second: list[float]) -> None:
    listed = np.subtract.outer(first, second)
    blur = np.spacing(np.abs([*first, *second, *listed.flat]).max())
    found = shift(first, second, "h")
    assert found.value == pytest.approx(np.median(listed), rel=0, abs=blur)
    for bound in (found.low, found.high):
        assert bound is not None
        assert np.abs(listed - bound).min() == 0


def test_differences_of_large_samples_are_never_listed() -> None:
    """Forty thousand values a side would make 12.8 GB of differences."""
    many = np.arange(40_000.0)
    found = shift(many + 7, many, "h")
    assert (found.value, found.n) == (7.0, 80_000)
    assert chance_less(many + 0.5, many).value == pytest.approx(0.5 - 0.5 / 40_000)


def test_large_samples_take_the_normal_approximation(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = shift(TERM * 2, EARLY * 2, "h")
    monkeypatch.setattr(shifts, "MOST_EXACT_STEPS", 0)
    approximate = shift(TERM * 2, EARLY * 2, "h")
    assert approximate.method == "Hodges-Lehmann shift, approximate interval"
    assert (approximate.low, approximate.high) == pytest.approx((exact.low, exact.high), abs=0.05)


def test_chance_less() -> None:
    found = chance_less(TERM, EARLY)
    assert (found.value, found.n) == (0.3, 15)
    swapped = chance_less(EARLY, TERM)
    assert (swapped.low, swapped.high) == pytest.approx((1 - (found.high or 0), 1 - (found.low or 0)))
    assert chance_less([1, 2, 2], [2, 3]).value == pytest.approx(5 / 6)


def test_chance_less_interval_covers() -> None:
    """Method 5 keeps about its level: normal samples of 10 and 12, one standard deviation apart (P = 0.7602)."""
    generator = np.random.default_rng(0)
    found = [chance_less(generator.normal(size=10), generator.normal(1, size=12)) for _ in range(1000)]
    covered = np.mean([one.low <= stats.norm.cdf(1 / np.sqrt(2)) <= one.high for one in found])
    assert 0.93 <= covered <= 0.98


def test_separate_samples_reach_the_edge() -> None:
    found = chance_less([1, 2], [3, 4])
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low is not None
    assert 0.2 < found.low < 0.6


def test_unknown_values_are_left_out_and_said() -> None:
    found = rank_sum_p([1, 2, 3, None], [4, 5, 6, float("nan")])
    assert (found.value, found.n) == (pytest.approx(0.1), 6)
    assert found.method.endswith("; 2 without a value left out")


def test_empty_samples() -> None:
    assert rank_sum_p([], [1]).reason == "one of the two samples is empty"
    assert shift([1], [], "h").reason == "one of the two samples is empty"
    assert chance_less([None], [1]).reason == "one of the two samples is empty"
