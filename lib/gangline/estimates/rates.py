"""Counts of events over exposure: failures per 1,000 node-days, hours between failures, and two rates compared."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from gangline.estimates.estimate import USUAL_LEVEL, Estimate

HOURS_PER_1000_NODE_DAYS = 24_000.0


def poisson_bounds(count: float, level: float = USUAL_LEVEL) -> tuple[float, float]:
    """Exact interval of a Poisson mean of which `count` was seen.

    References
    ----------
    Garwood 1936, Biometrika 28:437; Ulm 1990, American Journal of Epidemiology 131:373.

    Examples
    --------
    >>> [round(bound, 3) for bound in poisson_bounds(10)]
    [4.795, 18.39]
    """
    if count < 0:
        raise ValueError(f"a count must not be negative; got {count}")
    tail = (1 - level) / 2
    low = float(stats.gamma.ppf(tail, count)) if count else 0.0
    return low, float(stats.gamma.isf(tail, count + 1))


def event_count(count: int, unit: str = "count", level: float = USUAL_LEVEL) -> Estimate:
    """Count of events with the exact (Garwood) interval of its mean.

    >>> print(event_count(5))
    5 (1.6 to 11.7)
    """
    return Estimate(float(count), unit, count, *poisson_bounds(count, level), level, "count, Garwood interval")


def rate(
    count: int, exposure: float, unit: str, *, per: float = 1.0, dispersion: float = 1.0, level: float = USUAL_LEVEL
) -> Estimate:
    """Events per `per` of exposure with the exact (Garwood) interval.

    Parameters
    ----------
    count : int
        Events seen; it is the estimate's n.
    exposure : float
        What they were seen in, in the units of `per`; 0 or less gives a missing estimate.
    unit : str
        Unit of the result.
    per : float
        How much exposure the rate speaks of.
    dispersion : float
        Variance over mean of the counts. Above 1 the interval is that of count / dispersion events in
        exposure / dispersion: the same rate, wider by about the square root. Below 1 it changes nothing.

    Examples
    --------
    >>> print(rate(23, 60 * 1294 / 24, "per_1000_node_days", per=1000))
    7.11 per 1,000 node-days (n = 23; 4.51 to 10.67)
    """
    widening = max(dispersion, 1.0)
    method = "rate, Garwood interval" + (f" widened by dispersion {dispersion:.2f}" if widening > 1 else "")
    if not exposure > 0:
        return Estimate.missing(unit, "there is no exposure", n=count, method=method)
    low, high = (bound * widening * per / exposure for bound in poisson_bounds(count / widening, level))
    return Estimate(count * per / exposure, unit, count, low, high, level, method)


def per_1000_node_days(count: int, node_h: float, *, dispersion: float = 1.0, level: float = USUAL_LEVEL) -> Estimate:
    """Events per 1,000 node-days of `node_h` node-hours.

    >>> print(per_1000_node_days(23, 60 * 1294))
    7.11 per 1,000 node-days (n = 23; 4.51 to 10.67)
    """
    return rate(count, node_h, "per_1000_node_days", per=HOURS_PER_1000_NODE_DAYS, dispersion=dispersion, level=level)


def mean_time_between(
    count: int, exposure: float, unit: str = "h", *, dispersion: float = 1.0, level: float = USUAL_LEVEL
) -> Estimate:
    """Exposure per event (MTBF) with the inverse of the rate's interval; no event: missing, with its lower bound.

    >>> print(mean_time_between(23, 1294))
    56.3 h (n = 23; 37.5 to 88.8)
    """
    rates = rate(count, exposure, unit, dispersion=dispersion, level=level)
    method = rates.method.replace("rate,", "exposure per event,")
    if rates.value is None:
        return Estimate.missing(unit, rates.reason or "", n=count, method=method)
    low = 1 / rates.high if rates.high else None
    if count == 0:
        return Estimate.missing(unit, f"no event in {exposure:g} {unit}", n=0, low=low, level=level, method=method)
    return Estimate(1 / rates.value, unit, count, low, 1 / rates.low if rates.low else None, level, method)


def dispersion_index(counts: ArrayLike | Sequence[int], level: float = USUAL_LEVEL) -> Estimate:
    """Variance over mean of the counts of equal stretches of exposure: 1 under Poisson, more where events cluster.

    The interval scales the chi-square law of (k - 1) x index that holds under Poisson, so it says whether 1 is within
    reach, not more. `n` is the number of stretches.

    References
    ----------
    Fisher, Thornton and Mackenzie 1922, Annals of Applied Biology 9:325.

    Examples
    --------
    >>> dispersion_index([0, 2, 4]).value
    2.0
    """
    numbers = np.asarray(counts, dtype=np.float64).ravel()
    n, method = int(numbers.size), "variance over mean, chi-square interval"
    if n < 2 or numbers.sum() == 0:
        reason = "fewer than two stretches" if n < 2 else "no event in any stretch"
        return Estimate.missing("index", reason, n=n, method=method)
    index = float(numbers.var(ddof=1) / numbers.mean())
    low, high = (index * (n - 1) / float(stats.chi2.isf(tail, n - 1)) for tail in ((1 - level) / 2, (1 + level) / 2))
    return Estimate(index, "index", n, low, high, level, method)


def dispersion_p(counts: ArrayLike | Sequence[int]) -> Estimate:
    """One-sided p that counts of equal stretches vary so much under Poisson: Fisher's index of dispersion test."""
    index = dispersion_index(counts)
    if index.value is None or index.n is None:
        return Estimate.missing("p", index.reason or "", n=index.n)
    p = float(stats.chi2.sf(index.value * (index.n - 1), index.n - 1))
    return Estimate(p, "p", index.n, method="index of dispersion, chi-square, one-sided")


def rates_p(count: int, exposure: float, other_count: int, other_exposure: float) -> Estimate:
    """Two-sided exact p that two Poisson rates are equal: given the total, the first count is binomial.

    No "better" or "worse" is said without it. `n` is the total count.

    References
    ----------
    Przyborowski and Wilenski 1940, Biometrika 31:313.

    Examples
    --------
    >>> round(rates_p(11, 800, 21, 3011).value, 5)
    0.07967
    """
    total, method = count + other_count, "exact conditional test of two Poisson rates, two-sided"
    if reason := _incomparable(total, exposure, other_exposure):
        return Estimate.missing("p", reason, n=total, method=method)
    share = exposure / (exposure + other_exposure)
    p = float(stats.binomtest(count, total, share).pvalue)
    return Estimate(min(p, 1.0), "p", total, method=method)


def _incomparable(total: int, exposure: float, other_exposure: float) -> str:
    if not (exposure > 0 and other_exposure > 0):
        return "one side has no exposure"
    return "" if total else "neither side has an event"
