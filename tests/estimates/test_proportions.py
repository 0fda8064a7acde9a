"""Proportions and their comparison against Newcombe 1998, Koopman 1984 and statsmodels."""

import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from gangline.estimates.proportions import (
    difference_of_proportions,
    fisher_p,
    proportion,
    ratio_bounds,
    ratio_of_proportions,
)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17:857, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        # CHECK values of section 4.
        (4, 12, 0.1381, 0.6094),
        (13, 104, 0.0745, 0.2022),
        (4, 61, 0.0258, 0.1568),
    ],
)
def test_wilson(hits: int, n: int, low: float, high: float) -> None:
    share = proportion(hits, n)
    assert (share.low, share.high) == pytest.approx((low, high), abs=5e-5)
    assert (share.value, share.n, share.numerator, share.level) == (hits / n, n, hits, 0.95)


def test_all_hits_end_at_one() -> None:
    assert proportion(20, 20).high == 1.0
    assert proportion(20, 20).low == pytest.approx(1 - 0.16113, abs=5e-5)


def test_share_of_nothing_is_missing_not_zero() -> None:
    assert str(proportion(0, 0)) == "not measured: there is nothing to take a share of (0 of 0)"


@pytest.mark.parametrize(("hits", "n"), [(5, 4), (-1, 4)])
def test_impossible_hits(hits: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"between 0 and n; got {hits} of 4"):
        proportion(hits, n)


@pytest.mark.parametrize(
    ("groups", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17:873, table II, method 10, contrasts a to h.
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((6, 7, 2, 7), 0.0582, 0.8062),
        ((5, 56, 0, 29), -0.0381, 0.1926),
        ((0, 10, 0, 20), -0.1611, 0.2775),
        ((0, 10, 0, 10), -0.2775, 0.2775),
        ((10, 10, 0, 20), 0.6791, 1.0),
        ((10, 10, 0, 10), 0.6075, 1.0),
    ],
)
def test_newcombe_difference(groups: tuple[int, int, int, int], low: float, high: float) -> None:
    difference = difference_of_proportions(*groups)
    assert (difference.low, difference.high) == pytest.approx((low, high), abs=5.1e-5)


def test_difference_where_the_score_interval_of_statsmodels_fails() -> None:
    difference = difference_of_proportions(4, 73, 13, 104)
    expected = confint_proportions_2indep(4, 73, 13, 104, compare="diff", method="newcomb")
    assert (difference.low, difference.high) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("groups", "value", "low", "high"),
    [((4, 12, 13, 104), 2.667, 0.982, 6.148), ((4, 61, 13, 104), 0.525, 0.185, 1.444)],
)
def test_score_ratio_check_values(groups: tuple[int, int, int, int], value: float, low: float, high: float) -> None:
    ratio = ratio_of_proportions(*groups)
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx((value, low, high), abs=1e-3)


def test_koopman_published_example() -> None:
    """Koopman 1984, Biometrics 40:513: 36 of 40 against 16 of 80 gives 2.94 to 7.15."""
    assert ratio_bounds(36, 40, 16, 80, corrected=False) == pytest.approx((2.94, 7.15), abs=5e-3)


@pytest.mark.parametrize("groups", [(36, 40, 16, 80), (1, 100_000, 1, 100_000), (7, 34, 1, 34), (30, 31, 2, 9)])
def test_score_ratio_agrees_with_statsmodels_inside(groups: tuple[int, int, int, int]) -> None:
    expected = confint_proportions_2indep(*groups, compare="ratio", method="score")
    assert ratio_bounds(*groups) == pytest.approx(expected, rel=1e-7)


def test_ratio_at_the_edges() -> None:
    none_above = ratio_of_proportions(0, 12, 13, 104)
    assert (none_above.value, none_above.low) == (0.0, 0.0)
    assert none_above.high == pytest.approx(2.0592, abs=1e-4)
    none_below = ratio_of_proportions(4, 12, 0, 104)
    assert (none_below.value, none_below.high) == (None, None)
    assert none_below.low == pytest.approx(9.133, abs=1e-3)
    assert ratio_of_proportions(0, 12, 0, 104).reason == "neither group has a hit (0 over 0)"
    every_one = ratio_of_proportions(12, 12, 104, 104)
    assert (every_one.value, every_one.low, every_one.high) == pytest.approx((1.0, 0.7559, 1.0373), abs=1e-4)


def test_swapped_groups_give_the_inverse_interval() -> None:
    low, high = ratio_bounds(5, 12, 104, 104)
    swapped_low, swapped_high = ratio_bounds(104, 104, 5, 12)
    assert high is not None
    assert swapped_high is not None
    assert (low * swapped_high, high * swapped_low) == pytest.approx((1.0, 1.0), rel=1e-9)


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ((0, 0, 13, 104), "the first group has nothing in it"),
        ((4, 12, 0, 0), "the second group has nothing in it"),
        ((0, 0, 0, 0), "neither group has anything in it"),
    ],
)
def test_empty_groups(groups: tuple[int, int, int, int], reason: str) -> None:
    for compare in (ratio_of_proportions, difference_of_proportions, fisher_p):
        assert compare(*groups).reason == reason


@pytest.mark.parametrize(
    ("groups", "p"),
    [
        ((4, 12, 13, 104), 0.0749),
        ((4, 61, 13, 104), 0.293),
        # Fisher's tea tasting (The Design of Experiments, 1935): 3 of 4 against 1 of 4, two-sided 34 / 70.
        ((3, 4, 1, 4), 34 / 70),
    ],
)
def test_fisher(groups: tuple[int, int, int, int], p: float) -> None:
    assert fisher_p(*groups).value == pytest.approx(p, abs=5e-4)
