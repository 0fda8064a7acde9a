"""Concentration against the CHECK values of section 2 and its own definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.estimates.concentration import gini, hhi, lorenz, top_fraction_share, top_share

HOURS = [30, 20, 10] + [4] * 10 + [0] * 50


def test_check_values() -> None:
    assert top_share(HOURS).value == pytest.approx(0.6)
    assert gini(HOURS).value == pytest.approx(0.8762, abs=5e-5)
    assert hhi(HOURS).value == pytest.approx(0.1560, abs=5e-5)
    assert top_share(HOURS).n == 63


def test_always_the_same_three() -> None:
    hours = [7.0] * 3 + [0.0] * 60
    assert top_share(hours).value == pytest.approx(1.0)
    assert gini(hours).value == pytest.approx(60 / 63)
    assert hhi(hours).value == pytest.approx(1 / 3)


def test_even_spread() -> None:
    assert gini([2, 2, 2, 2]).value == 0.0
    assert hhi([2, 2, 2, 2]).value == 0.25
    assert top_share([2, 2, 2, 2], 3).value == 0.75
    assert top_share([2, 2], 3).value == 1.0


def test_top_five_percent_of_400_is_20() -> None:
    assert top_fraction_share([1.0] * 20 + [0.0] * 380, 0.05).value == 1.0
    assert top_fraction_share([1.0] * 21 + [0.0] * 379, 0.05).value == pytest.approx(20 / 21)
    assert top_fraction_share([3.0, 1.0], 0.05).value == 0.75


@settings(deadline=None)
@given(st.lists(st.integers(0, 1000), min_size=1, max_size=30).filter(any))
def test_gini_is_the_mean_difference_and_the_lorenz_area(amounts: list[int]) -> None:
    sizes = np.array(amounts, dtype=float)
    by_pairs = np.abs(np.subtract.outer(sizes, sizes)).mean() / 2 / sizes.mean()
    assert gini(amounts).value == pytest.approx(by_pairs, abs=1e-12)
    curve = lorenz(amounts)
    assert curve is not None
    assert 1 - 2 * np.trapezoid(curve.amount, curve.units) == pytest.approx(by_pairs, abs=1e-12)
    assert (curve.units[0], curve.amount[0], curve.units[-1]) == (0.0, 0.0, 1.0)


def test_nothing_to_share() -> None:
    for estimate in (top_share([0, 0]), gini([0, 0]), hhi([0, 0])):
        assert estimate.reason == "every unit has 0"
    assert gini([]).reason == "there are no units"
    assert lorenz([0, 0]) is None
    assert lorenz([]) is None


@pytest.mark.parametrize("amounts", [[1, -1], [1, float("nan")], [1, float("inf")]])
def test_amounts_must_be_amounts(amounts: list[float]) -> None:
    with pytest.raises(ValueError, match="at least 0, without NaN or infinity"):
        gini(amounts)
