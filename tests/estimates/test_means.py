"""Means with Student's interval."""

import pytest
from scipy import stats

from gangline.estimates.means import mean


def test_student_of_the_sleep_data() -> None:
    """Student 1908, Biometrika 6:1, table of hours of sleep gained: mean 2.33; R's t.test: 0.90 to 3.76."""
    found = mean([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4], "h")
    assert (found.value, found.low, found.high) == pytest.approx((2.33, 0.8976775, 3.7623225))
    assert (found.n, found.level) == (10, 0.95)


def test_it_is_scipys() -> None:
    numbers = [3.0, 4.5, 9.0, 2.0]
    expected = stats.ttest_1samp(numbers, 0).confidence_interval(0.9)
    found = mean(numbers, "h", 0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_few_values() -> None:
    one = mean([2.0, None, float("nan")], "h")
    assert (one.value, one.low, one.n) == (2.0, None, 1)
    assert one.method == "the only value; 2 without a value left out"
    assert mean([None], "h").reason == "there are no values"
