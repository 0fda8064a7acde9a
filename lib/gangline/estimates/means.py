"""Means of plain samples, with Student's interval."""

import math
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike
from scipy import stats

from gangline.estimates.estimate import USUAL_LEVEL, Estimate
from gangline.estimates.quantiles import known, omission


def mean(
    values: ArrayLike | Sequence[Any], unit: str, level: float = USUAL_LEVEL, *, least: float | None = None
) -> Estimate:
    """Mean of the values that are known, with Student's interval; from one value no interval.

    Parameters
    ----------
    least : float, optional
        The least that such values can be (0 for hours): the interval is cut there.

    References
    ----------
    Student 1908, Biometrika 6:1; the interval is exact under a normal law, and close for a few dozen of a uniform one.

    Examples
    --------
    >>> print(mean([1.0, 2.0, 3.0, None], "h"))
    2.0 h (n = 3; -0.48 to 4.5)
    >>> print(mean([1.0, 2.0, 3.0], "h", least=0.0))
    2.0 h (n = 3; 0 to 4.5)
    """
    numbers, left_out = known(values)
    n, method = int(numbers.size), "mean, Student interval" + omission(left_out)
    if n == 0:
        return Estimate.missing(unit, "there are no values", n=0, method=method)
    value = float(numbers.mean())
    if n == 1:
        return Estimate(value, unit, n, method="the only value" + omission(left_out))
    reach = float(stats.t.isf((1 - level) / 2, n - 1) * numbers.std(ddof=1) / math.sqrt(n))
    low = value - reach if least is None else max(least, value - reach)
    return Estimate(value, unit, n, low, value + reach, level, method)
