"""An estimate says what it is, and refuses to be half of one."""

import math

import pytest

from gangline.estimates import Estimate


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (Estimate(4 / 12, "ratio", 12, 0.13812, 0.60938, 0.95, numerator=4), "4 of 12, 33.3 % (13.8 to 60.9)"),
        (Estimate(1.9, "h", 4, 0.5, 9.7, 0.875), "1.9 h (n = 4; 0.5 to 9.7, 87.5 %)"),
        (Estimate(3.3, "h", 17, 2.0, 5.0, 0.951), "3.3 h (n = 17; 2.0 to 5.0, 95.1 %)"),
        (Estimate(56.26, "h", 23, 37.49, 88.75, 0.95), "56.3 h (n = 23; 37.5 to 88.8)"),
        (
            Estimate(7.108, "per_1000_node_days", 23, 4.506, 10.665, 0.95),
            "7.11 per 1,000 node-days (n = 23; 4.51 to 10.66)",
        ),
        (Estimate(2.667, "times", 116, 0.982, 6.148, 0.95), "2.67 times (n = 116; 0.98 to 6.15)"),
        (Estimate(81.5, "min", None), "81.5 min"),
        (Estimate(11, "min", 61), "11.0 min (n = 61)"),
        (Estimate(0.0, "h", 3), "0 h (n = 3)"),
        (Estimate(523, "count", 523), "523"),
        (Estimate(1, "sessions", None), "1 session"),
        (Estimate(1294, "gpu_h", None), "1,294 GPU-h"),
        (Estimate(0.0749, "p", 116), "0.075 (n = 116)"),
        (Estimate(0.8762, "index", 63), "0.876 (n = 63)"),
        (Estimate(1, "p", 6), "1.000 (n = 6)"),
        (Estimate(1.0, "ratio", 3, 0.4384, 1.0, 0.95, numerator=3), "3 of 3, 100.0 % (43.8 to 100.0)"),
        (Estimate(0.0004, "ratio", 5000, numerator=2), "2 of 5,000, 0.04 %"),
        (Estimate.missing("ratio", "no chains"), "not measured: no chains"),
        (
            Estimate.missing("h", "no end in 120 h", n=0, low=32.5, level=0.95),
            "not measured: no end in 120 h (at least 32.5 h)",
        ),
    ],
)
def test_sentence(estimate: Estimate, text: str) -> None:
    assert str(estimate) == text
    assert estimate.sentence() == text


def test_value_and_reason_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="either a value or the reason"):
        Estimate(None, "h", 0)
    with pytest.raises(ValueError, match="either a value or the reason"):
        Estimate(1.0, "h", 1, reason="odd")


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_numbers_are_finite(bad: float) -> None:
    with pytest.raises(ValueError, match="high of an estimate must be finite"):
        Estimate(1.0, "h", 1, 0.5, bad, 0.95)
