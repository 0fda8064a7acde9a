"""Kaplan-Meier against the 6-MP trial (Freireich et al. 1963, Blood 21:699) as R's survfit prints it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gangline.estimates.survival import kaplan_meier

WEEKS_6MP = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
RELAPSED_6MP = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
WEEKS_PLACEBO = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23]


@pytest.mark.parametrize(
    ("week", "share"),
    [(5.9, 1.0), (6, 0.857), (7, 0.807), (10, 0.753), (13, 0.690), (16, 0.627), (22, 0.538), (23, 0.448), (40, 0.448)],
)
def test_6mp_curve(week: float, share: float) -> None:
    assert kaplan_meier(WEEKS_6MP, RELAPSED_6MP).at(week).value == pytest.approx(share, abs=5e-4)


def test_6mp_band_is_log_log() -> None:
    curve = kaplan_meier(WEEKS_6MP, RELAPSED_6MP)
    assert (curve.at(6).low, curve.at(6).high) == pytest.approx((0.620, 0.952), abs=5e-4)
    assert (curve.at(23).low, curve.at(23).high) == pytest.approx((0.188, 0.680), abs=5e-4)


def test_6mp_medians() -> None:
    treated = kaplan_meier(WEEKS_6MP, RELAPSED_6MP).median("weeks")
    assert (treated.value, treated.low, treated.high, treated.n) == (23.0, 13.0, None, 21)
    placebo = kaplan_meier(WEEKS_PLACEBO, [True] * 21)
    assert (placebo.median("weeks").value, placebo.median("weeks").low, placebo.median("weeks").high) == (
        8.0,
        4.0,
        11.0,
    )
    assert (placebo.quantile(0.25, "weeks").value, placebo.quantile(0.75, "weeks").value) == (4.0, 12.0)


def test_check_value_of_section_5() -> None:
    curve = kaplan_meier([0.5, 1, 2, 3, 4, 6], [True, True, False, True, False, True])
    assert curve.median("h").value == 3.0
    assert curve.at_risk.tolist() == [6, 6, 5, 4, 3, 2, 1]
    assert curve.censored.tolist() == [0, 0, 0, 1, 0, 1, 0]
    assert curve.ended.tolist() == [0, 1, 1, 0, 1, 0, 1]


def test_median_is_the_middle_of_the_stretch_at_one_half() -> None:
    assert kaplan_meier([1, 2, 3, 4], [True] * 4).median("h").value == 2.5
    # 1/3 + 1/6 lands beside 0.5 in floating point.
    curve = kaplan_meier([1, 2, 3, 4, 5, 6], [True] * 6)
    assert curve.median("h").value == 3.5


def test_curve_that_stays_at_one_half_gives_the_first_time() -> None:
    assert kaplan_meier([1, 2, 3, 4], [True, True, False, False]).median("h").value == 2.0


def test_too_few_ended() -> None:
    curve = kaplan_meier([1, 2, 3, 4], [True, False, False, False])
    assert curve.median("h").reason == "too few have ended: the curve stays above 50 %"
    assert curve.median("h").low == 1.0
    assert "3 of 4 still open" in curve.median("h").method


def test_nothing_and_unknown_durations() -> None:
    assert kaplan_meier([], []).median("h").reason == "there are no durations"
    assert kaplan_meier([], []).at(3).value is None
    curve = kaplan_meier([1.0, float("nan"), 3.0], [True, True, True])
    assert (curve.n, curve.left_out) == (2, 1)
    assert curve.median("h").method.endswith("1 without a duration left out")


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="must not be negative; got -1"):
        kaplan_meier([1, -1], [True, True])
    with pytest.raises(ValueError, match="2 durations but 1 flags"):
        kaplan_meier([1, 2], [True])


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=40))
def test_agrees_with_scipy(rows: list[tuple[int, bool]]) -> None:
    durations, is_ended = np.array([row[0] for row in rows], dtype=float), np.array([row[1] for row in rows])
    curve = kaplan_meier(durations, is_ended)
    expected = stats.ecdf(stats.CensoredData.right_censored(durations, ~is_ended)).sf
    assert curve.times[1:].tolist() == expected.quantiles.tolist()
    assert curve.survival[1:] == pytest.approx(expected.probabilities, abs=1e-12)
    assert np.all(curve.low <= curve.survival + 1e-12)
    assert np.all(curve.survival <= curve.high + 1e-12)


def test_no_band_before_the_first_end() -> None:
    before = kaplan_meier([2, 3], [True, False]).at(1)
    assert (before.value, before.low, before.high, before.level) == (1.0, None, None, None)
