"""Kaplan-Meier: durations of which some were still running when the export was made."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from gangline.estimates.estimate import USUAL_LEVEL, Estimate

TOLERANCE = 1e-9
"""How near to a level the curve must lie to count as lying on it: products of fractions miss 0.5 by a rounding."""

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class SurvivalCurve:
    """Share still running, as a step curve with a row for time 0 and one per distinct duration.

    Attributes
    ----------
    times : array of float
        Durations, ascending, 0 first.
    survival, low, high : array of float
        Share running just after each time and its pointwise Greenwood band on the log-log scale.
    at_risk, ended, censored : array of int
        Running just before each time; of these, ended and left unfinished at it.
    level : float
        Coverage of the band.
    left_out : int
        Durations that were NaN or null.
    """

    times: Floats
    survival: Floats
    low: Floats
    high: Floats
    at_risk: Counts
    ended: Counts
    censored: Counts
    level: float
    left_out: int

    @property
    def n(self) -> int:
        """All durations, finished or not."""
        return int(self.at_risk[0])

    def quantile(self, share_ended: float, unit: str) -> Estimate:
        """Duration by which a share has ended; where the curve lies on that level, the middle of the stretch.

        The interval inverts the band in the same way (Brookmeyer and Crowley 1982, Biometrics 38:29); a side the
        band never reaches has no bound. Midpoint rule: Collett 2015, Modelling Survival Data, section 2.4; R `survfit`.
        """
        target = 1 - share_ended
        value, low, high = (_crossing(self.times, curve, target) for curve in (self.survival, self.low, self.high))
        method = f"Kaplan-Meier {_name(share_ended)}, log-log band; {int(self.censored.sum())} of {self.n} still open"
        method += f", {self.left_out} without a duration left out" if self.left_out else ""
        if self.n == 0:
            return Estimate.missing(unit, "there are no durations", n=0, method=method)
        if value is None:
            reason = f"too few have ended: the curve stays above {target * 100:g} %"
            return Estimate.missing(unit, reason, n=self.n, low=low, level=self.level, method=method)
        return Estimate(value, unit, self.n, low, high, self.level, method)

    def median(self, unit: str) -> Estimate:
        """Duration by which half have ended: the middle of the stretch where the curve is 0.5, else its first below."""
        return self.quantile(0.5, unit)

    def at(self, time: float) -> Estimate:
        """Share still running just after a time, with the band; before the first has ended there is no band to give."""
        if self.n == 0:
            return Estimate.missing("ratio", "there are no durations", n=0)
        row = int(np.searchsorted(self.times, time, side="right")) - 1
        value, method = float(self.survival[row]), "Kaplan-Meier, log-log band"
        if value > 1 - TOLERANCE:
            return Estimate(value, "ratio", self.n, method=method)
        return Estimate(value, "ratio", self.n, float(self.low[row]), float(self.high[row]), self.level, method)


def kaplan_meier(
    durations: ArrayLike | Sequence[Any], is_ended: ArrayLike | Sequence[Any], level: float = USUAL_LEVEL
) -> SurvivalCurve:
    """Estimate the survival curve of durations, some of them right-censored.

    Parameters
    ----------
    durations : array of float
        Time from start to end, or to the export where still running; not negative; NaN and null are left out.
    is_ended : array of bool
        False where the duration is censored. At equal times ends come before censorings.
    level : float
        Coverage of the pointwise band.

    Raises
    ------
    ValueError
        If a duration is negative or the lengths differ.

    References
    ----------
    Kaplan and Meier 1958, JASA 53:457; checked against the 6-MP data of Freireich et al. 1963, Blood 21:699.

    Examples
    --------
    >>> curve = kaplan_meier([0.5, 1, 2, 3, 4, 6], [True, True, False, True, False, True])
    >>> curve.median("h").value
    3.0
    """
    times, ended_flags, left_out = checked(durations, np.asarray(is_ended, dtype=np.bool_))
    moments, at_risk, leaving = risk_table(times)
    ended = np.bincount(np.searchsorted(moments, times[ended_flags]), minlength=moments.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        hazard_variance = np.cumsum(ended / (at_risk * (at_risk - ended)), dtype=np.float64)
    survival = np.cumprod(1 - ended / at_risk, dtype=np.float64)
    low, high = _log_log_band(survival, hazard_variance, level)
    return SurvivalCurve(
        times=after(0.0, moments),
        survival=after(1.0, survival),
        low=after(1.0, low),
        high=after(1.0, high),
        at_risk=counts_after(times.size, at_risk),
        ended=counts_after(0, ended),
        censored=counts_after(0, leaving - ended),
        level=level,
        left_out=left_out,
    )


def after(start: float, steps: Floats) -> Floats:
    """Put the value at time 0 before the steps of a curve."""
    return np.concatenate([np.array([start]), steps])


def counts_after(start: int, steps: Counts) -> Counts:
    """Put the count at time 0 before the counts of a curve."""
    return np.concatenate([np.array([start], dtype=np.int64), steps])


def checked(durations: ArrayLike | Sequence[Any], flags: ArrayLike | Sequence[Any]) -> tuple[Floats, Any, int]:
    """Durations and their flags without the unknown ones, and how many those were."""
    times, marks = np.asarray(durations, dtype=np.float64).ravel(), np.asarray(flags).ravel()
    if times.size != marks.size:
        raise ValueError(f"there are {times.size} durations but {marks.size} flags")
    if np.any(times < 0):
        raise ValueError(f"durations must not be negative; got {times.min()}")
    known = ~np.isnan(times)
    return times[known], marks[known], int((~known).sum())


def risk_table(times: Floats) -> tuple[Floats, Counts, Counts]:
    """Distinct durations, how many reach each of them, and how many of these leave at it."""
    moments, leaving = np.unique(times, return_counts=True)
    at_risk = np.cumsum(leaving[::-1])[::-1]
    return moments, at_risk.astype(np.int64), leaving.astype(np.int64)


def _log_log_band(survival: Floats, hazard_variance: Floats, level: float) -> tuple[Floats, Floats]:
    z = stats.norm.isf((1 - level) / 2)
    low, high = survival.copy(), survival.copy()
    inside = (survival > 0) & (survival < 1 - TOLERANCE)
    logs = np.log(survival[inside])
    factor = np.exp(z * np.sqrt(hazard_variance[inside]) / -logs)
    low[inside], high[inside] = np.exp(logs * factor), np.exp(logs / factor)
    # Where nobody is left the band is not defined; its upper side keeps the last value that is.
    if survival.size and survival[-1] == 0:
        high[-1] = high[-2] if survival.size > 1 else 1.0
    return low, high


def _crossing(times: Floats, curve: Floats, target: float) -> float | None:
    reached = np.flatnonzero(curve <= target + TOLERANCE)
    if reached.size == 0:
        return None
    first = int(reached[0])
    below = np.flatnonzero(curve < target - TOLERANCE)
    if abs(curve[first] - target) <= TOLERANCE and below.size:
        return float((times[first] + times[below[0]]) / 2)
    return float(times[first])


def _name(share_ended: float) -> str:
    return "median" if share_ended == 0.5 else f"{share_ended * 100:g} % quantile"
