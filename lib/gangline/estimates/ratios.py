"""Ratios of sums: time per request, bytes per request; in a mean of ratios a quiet hour would count as a busy one."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from gangline.estimates.estimate import USUAL_LEVEL, Estimate


def ratio_of_sums(
    numerators: ArrayLike | Sequence[Any],
    denominators: ArrayLike | Sequence[Any],
    unit: str,
    *,
    scale: float = 1.0,
    level: float = USUAL_LEVEL,
) -> Estimate:
    """Sum of the numerators over the sum of the denominators, with an interval from how clusters differ.

    Parameters
    ----------
    numerators, denominators
        One pair a cluster (a save, say): what is in one cluster is not independent, clusters are. A pair with a null
        is left out.
    scale : float
        What the ratio is multiplied by to be in `unit`.

    Notes
    -----
    Linearised variance of the ratio estimator with Student's quantile (Cochran 1977, Sampling Techniques, section 6.3),
    cut at 0; from fewer than two clusters there is no interval.

    Examples
    --------
    Thousand requests in 1 s, and 10 in 1 s: the mean of the two ratios would say 50.5 ms.

    >>> ratio_of_sums([1.0, 1.0], [1000, 10], "ms", scale=1000).brief
    '2.0 ms'
    >>> print(ratio_of_sums([2.0, 4.0, 6.0], [1, 2, 3], "ms"))
    2.0 ms (n = 3; 2.0 to 2.0)
    """
    above, below = (np.asarray(side, dtype=np.float64).ravel() for side in (numerators, denominators))
    is_known = ~(np.isnan(above) | np.isnan(below))
    above, below = above[is_known], below[is_known]
    n, total, method = int(above.size), float(below.sum()), "ratio of sums, clusters linearised"
    if total <= 0:
        return Estimate.missing(unit, "there is nothing to divide by", n=n, method="ratio of sums")
    ratio = float(above.sum()) / total
    if n < 2:
        return Estimate(ratio * scale, unit, n, method="ratio of sums")
    spread = math.sqrt(n / (n - 1) * float(((above - ratio * below) ** 2).sum())) / total
    reach = float(stats.t.isf((1 - level) / 2, n - 1)) * spread
    return Estimate(ratio * scale, unit, n, max(0.0, ratio - reach) * scale, (ratio + reach) * scale, level, method)
