"""Aalen-Johansen against statsmodels, a hand-worked case and the identities it must keep."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.duration.survfunc import CumIncidenceRight

from gangline.estimates.incidence import cumulative_incidence
from gangline.estimates.survival import kaplan_meier

CAUSES = {0: None, 1: "retry", 2: "person"}
ROWS = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 2)), min_size=1, max_size=40)


def test_hand_worked_case() -> None:
    """At risk 6, 5, 4, 3, 1: retry 1/6 + (4/6)(1/3) = 7/18 by 4; person 1/6 by 2, then 1/6 + 4/9 by 6."""
    causes = ["retry", "person", None, "retry", None, "person"]
    curves = cumulative_incidence([1, 2, 3, 4, 5, 6], causes)
    assert curves["retry"].at(4).value == pytest.approx(7 / 18)
    assert curves["person"].at(2).value == pytest.approx(1 / 6)
    assert curves["person"].last().value == pytest.approx(11 / 18)
    assert curves["retry"].at(0.5).value == 0.0


def test_no_band_where_none_or_all_have_ended() -> None:
    """A share of 0 or 1 has no spread to estimate; a band of no width would say that it is certain."""
    curves = cumulative_incidence([1, 2, 3], ["retry", None, "person"])
    for estimate in (curves["retry"].at(0.5), curves["person"].at(2.5)):
        assert (estimate.value, estimate.low, estimate.high, estimate.level) == (0.0, None, None, None)
    some = curves["retry"].at(1)
    assert some.low is not None
    assert 0 < some.low < 1 / 3 < (some.high or 0) < 1
    whole = cumulative_incidence([1, 2], ["retry", "retry"])["retry"].last()
    assert (whole.value, whole.low, whole.high) == (1.0, None, None)


def test_uncensored_incidence_is_a_share() -> None:
    curves = cumulative_incidence([1, 2, 3, 4], ["retry", "person", "person", "retry"])
    assert (curves["retry"].at(3).value, curves["person"].at(3).value) == pytest.approx((0.25, 0.5))


@settings(deadline=None)
@given(ROWS)
def test_causes_and_survival_sum_to_one(rows: list[tuple[int, int]]) -> None:
    durations, causes = [row[0] for row in rows], [CAUSES[row[1]] for row in rows]
    curves = cumulative_incidence(durations, causes, ["retry", "person"])
    survival = kaplan_meier(durations, [cause is not None for cause in causes]).survival
    total = curves["retry"].incidence + curves["person"].incidence + survival
    assert total == pytest.approx(np.ones(survival.size), abs=1e-12)
    for curve in curves.values():
        assert np.all((curve.low <= curve.incidence + 1e-12) & (curve.incidence <= curve.high + 1e-12))


def test_agrees_with_statsmodels_in_value_and_spread() -> None:
    generator = np.random.default_rng(1)
    durations, status = generator.integers(1, 30, 60).astype(float), generator.integers(0, 3, 60)
    curve = cumulative_incidence(durations, [CAUSES[code] for code in status.tolist()])["retry"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = CumIncidenceRight(durations, status)
    assert curve.times[1:].tolist() == expected.times.tolist()
    assert curve.incidence[1:] == pytest.approx(expected.cinc[0], abs=1e-12)
    # At the last time nobody is left, and statsmodels divides by zero.
    inside = (curve.incidence > 0) & (curve.times < curve.times[-1])
    value = curve.incidence[inside]
    spread = np.log(np.log(curve.low[inside]) / np.log(value)) * value * -np.log(value) / stats.norm.isf(0.025)
    assert spread == pytest.approx(expected.cinc_se[0][inside[1:]], abs=1e-12)


def test_named_cause_that_never_came_and_one_without_a_name() -> None:
    curves = cumulative_incidence([1, 2], ["retry", None], ["retry", "person"])
    assert list(curves) == ["retry", "person"]
    assert curves["person"].last().value == 0.0
    with pytest.raises(ValueError, match="causes without a name: retry"):
        cumulative_incidence([1], ["retry"], ["person"])
    assert cumulative_incidence([], [], ["retry"])["retry"].last().reason == "there are no durations"
