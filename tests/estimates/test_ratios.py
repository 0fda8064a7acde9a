"""Ratios of sums: the value, and the interval by hand and by the jackknife."""

import math

import numpy as np
import pytest
from scipy import stats

from gangline.estimates.ratios import ratio_of_sums


def test_a_busy_second_weighs_more_than_a_quiet_one() -> None:
    """CHECK of analyses 7: 1,000 requests in 1 s and 10 in 1 s are 1.98 ms each (the mean of ratios would be 50.5)."""
    found = ratio_of_sums([1.0, 1.0], [1000, 10], "ms", scale=1000)
    assert round(found.value or 0, 2) == 1.98
    assert np.mean([1.0, 100.0]) == 50.5


def test_the_queue_share_of_the_check() -> None:
    """CHECK: queue 54.2 of 78.2 ms = 69.3 %."""
    assert ratio_of_sums([54.2, 108.4], [78.2, 156.4], "ratio").brief == "69.3 %"


def test_the_interval_by_hand() -> None:
    """Residuals 1, -1, 0 about a ratio of 2 over a sum of 6: sqrt(3 / 2 x 2) / 6, times t of 2 degrees."""
    found = ratio_of_sums([3.0, 3.0, 6.0], [1, 2, 3], "s")
    reach = stats.t.ppf(0.975, 2) * math.sqrt(3) / 6
    assert (found.value, found.n, found.low, found.high) == (2.0, 3, pytest.approx(2 - reach), pytest.approx(2 + reach))


def test_it_is_close_to_the_jackknife() -> None:
    rng = np.random.default_rng(3)
    below = rng.uniform(50, 150, 60)
    above = below * rng.normal(2, 0.3, 60)
    found = ratio_of_sums(above.tolist(), below.tolist(), "s")
    left_out = np.array([(above.sum() - a) / (below.sum() - b) for a, b in zip(above, below, strict=True)])
    spread = math.sqrt(59 / 60 * ((left_out - left_out.mean()) ** 2).sum())
    reach = (found.high or 0) - (found.value or 0)
    assert reach == pytest.approx(stats.t.ppf(0.975, 59) * spread, rel=0.02)


def test_few_and_null_clusters() -> None:
    assert ratio_of_sums([2.0, None], [4, 1], "s").sentence() == "0.5 s (n = 1)"
    assert ratio_of_sums([], [], "s").reason == "there is nothing to divide by"
    assert ratio_of_sums([0.0], [0], "s").value is None
    assert ratio_of_sums([5.0, 0.0], [1, 1], "s").low == 0.0
