"""Weibull fits against the 6-MP trial, scipy, and the likelihood ratio that the interval inverts."""

import math

import numpy as np
import pytest
from scipy import stats

from gangline.estimates.weibull import Gaps, detectable_shapes, event_gaps, power_statement, weibull

WEEKS = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
IS_ENDED = [True] * 3 + [False, True, False, True, False, False, True, True] + [False] * 3 + [True] * 2 + [False] * 5


def test_6mp_fit() -> None:
    """Freireich et al. 1963, Blood 21:699; R's survreg on the treated arm: shape 1.354, scale 33.77."""
    fit = weibull(WEEKS, IS_ENDED, "weeks")
    assert (fit.shape.value, fit.scale.value) == pytest.approx((1.354, 33.77), abs=5e-3)
    assert (fit.shape.n, fit.shape.level) == (9, 0.95)


def test_agrees_with_scipy() -> None:
    generator = np.random.default_rng(2)
    times, limits = generator.weibull(0.7, 200) * 50, generator.uniform(0, 120, 200)
    seen, is_ended = np.minimum(times, limits), times <= limits
    expected = stats.weibull_min.fit(stats.CensoredData.right_censored(seen, ~is_ended), floc=0)
    fit = weibull(seen, is_ended, "h")
    assert (fit.shape.value, fit.scale.value) == pytest.approx((expected[0], expected[2]), rel=1e-3)
    assert fit.shape.low < 0.7 < fit.shape.high


@pytest.mark.parametrize("side", ["low", "high"])
def test_interval_ends_where_the_likelihood_ratio_is_3_84(side: str) -> None:
    fit, weeks, is_ended = weibull(WEEKS, IS_ENDED, "weeks"), np.array(WEEKS, dtype=float), np.array(IS_ENDED)

    def best(shape: float) -> float:
        scale = (np.sum(weeks**shape) / is_ended.sum()) ** (1 / shape)
        law = stats.weibull_min(shape, scale=scale)
        return float(law.logpdf(weeks[is_ended]).sum() + law.logsf(weeks[~is_ended]).sum())

    ratio = 2 * (best(fit.shape.value) - best(getattr(fit.shape, side)))
    assert ratio == pytest.approx(stats.chi2.isf(0.05, 1), abs=1e-5)


def test_unit_of_the_gaps_does_not_touch_the_shape() -> None:
    hours, days = weibull(WEEKS, IS_ENDED, "h"), weibull([week * 1e-6 for week in WEEKS], IS_ENDED, "d")
    assert (days.shape.value, days.shape.low, days.shape.high) == pytest.approx(
        (hours.shape.value, hours.shape.low, hours.shape.high), rel=1e-6
    )
    assert days.scale.value == pytest.approx(hours.scale.value * 1e-6, rel=1e-6)


def test_gaps_merge_ties_and_censor_the_last() -> None:
    gaps = event_gaps({"n2": [4.0], "n1": [5.0, 2.0, 2.0, 2.0], "n3": [], "n4": [10.0]}, 10.0)
    assert gaps.durations.tolist() == [3.0, 5.0, 6.0]
    assert gaps.is_ended.tolist() == [True, False, False]
    assert gaps.merged == 2
    per_unit = event_gaps({"n1": [1.0], "n2": [1.0]}, {"n1": 4.0, "n2": 3.0})
    assert per_unit.durations.tolist() == [3.0, 2.0]
    empty = event_gaps({}, 1.0)
    assert isinstance(empty, Gaps)
    assert empty.durations.size == 0
    with pytest.raises(ValueError, match="n1 has an event at 5, after the end of observation at 4"):
        event_gaps({"n1": [5.0]}, 4.0)


def test_too_few_gaps() -> None:
    reason = "a Weibull fit needs at least two ended gaps that differ"
    for durations, is_ended in (([], []), ([3.0], [True]), ([3.0, 3.0], [True, True]), ([1.0, 2.0], [True, False])):
        fit = weibull(durations, is_ended, "h")
        assert (fit.shape.reason, fit.scale.reason) == (reason, reason)


def test_bad_gaps() -> None:
    with pytest.raises(ValueError, match="merge events of one instant first"):
        weibull([0.0, 1.0], [True, True], "h")
    with pytest.raises(ValueError, match="2 gaps but 1 flags"):
        weibull([1.0, 2.0], [True], "h")


def test_power() -> None:
    low, high = detectable_shapes(100) or (math.nan, math.nan)
    assert low * high == pytest.approx(1.0)
    assert high == pytest.approx(math.exp((1.959964 + 0.841621) * math.sqrt(6) / math.pi / 10), rel=1e-5)
    assert power_statement(0) == "Without an ended gap nothing can be said about the shape."


def test_power_holds_in_simulation() -> None:
    """A Wald test of log shape = 0 on 100 gaps of the detectable shape rejects about four times in five."""
    shape, generator = (detectable_shapes(100) or (1.0, 1.0))[1], np.random.default_rng(3)
    fits = [weibull(generator.weibull(shape, 100), np.ones(100, dtype=bool), "h").shape for _ in range(200)]
    assert 0.7 < np.mean([fit.low > 1 for fit in fits]) < 0.9
