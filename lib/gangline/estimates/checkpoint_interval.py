"""How often to save: the interval that loses least to saves and failures together, and what another one costs.

In the plain functions all times are in one unit, whatever it is: `stall` is how long a save holds training up,
`mtbf` the training time per failure.
"""

import math
from dataclasses import replace

from gangline.estimates.estimate import Estimate
from gangline.units import SECONDS_PER_HOUR, SECONDS_PER_MINUTE

YOUNG = "Young's optimum"
NO_STALL = "saves hold training up by less than can be seen, so that no interval is too short"


def young(stall: float, mtbf: float) -> float:
    """Interval between saves that loses least, to first order: sqrt(2 stall mtbf).

    Raises
    ------
    ValueError
        If the stall is negative, or the mean time between failures not above 0.

    References
    ----------
    Young 1974, Communications of the ACM 17:530.

    Examples
    --------
    >>> round(young(30, 56.2 * 3600) / 60, 2)
    58.07
    """
    _check(stall, mtbf)
    return math.sqrt(2 * stall * mtbf)


def daly(stall: float, mtbf: float) -> float:
    """Interval between saves that loses least, to higher order; mtbf itself where a save takes twice that.

    It differs from `young` where saves take a good part of the time between failures.

    References
    ----------
    Daly 2006, Future Generation Computer Systems 22:303, equation 37.

    Examples
    --------
    >>> [round(daly(5, mtbf_min), 2) for mtbf_min in (24 * 60, 6 * 60, 15)]
    [116.69, 56.71, 9.14]
    """
    _check(stall, mtbf)
    if stall >= 2 * mtbf:
        return mtbf
    share = stall / (2 * mtbf)
    return math.sqrt(2 * stall * mtbf) * (1 + math.sqrt(share) / 3 + share / 9) - stall


def overhead(interval: float, stall: float, mtbf: float) -> float:
    """Share of training time that goes to saves and to work lost at failures: stall / interval + interval / (2 mtbf).

    Examples
    --------
    >>> round(overhead(81.5 * 60, 30, 56.2 * 3600), 5)
    0.01822
    """
    _check(stall, mtbf)
    if interval <= 0:
        raise ValueError(f"an interval must be above 0; got {interval:g}")
    return stall / interval + interval / (2 * mtbf)


def availability(mtbf: float, downtime: float) -> float:
    """Share of time in which training is up where it runs for mtbf and is then down for downtime.

    >>> round(availability(56.2, 3.3), 4), round(availability(56.2, 1.9), 4)
    (0.9445, 0.9673)
    """
    _check(downtime, mtbf)
    return mtbf / (mtbf + downtime)


def optimum(stall: Estimate, mtbf: Estimate) -> Estimate:
    """Young's optimum in minutes from a stall in seconds and an mtbf in hours, its interval that of the mtbf.

    n is that of the mtbf. Without a failure there is no optimum, but the mtbf's lower bound gives one of its own.

    >>> print(optimum(Estimate(30.0, "s", 406), Estimate(56.2, "h", 23, 37.46, 88.66, 0.95)))
    58.1 min (n = 23; 47.4 to 72.9)
    """
    method = f"{YOUNG}; interval from that of the mean time between failures"
    if stall.value is None:
        return Estimate.missing("min", str(stall.reason), n=mtbf.n, method=method)
    if not stall.value:
        return Estimate.missing("min", NO_STALL, n=mtbf.n, method=method)
    value, low, high = (_optimum_min(stall.value, mtbf_h) for mtbf_h in (mtbf.value, mtbf.low, mtbf.high))
    if value is None:
        return Estimate.missing("min", str(mtbf.reason), n=mtbf.n, low=low, level=mtbf.level, method=method)
    return Estimate(value, "min", mtbf.n, low, high, mtbf.level, method)


def overhead_at(interval: Estimate, stall: Estimate, mtbf: Estimate) -> Estimate:
    """Overhead of an interval (h or min) as a ratio, its own interval that of the mtbf.

    >>> interval, stall = Estimate(81.5, "min", 92), Estimate(30.0, "s", 406)
    >>> print(overhead_at(interval, stall, Estimate(56.2, "h", 23, 37.46, 88.66, 0.95)))
    1.8 % (n = 23; 1.4 to 2.4)
    """
    method = "stall / interval + interval / (2 x mean time between failures)"
    for part in (interval, stall, mtbf):
        if part.value is None:
            return Estimate.missing("ratio", str(part.reason), n=mtbf.n, method=method)
    interval_s = _in_seconds(interval)
    # The longer the time between failures, the smaller the overhead: the bounds change sides.
    value, high, low = (_overhead(interval_s, stall.value, mtbf_h) for mtbf_h in (mtbf.value, mtbf.low, mtbf.high))
    return Estimate(value, "ratio", mtbf.n, low, high, mtbf.level, method)


def over_optimum(interval: Estimate, best: Estimate) -> Estimate:
    """An interval (h or min) over the optimum (min), in times, its own interval that of the optimum.

    >>> print(over_optimum(Estimate(81.5, "min", 92), Estimate(58.07, "min", 23, 47.4, 72.9, 0.95)))
    1.40 times (n = 23; 1.12 to 1.72)
    """
    method = "median interval over Young's optimum"
    for part in (interval, best):
        if part.value is None:
            return Estimate.missing("times", str(part.reason), n=best.n, method=method)
    length_min = _in_seconds(interval) / SECONDS_PER_MINUTE
    value, high, low = (None if edge is None else length_min / edge for edge in (best.value, best.low, best.high))
    return Estimate(value, "times", best.n, low, high, best.level, method)


def optimum_overhead(best: Estimate, stall: Estimate, mtbf: Estimate) -> Estimate:
    """Overhead at the optimum itself; where the mtbf is another, so is the optimum: sqrt(2 stall / mtbf).

    >>> stall, mtbf = Estimate(30.0, "s", 406), Estimate(56.2, "h", 23, 37.46, 88.66, 0.95)
    >>> print(optimum_overhead(optimum(stall, mtbf), stall, mtbf))
    1.7 % (n = 23; 1.4 to 2.1)
    """
    found = replace(overhead_at(best, stall, mtbf), method="overhead at Young's optimum")
    if found.value is None or stall.value is None:
        return replace(found, reason=best.reason or found.reason)
    high, low = (_least_overhead(stall.value, mtbf_h) for mtbf_h in (mtbf.low, mtbf.high))
    return replace(found, low=low, high=high)


def _optimum_min(stall_s: float, mtbf_h: float | None) -> float | None:
    return None if mtbf_h is None else young(stall_s, mtbf_h * SECONDS_PER_HOUR) / SECONDS_PER_MINUTE


def _overhead(interval_s: float, stall_s: float | None, mtbf_h: float | None) -> float | None:
    if stall_s is None or mtbf_h is None:
        return None
    return overhead(interval_s, stall_s, mtbf_h * SECONDS_PER_HOUR)


def _least_overhead(stall_s: float, mtbf_h: float | None) -> float | None:
    return None if mtbf_h is None else math.sqrt(2 * stall_s / (mtbf_h * SECONDS_PER_HOUR))


def _in_seconds(interval: Estimate) -> float:
    if interval.unit not in ("h", "min") or interval.value is None:
        raise ValueError(f"an interval in h or min is needed; got {interval.unit}")
    return interval.value * (SECONDS_PER_HOUR if interval.unit == "h" else SECONDS_PER_MINUTE)


def _check(stall: float, mtbf: float) -> None:
    if stall < 0 or not mtbf > 0:
        raise ValueError(f"a stall of at least 0 and an mtbf above 0 are needed; got {stall:g} and {mtbf:g}")
