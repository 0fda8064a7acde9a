"""Weibull law of the gaps between a unit's events: do failures bunch (shape below 1) or wear out (above)?"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from gangline.estimates.estimate import USUAL_LEVEL, Estimate
from gangline.estimates.wording import counted

Floats = NDArray[np.float64]

LOG_SHAPE_BOUNDS = (math.log(1e-3), math.log(1e3))
"""Where shapes and their bounds are searched; one outside has no bound."""

SHAPE_SPREAD = math.sqrt(6) / math.pi
"""Standard error of log shape times the root of the number of gaps (complete samples; Lawless 2003, section 5.1)."""


@dataclass(frozen=True, eq=False, slots=True)
class Gaps:
    """Gaps between events of the same unit, pooled: `durations` in the unit of the input, False where censored.

    `merged` events fell on the very instant of another one of their unit and were joined with it.
    """

    durations: Floats
    is_ended: NDArray[np.bool_]
    merged: int


@dataclass(frozen=True, slots=True)
class WeibullFit:
    """Maximum likelihood fit: `shape` with its profile-likelihood interval, `scale` in the unit of the gaps, `power`.

    `power` says in words what so few gaps could have shown.
    """

    shape: Estimate
    scale: Estimate
    power: str


def event_gaps(starts: Mapping[str, Sequence[float]], observed_until: float | Mapping[str, float]) -> Gaps:
    """Gaps from each event to the unit's next, the last censored at the end of observation; equal starts are one.

    Parameters
    ----------
    starts : mapping of unit to times
        Start times as numbers (hours since any origin); the order does not matter.
    observed_until : float or mapping of unit to time
        When the watch ended.

    Raises
    ------
    ValueError
        If an event starts after the watch ended.

    Examples
    --------
    >>> gaps = event_gaps({"n1": [5, 2, 2], "n2": [4]}, 10)
    >>> gaps.durations, gaps.is_ended, gaps.merged
    (array([3., 5., 6.]), array([ True, False, False]), 1)
    """
    durations, flags, merged = [np.empty(0)], [np.empty(0, dtype=np.bool_)], 0
    for unit in sorted(starts):
        until = observed_until[unit] if isinstance(observed_until, Mapping) else observed_until
        times = np.unique(np.asarray(starts[unit], dtype=np.float64))
        merged += len(starts[unit]) - times.size
        if times.size and times[-1] > until:
            raise ValueError(f"{unit} has an event at {times[-1]:g}, after the end of observation at {until:g}")
        durations.append(np.diff(np.append(times, until)) if times.size else times)
        flags.append(np.arange(times.size) < times.size - 1)
    lengths, is_ended = np.concatenate(durations), np.concatenate(flags)
    kept = lengths > 0
    return Gaps(lengths[kept], is_ended[kept], merged)


def weibull(
    durations: Sequence[float] | Floats,
    is_ended: Sequence[bool] | NDArray[np.bool_],
    unit: str,
    level: float = USUAL_LEVEL,
) -> WeibullFit:
    """Fit one Weibull law to gaps, some of them right-censored.

    Gaps of units that fail at different rates pool to a shape below 1 even where each unit is memoryless, so a low
    shape means bunching or unlike units, not bunching alone.

    Parameters
    ----------
    durations, is_ended : arrays
        Gaps above 0 (see `event_gaps`) and False where censored. `n` of the estimates counts the ended ones.
    unit : str
        Unit of the scale.

    Raises
    ------
    ValueError
        If a gap is not above 0 or the lengths differ.

    References
    ----------
    Lawless 2003, Statistical Models and Methods for Lifetime Data, section 5.2; checked against the 6-MP data of
    Freireich et al. 1963 (shape 1.354, scale 33.77).

    Examples
    --------
    >>> round(weibull([1, 2, 3, 5], [True, True, True, False], "h").shape.value, 3)
    1.49
    """
    times, ended = _checked(durations, is_ended)
    n, method = int(ended.sum()), f"Weibull, profile likelihood; {counted(int((~ended).sum()), 'gaps')} still open"
    if np.unique(times).size < 2 or n < 2:
        reason = "a Weibull fit needs at least two ended gaps that differ"
        gone = Estimate.missing("shape", reason, n=n, method=method), Estimate.missing(unit, reason, n=n, method=method)
        return WeibullFit(*gone, power_statement(n))
    profile = _profile(np.log(times), ended)
    peak = _peak(profile)
    drop = float(stats.chi2.isf(1 - level, 1)) / 2
    low, high = (_drop(profile, peak, edge, drop) for edge in LOG_SHAPE_BOUNDS)
    shape = Estimate(math.exp(peak), "shape", n, low, high, level, method)
    scale = Estimate(_scale(np.log(times), n, math.exp(peak)), unit, n, method=method)
    return WeibullFit(shape, scale, power_statement(n))


def detectable_shapes(n: int, level: float = USUAL_LEVEL, power: float = 0.8) -> tuple[float, float] | None:
    """Shapes nearest to 1 that n ended gaps would tell from 1 with the power (normal law of log shape); None for none.

    >>> [round(shape, 2) for shape in detectable_shapes(23)]
    [0.63, 1.58]
    """
    if n < 1:
        return None
    reach = float(stats.norm.isf((1 - level) / 2) + stats.norm.isf(1 - power)) * SHAPE_SPREAD / math.sqrt(n)
    return math.exp(-reach), math.exp(reach)


def power_statement(n: int) -> str:
    """Say which shapes n ended gaps could tell from a memoryless 1.

    >>> power_statement(23)
    'With 23 ended gaps, a shape between 0.63 and 1.58 is told from 1 less than four times in five.'
    """
    shapes = detectable_shapes(n)
    if shapes is None:
        return "Without an ended gap nothing can be said about the shape."
    low, high = shapes
    gaps = counted(n, "ended gaps")
    return f"With {gaps}, a shape between {low:.2f} and {high:.2f} is told from 1 less than four times in five."


def _checked(
    durations: Sequence[float] | Floats, is_ended: Sequence[bool] | NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.bool_]]:
    times, ended = np.asarray(durations, dtype=np.float64), np.asarray(is_ended, dtype=np.bool_)
    if times.shape != ended.shape:
        raise ValueError(f"there are {times.size} gaps but {ended.size} flags")
    if times.size and not (times.min() > 0 and math.isfinite(times.max())):
        raise ValueError("gaps must be finite and above 0: merge events of one instant first")
    return times, ended


def _profile(logs: Floats, ended: NDArray[np.bool_]) -> Callable[[float], float]:
    """Log-likelihood of log shape, the scale at its best (up to a constant)."""
    n, total, top = int(ended.sum()), float(logs[ended].sum()), float(logs.max())

    def profile(log_shape: float) -> float:
        shape = math.exp(log_shape)
        spread = shape * top + math.log(float(np.exp(shape * (logs - top)).sum()))
        return n * log_shape - n * spread + shape * total

    return profile


def _scale(logs: Floats, n: int, shape: float) -> float:
    top = float(logs.max())
    return math.exp(top + math.log(float(np.exp(shape * (logs - top)).sum()) / n) / shape)


def _peak(profile: Callable[[float], float]) -> float:
    found = optimize.minimize_scalar(
        lambda log_shape: -profile(log_shape), bounds=LOG_SHAPE_BOUNDS, method="bounded", options={"xatol": 1e-10}
    )
    return float(found.x)


def _drop(profile: Callable[[float], float], peak: float, edge: float, drop: float) -> float | None:
    target = profile(peak) - drop
    if profile(edge) > target:
        return None
    return math.exp(float(optimize.brentq(lambda log_shape: profile(log_shape) - target, *sorted((peak, edge)))))
