"""Medians and other quantiles of plain samples: type 7 on DOUBLE, NaN left out and counted, as in every engine here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from gangline.estimates.estimate import USUAL_LEVEL, Estimate

FEWEST_FOR_95 = 6
"""From so many values on an order-statistic interval of the median can cover 95 % (1 - 2 x 0.5^6 = 96.9 %)."""


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Quantiles of one sample: `values[i]` belongs to `levels[i]`, all None where n = 0; `left_out` NaNs and nulls."""

    levels: tuple[float, ...]
    values: tuple[float | None, ...]
    n: int
    left_out: int


def known(values: ArrayLike | Sequence[Any]) -> tuple[NDArray[np.float64], int]:
    """Split a sample into its sorted numbers and the count of what is NaN or null.

    >>> known([3.0, None, 1.0, float("nan")])
    (array([1., 3.]), 2)
    """
    sample = np.asarray(values, dtype=np.float64).ravel()
    numbers = np.sort(sample[~np.isnan(sample)])
    return numbers, int(sample.size - numbers.size)


def quantiles(values: ArrayLike | Sequence[Any], levels: Sequence[float] = (0.25, 0.5, 0.75)) -> Quantiles:
    """Quantiles by linear interpolation (type 7 of Hyndman and Fan 1996, The American Statistician 50:361).

    >>> quantiles([10, 11, 11, 14]).values
    (10.75, 11.0, 11.75)
    """
    numbers, left_out = known(values)
    if numbers.size == 0:
        return Quantiles(tuple(levels), (None,) * len(levels), 0, left_out)
    found = np.quantile(numbers, list(levels), method="linear")
    return Quantiles(tuple(levels), tuple(found.tolist()), int(numbers.size), left_out)


def quantile(values: ArrayLike | Sequence[Any], level: float, unit: str) -> Estimate:
    """Estimate one quantile, without an interval.

    >>> print(quantile([10, 11, 11, 12], 0.25, "min"))
    10.8 min (n = 4)
    """
    found = quantiles(values, [level])
    method = f"{level * 100:g} % quantile, type 7" + omission(found.left_out)
    if (value := found.values[0]) is None:
        return Estimate.missing(unit, "there are no values", n=0, method=method)
    return Estimate(value, unit, found.n, method=method)


def median(values: ArrayLike | Sequence[Any], unit: str) -> Estimate:
    """Median with an order-statistic interval whose true coverage is its `level`.

    Six values or more: the narrowest symmetric pair of order statistics that covers at least 95 %. Fewer: smallest and
    largest, which cover 1 - 2 x 0.5^n (n = 4: 87.5 %; n = 1: no interval). No bootstrap: on a handful of values with
    ties it is not defined (scipy PR 14351).

    References
    ----------
    David and Nagaraja 2003, Order Statistics, section 7.1.

    Examples
    --------
    >>> print(median([1.0, 1.6, 2.2, 5.0], "h"))
    1.9 h (n = 4; 1.0 to 5.0, 87.5 %)
    """
    numbers, left_out = known(values)
    n = int(numbers.size)
    method = "median, order-statistic interval" + omission(left_out)
    if n == 0:
        return Estimate.missing(unit, "there are no values", n=0, method=method)
    value = float(np.quantile(numbers, 0.5, method="linear"))
    if n == 1:
        return Estimate(value, unit, n, method="the only value" + omission(left_out))
    rank = median_rank(n)
    return Estimate(
        value, unit, n, float(numbers[rank - 1]), float(numbers[n - rank]), median_coverage(n, rank), method
    )


def median_rank(n: int, level: float = USUAL_LEVEL) -> int:
    """Rank k (from 1) of the narrowest pair (k-th smallest, k-th largest) that covers the median at the level, else 1.

    >>> median_rank(17), median_rank(6), median_rank(4)
    (5, 1, 1)
    """
    if n < FEWEST_FOR_95 and level == USUAL_LEVEL:
        return 1
    rank = int(stats.binom.ppf((1 - level) / 2, n, 0.5))
    return max(rank if median_coverage(n, rank + 1) < level else rank + 1, 1)


def median_coverage(n: int, rank: int) -> float:
    """Chance that the pair of rank-th smallest and rank-th largest of n holds the median of a continuous law.

    >>> round(median_coverage(17, 5), 3), median_coverage(4, 1)
    (0.951, 0.875)
    """
    return float(1 - 2 * stats.binom.cdf(rank - 1, n, 0.5))


def omission(left_out: int) -> str:
    """Words for values that were NaN or null, for the end of a method."""
    return f"; {left_out} without a value left out" if left_out else ""
