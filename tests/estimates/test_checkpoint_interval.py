"""Young, Daly, overhead and availability against the CHECK values of analyses 6, and what the intervals do."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangline.estimates import Estimate
from gangline.estimates.checkpoint_interval import (
    NO_STALL,
    availability,
    daly,
    optimum,
    optimum_overhead,
    over_optimum,
    overhead,
    overhead_at,
    young,
)
from gangline.estimates.rates import mean_time_between

HOUR = 3600
MTBF_S = 56.2 * HOUR
PUBLISHED = Estimate(56.2, "h", 23, 37.46, 88.66, 0.95)
STALL = Estimate(30.0, "s", 406)


def test_youngs_optimum_of_the_504_gpu_report() -> None:
    """Stalls of 30 s and 18 s at 56.2 h between failures (Lablup 2026, arXiv 2605.09370, recomputed)."""
    assert young(30, MTBF_S) / 60 == pytest.approx(58.07, abs=5e-3)
    assert young(18, MTBF_S) / 60 == pytest.approx(44.98, abs=5e-3)
    assert overhead(young(30, MTBF_S), 30, MTBF_S) == pytest.approx(0.01722, abs=5e-6)
    assert overhead(81.5 * 60, 30, MTBF_S) == pytest.approx(0.01822, abs=5e-6)


@pytest.mark.parametrize(("mtbf_min", "expected_min"), [(24 * 60, 116.69), (6 * 60, 56.71), (15, 9.14)])
def test_dalys_optimum_of_a_five_minute_save(mtbf_min: float, expected_min: float) -> None:
    """Daly 2006, Future Generation Computer Systems 22:303, equation 37, worked by hand."""
    assert daly(5, mtbf_min) == pytest.approx(expected_min, abs=5e-3)


def test_a_save_that_takes_twice_the_time_between_failures_is_made_once_in_it() -> None:
    assert daly(20, 10) == daly(25, 10) == 10


@pytest.mark.parametrize(("downtime_h", "share"), [(3.3, 0.9445), (1.9, 0.9673), (0, 1)])
def test_availability(downtime_h: float, share: float) -> None:
    assert availability(56.2, downtime_h) == pytest.approx(share, abs=5e-5)


@given(st.floats(0.1, 1e3), st.floats(1e3, 1e7), st.floats(0.2, 5))
def test_no_interval_loses_less_than_youngs(stall: float, mtbf: float, factor: float) -> None:
    best = young(stall, mtbf)
    least = overhead(best, stall, mtbf)
    assert overhead(best * factor, stall, mtbf) >= least * (1 - 1e-12)
    assert least == pytest.approx(math.sqrt(2 * stall / mtbf))


@given(st.floats(0.01, 1), st.floats(1e4, 1e7))
def test_daly_comes_to_young_where_saves_are_short(stall: float, mtbf: float) -> None:
    assert daly(stall, mtbf) == pytest.approx(young(stall, mtbf), rel=0.01)


@pytest.mark.parametrize(
    ("function", "values"), [(young, (-1, 10)), (daly, (1, 0)), (overhead, (0, 1, 10)), (availability, (0, 1))]
)
def test_what_cannot_be_is_refused(function: object, values: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"needed; got|must be above 0; got"):
        function(*values)  # type: ignore[operator]


def test_estimates_carry_the_interval_of_the_time_between_failures() -> None:
    best = optimum(STALL, PUBLISHED)
    assert (best.value, best.low, best.high) == pytest.approx((58.07, 47.41, 72.94), abs=5e-3)
    actual = overhead_at(Estimate(81.5 / 60, "h", 92), STALL, PUBLISHED)
    assert (actual.value, actual.low, actual.high) == pytest.approx((0.01822, 0.01380, 0.02427), abs=5e-6)
    least = optimum_overhead(best, STALL, PUBLISHED)
    assert (least.value, least.low, least.high) == pytest.approx((0.01722, 0.01371, 0.02109), abs=5e-6)
    times = over_optimum(Estimate(81.5, "min", 92), best)
    assert (times.value, times.low, times.high) == pytest.approx((1.4035, 1.1174, 1.7191), abs=5e-5)


def test_without_a_failure_only_a_bound_is_known() -> None:
    best = optimum(STALL, mean_time_between(0, 100))
    assert best.value is None
    assert best.low == pytest.approx(math.sqrt(2 * 30 * 100 / 3.6889 * HOUR) / 60, rel=1e-4)
    assert "no event in 100 h" in str(overhead_at(Estimate(1.0, "h", 4), STALL, mean_time_between(0, 100)).reason)
    assert "no event in 100 h" in str(over_optimum(Estimate(1.0, "h", 4), best).reason)


def test_a_stall_that_is_not_seen_gives_no_optimum() -> None:
    unseen = Estimate(0.0, "s", 12)
    assert optimum(unseen, PUBLISHED).reason == NO_STALL
    assert optimum_overhead(optimum(unseen, PUBLISHED), unseen, PUBLISHED).reason is not None
    unknown = Estimate.missing("s", "no stall is told", n=0)
    assert optimum(unknown, PUBLISHED).reason == "no stall is told"
    assert overhead_at(Estimate(1.0, "h", 4), unknown, PUBLISHED).reason == "no stall is told"


def test_an_interval_has_a_unit_of_time() -> None:
    with pytest.raises(ValueError, match="h or min"):
        over_optimum(Estimate(3.0, "s", 4), optimum(STALL, PUBLISHED))
