"""Aalen-Johansen: how often each of several competing causes has come first by a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from gangline.estimates.estimate import USUAL_LEVEL, Estimate
from gangline.estimates.survival import TOLERANCE, Counts, Floats, after, checked, counts_after, risk_table


@dataclass(frozen=True, eq=False, slots=True)
class IncidenceCurve:
    """Share that one cause has ended by each time (row 0 is time 0), with a pointwise log-log band.

    Attributes
    ----------
    cause : str
        What ended them.
    times, incidence, low, high : array of float
        Step curve and its band at `level`.
    ended : array of int
        Ends of this cause at each time.
    n : int
        All durations, censored ones included.
    """

    cause: str
    times: Floats
    incidence: Floats
    low: Floats
    high: Floats
    ended: Counts
    n: int
    level: float

    def at(self, time: float) -> Estimate:
        """Share ended by this cause until a time, with the band; at none or all of them there is no band to give."""
        method = f"Aalen-Johansen, {self.cause}"
        if self.n == 0:
            return Estimate.missing("ratio", "there are no durations", n=0, method=method)
        row = int(np.searchsorted(self.times, time, side="right")) - 1
        value = float(self.incidence[row])
        if not 0 < value < 1 - TOLERANCE:
            return Estimate(value, "ratio", self.n, method=method)
        return Estimate(value, "ratio", self.n, float(self.low[row]), float(self.high[row]), self.level, method)

    def last(self) -> Estimate:
        """Share ended by this cause until the longest duration seen."""
        return self.at(float(self.times[-1]))


def cumulative_incidence(
    durations: ArrayLike | Sequence[Any],
    causes: Sequence[str | None],
    names: Sequence[str] | None = None,
    level: float = USUAL_LEVEL,
) -> dict[str, IncidenceCurve]:
    """Estimate the cumulative incidence of each cause; one minus Kaplan-Meier per cause would overstate every one.

    Parameters
    ----------
    durations : array of float
        Time to the end, or to the export; not negative; NaN and null are left out.
    causes : sequence of str or None
        What ended each, None where it is still running.
    names : sequence of str, optional
        Causes to give a curve to, in this order, seen or not; default: those seen, sorted.
    level : float
        Coverage of the band.

    Raises
    ------
    ValueError
        If a duration is negative, the lengths differ, or a cause is not among `names`.

    References
    ----------
    Aalen and Johansen 1978, Scandinavian Journal of Statistics 5:141; variance: Marubini and Valsecchi 1995,
    Analysing Survival Data from Clinical Trials, chapter 10; checked against statsmodels' CumIncidenceRight.

    Examples
    --------
    >>> curves = cumulative_incidence([1, 2, 3, 4], ["retry", None, "person", "retry"])
    >>> [round(curve.last().value, 3) for curve in curves.values()]
    [0.375, 0.625]
    """
    times, marks, _ = checked(durations, np.array(causes, dtype=object))
    seen = sorted({str(mark) for mark in marks if mark is not None})
    if unknown := set(seen) - set(seen if names is None else names):
        raise ValueError(f"causes without a name: {', '.join(sorted(unknown))}")
    moments, at_risk, _ = risk_table(times)
    is_ended = np.array([mark is not None for mark in marks], dtype=bool)
    ended = np.bincount(np.searchsorted(moments, times[is_ended]), minlength=moments.size)
    return {
        name: _curve(name, times, marks == name, moments, at_risk, ended, level)
        for name in (seen if names is None else names)
    }


def _curve(
    name: str, times: Floats, is_cause: Any, moments: Floats, at_risk: Counts, ended: Counts, level: float
) -> IncidenceCurve:
    of_cause = np.bincount(np.searchsorted(moments, times[is_cause]), minlength=moments.size)
    survival = np.cumprod(1 - ended / at_risk)
    before = np.concatenate([[1.0], survival[:-1]])[: moments.size]
    incidence = np.cumsum(before * of_cause / at_risk)
    spread = np.sqrt(_variance(incidence, before, of_cause, ended, at_risk))
    low, high = _band(incidence, spread, level)
    return IncidenceCurve(
        cause=name,
        times=after(0.0, moments),
        incidence=after(0.0, incidence),
        low=after(0.0, low),
        high=after(0.0, high),
        ended=counts_after(0, of_cause),
        n=int(times.size),
        level=level,
    )


def _variance(incidence: Floats, before: Floats, of_cause: Counts, ended: Counts, at_risk: Counts) -> Floats:
    left = at_risk - ended
    weight = np.divide(ended, at_risk * left, out=np.zeros(left.size), where=left > 0)
    slope = before * of_cause / at_risk**2
    # The sums over earlier times of (F(t) - F(s))^2 and of F(t) - F(s), multiplied out so that they stay running sums.
    squares = (
        incidence**2 * np.cumsum(weight)
        - 2 * incidence * np.cumsum(weight * incidence)
        + np.cumsum(weight * incidence**2)
    )
    own = np.cumsum(before**2 * (at_risk - of_cause) * of_cause / at_risk**3)
    crossed = incidence * np.cumsum(slope) - np.cumsum(slope * incidence)
    return np.asarray(np.maximum(squares + own - 2 * crossed, 0.0))


def _band(incidence: Floats, spread: Floats, level: float) -> tuple[Floats, Floats]:
    z = stats.norm.isf((1 - level) / 2)
    low, high = incidence.copy(), incidence.copy()
    inside = (incidence > 0) & (incidence < 1 - TOLERANCE)
    logs = np.log(incidence[inside])
    factor = np.exp(z * spread[inside] / (incidence[inside] * -logs))
    low[inside], high[inside] = np.exp(logs * factor), np.exp(logs / factor)
    return low, high
