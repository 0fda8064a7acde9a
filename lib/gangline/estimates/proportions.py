"""Proportions and the comparison of two of them: shares of sessions, of chains, of retries that trained."""

import math
from collections.abc import Callable

from scipy import optimize, stats

from gangline.estimates.estimate import USUAL_LEVEL, Estimate

WIDEST_LOG_RATIO = 60.0
"""Where the search for a bound of a ratio gives up: e^60 is past any ratio of counts."""


def proportion(hits: int, n: int, level: float = USUAL_LEVEL) -> Estimate:
    """Share of hits in n trials with Wilson's score interval.

    Parameters
    ----------
    hits, n : int
        The numerator and the denominator; n = 0 gives a missing estimate, not 0.
    level : float
        Coverage of the interval.

    Raises
    ------
    ValueError
        If not 0 <= hits <= n.

    References
    ----------
    Wilson 1927; values in Newcombe 1998, Statistics in Medicine 17:857, table I.

    Examples
    --------
    >>> print(proportion(4, 12))
    4 of 12, 33.3 % (13.8 to 60.9)
    """
    _check(hits, n)
    if n == 0:
        return Estimate.missing("ratio", "there is nothing to take a share of (0 of 0)", n=0, numerator=0)
    low, high = _wilson(hits, n, level)
    return Estimate(hits / n, "ratio", n, low, high, level, "proportion, Wilson interval", numerator=hits)


def difference_of_proportions(hits: int, n: int, other_hits: int, other_n: int, level: float = USUAL_LEVEL) -> Estimate:
    """First proportion minus the second, in percentage points, with Newcombe's hybrid score interval.

    References
    ----------
    Newcombe 1998, Statistics in Medicine 17:873, method 10. (The inverted score interval of statsmodels 0.15 is not
    Mee's: statsmodels issue 10269.)

    Examples
    --------
    >>> print(difference_of_proportions(56, 70, 48, 80))
    20.0 percentage points (n = 150; 5.2 to 33.4)
    """
    unit, method = "ratio_difference", "difference of proportions, Newcombe's method 10"
    if gap := _missing_side(hits, n, other_hits, other_n, unit, method):
        return gap
    first, second = hits / n, other_hits / other_n
    (low_1, high_1), (low_2, high_2) = _wilson(hits, n, level), _wilson(other_hits, other_n, level)
    low = first - second - math.hypot(first - low_1, high_2 - second)
    high = first - second + math.hypot(second - low_2, high_1 - first)
    return Estimate(first - second, unit, n + other_n, low, high, level, method)


def ratio_of_proportions(hits: int, n: int, other_hits: int, other_n: int, level: float = USUAL_LEVEL) -> Estimate:
    """First proportion over the second ("2.67 times"), with the score interval of Miettinen and Nurminen.

    The bounds are the ratios that the score test with variance factor N / (N - 1) does not reject. Written here because
    statsmodels 0.15, which agrees inside, fails at the edges (0 hits below, all hits: warnings or complex numbers).
    No hits below: missing, with the lower bound that is known.

    References
    ----------
    Miettinen and Nurminen 1985, Statistics in Medicine 4:213; Koopman 1984, Biometrics 40:513.

    Examples
    --------
    >>> print(ratio_of_proportions(4, 12, 13, 104))
    2.67 times (n = 116; 0.98 to 6.15)
    """
    unit, method = "times", "ratio of proportions, score interval (Miettinen-Nurminen)"
    if gap := _missing_side(hits, n, other_hits, other_n, unit, method):
        return gap
    total = n + other_n
    if hits == other_hits == 0:
        return Estimate.missing(unit, "neither group has a hit (0 over 0)", n=total, method=method)
    low, high = ratio_bounds(hits, n, other_hits, other_n, level)
    if other_hits == 0:
        reason = "the second group has no hit, so the ratio has no upper bound"
        return Estimate.missing(unit, reason, n=total, low=low, level=level, method=method)
    return Estimate(hits / n / (other_hits / other_n), unit, total, low, high, level, method)


def fisher_p(hits: int, n: int, other_hits: int, other_n: int) -> Estimate:
    """Two-sided p of Fisher's exact test that both groups share one proportion (rows are the groups).

    Examples
    --------
    >>> round(fisher_p(4, 12, 13, 104).value, 4)
    0.0749
    """
    if gap := _missing_side(hits, n, other_hits, other_n, "p", "Fisher's exact test, two-sided"):
        return gap
    table = [[hits, n - hits], [other_hits, other_n - other_hits]]
    p = float(stats.fisher_exact(table, alternative="two-sided").pvalue)
    return Estimate(min(p, 1.0), "p", n + other_n, method="Fisher's exact test, two-sided")


def ratio_bounds(
    hits: int, n: int, other_hits: int, other_n: int, level: float = USUAL_LEVEL, corrected: bool = True
) -> tuple[float, float | None]:
    """Bounds of the ratio of two proportions; None where there is no upper one (the second group has no hit).

    Parameters
    ----------
    corrected : bool
        Whether the variance carries Miettinen's and Nurminen's N / (N - 1); without it the bounds are Koopman's.
    """
    z = float(stats.norm.isf((1 - level) / 2))

    def score(log_ratio: float) -> float:
        return _ratio_score(math.exp(log_ratio), hits, n, other_hits, other_n, corrected)

    low = 0.0 if hits == 0 else math.exp(_root(lambda log_ratio: score(log_ratio) - z))
    high = None if other_hits == 0 else math.exp(_root(lambda log_ratio: score(log_ratio) + z))
    return low, high


def _ratio_score(ratio: float, hits: int, n: int, other_hits: int, other_n: int, corrected: bool) -> float:
    total = n + other_n
    b = n * ratio + hits + other_n + other_hits * ratio
    c = hits + other_hits
    # This form of the smaller root keeps its digits where the ratio is tiny.
    second = 2 * c / (b + math.sqrt(max(b * b - 4 * total * ratio * c, 0.0)))
    first = ratio * second
    variance = max(first * (1 - first), 0.0) / n + ratio**2 * max(second * (1 - second), 0.0) / other_n
    distance = hits / n - ratio * other_hits / other_n
    if variance == 0:
        return math.copysign(math.inf, distance) if abs(distance) > 1e-12 else 0.0
    return distance / math.sqrt(variance * (total / (total - 1) if corrected else 1.0))


def _root(function: Callable[[float], float]) -> float:
    def bounded(log_ratio: float) -> float:
        return max(min(function(log_ratio), 1e6), -1e6)

    return float(optimize.brentq(bounded, -WIDEST_LOG_RATIO, WIDEST_LOG_RATIO, xtol=1e-13))


def _wilson(hits: int, n: int, level: float) -> tuple[float, float]:
    interval = stats.binomtest(hits, n).proportion_ci(level, method="wilson")
    return max(float(interval.low), 0.0), min(float(interval.high), 1.0)


def _missing_side(hits: int, n: int, other_hits: int, other_n: int, unit: str, method: str) -> Estimate | None:
    _check(hits, n)
    _check(other_hits, other_n)
    if n and other_n:
        return None
    which = "neither group" if not n and not other_n else "the first group" if not n else "the second group"
    verb = "has anything" if which == "neither group" else "has nothing"
    return Estimate.missing(unit, f"{which} {verb} in it", n=n + other_n, method=method)


def _check(hits: int, n: int) -> None:
    if not 0 <= hits <= n:
        raise ValueError(f"hits must lie between 0 and n; got {hits} of {n}")
