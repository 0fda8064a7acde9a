"""Rates against Garwood's table, R's poisson.test and the CHECK values of sections 0 and 6."""

import math

import numpy as np
import pytest
from scipy import stats

from gangline.estimates.rates import (
    dispersion_index,
    dispersion_p,
    event_count,
    mean_time_between,
    per_1000_node_days,
    poisson_bounds,
    rate,
    rates_p,
)


@pytest.mark.parametrize(
    ("count", "low", "high"),
    [
        # Garwood 1936, Biometrika 28:437; Ulm 1990, American Journal of Epidemiology 131:373.
        (0, 0.0, 3.689),
        (1, 0.0253, 5.572),
        (5, 1.623, 11.668),
        (10, 4.795, 18.390),
        (20, 12.217, 30.888),
        (100, 81.364, 121.627),
    ],
)
def test_garwood(count: int, low: float, high: float) -> None:
    assert poisson_bounds(count) == pytest.approx((low, high), abs=5e-4)
    assert (event_count(count).low, event_count(count).high) == poisson_bounds(count)


def test_rate_of_r_help_page() -> None:
    """R's help page of poisson.test: 137 events in 24.19893: 5.661 (4.753 to 6.693)."""
    found = rate(137, 24.19893, "per_h")
    assert (found.value, found.low, found.high) == pytest.approx((5.661407, 4.753125, 6.692709), abs=1e-6)


def test_check_values_of_section_6() -> None:
    mtbf = mean_time_between(23, 1294)
    assert (mtbf.value, mtbf.low, mtbf.high) == pytest.approx((56.26, 37.49, 88.75), abs=0.01)
    jobs = per_1000_node_days(23, 60 * 1294)
    assert (jobs.value, jobs.low, jobs.high) == pytest.approx((7.11, 4.51, 10.67), abs=0.005)


def test_check_values_of_llama_3() -> None:
    assert mean_time_between(419, 54 * 24).value == pytest.approx(3.09, abs=0.005)
    assert mean_time_between(466, 54 * 24).value == pytest.approx(2.78, abs=0.005)
    nodes = per_1000_node_days(419, 2048 * 54 * 24)
    assert (nodes.value, nodes.low, nodes.high) == pytest.approx((3.79, 3.43, 4.17), abs=0.005)


def test_no_event_has_a_rate_of_zero_but_no_mean_time() -> None:
    assert (rate(0, 120, "per_h").value, rate(0, 120, "per_h").low) == (0.0, 0.0)
    quiet = mean_time_between(0, 120)
    assert str(quiet) == "not measured: no event in 120 h (at least 32.5 h)"
    assert quiet.low == pytest.approx(120 / 3.68888, rel=1e-5)


@pytest.mark.parametrize("exposure", [0.0, -1.0, math.nan])
def test_no_exposure(exposure: float) -> None:
    assert rate(3, exposure, "per_h").reason == "there is no exposure"
    assert mean_time_between(3, exposure).reason == "there is no exposure"


def test_dispersion_widens_by_about_its_root() -> None:
    plain, wide = rate(400, 100, "per_h"), rate(400, 100, "per_h", dispersion=4.0)
    assert wide.value == plain.value
    assert (wide.high - wide.low) / (plain.high - plain.low) == pytest.approx(2.0, abs=0.05)
    assert wide.method == "rate, Garwood interval widened by dispersion 4.00"
    assert rate(400, 100, "per_h", dispersion=0.5) == plain


def test_dispersion_index() -> None:
    found = dispersion_index([0, 2, 4])
    assert (found.value, found.n) == (2.0, 3)
    assert found.low == pytest.approx(4 / stats.chi2.ppf(0.975, 2))
    assert found.high == pytest.approx(4 / stats.chi2.ppf(0.025, 2))
    assert dispersion_p([0, 2, 4]).value == pytest.approx(math.exp(-2))
    assert dispersion_index([3]).reason == "fewer than two stretches"
    assert dispersion_p([0, 0]).reason == "no event in any stretch"


def test_horse_kicks_are_poisson() -> None:
    """Von Bortkiewicz 1898: 200 corps-years with 0 to 4 deaths, mean 0.61 and variance 0.611."""
    deaths = np.repeat([0, 1, 2, 3, 4], [109, 65, 22, 3, 1])
    assert dispersion_index(deaths).value == pytest.approx(1.0018, abs=5e-4)
    assert 0.4 < dispersion_p(deaths).value < 0.6


def test_two_rates_of_r_help_page() -> None:
    """R's help page of poisson.test: 11 in 800 against 21 in 3,011: p 0.0797."""
    assert rates_p(11, 800, 21, 3011).value == pytest.approx(0.07967, abs=5e-6)


def test_incomparable_rates() -> None:
    assert rates_p(1, 0, 2, 3).reason == "one side has no exposure"
    assert rates_p(0, 1, 0, 3).reason == "neither side has an event"


def test_negative_count() -> None:
    with pytest.raises(ValueError, match="must not be negative; got -1"):
        poisson_bounds(-1)
