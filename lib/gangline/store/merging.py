"""Samples of one series from several places made one: in time order, each instant once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gangline.sources.samples import TimesMs, Values


@dataclass(frozen=True, eq=False)
class Merged:
    """Samples in strict time order, how many repeats fell away, and how many of those had another value."""

    times_ms: TimesMs
    values: Values
    repeats: int = 0
    conflicts: int = 0


def merge(times_ms: TimesMs, values: Values) -> Merged:
    """Sorts samples and keeps one an instant: a number before NaN, the larger of two numbers.

    The larger one, as VictoriaMetrics does: of two replicas' counters it is the one that is up to date. The result
    does not depend on the order of the input.

    Examples
    --------
    >>> merged = merge(np.array([2, 1, 2]), np.array([5.0, 1.0, 7.0]))
    >>> merged.times_ms.tolist(), merged.values.tolist(), merged.repeats, merged.conflicts
    ([1, 2], [1.0, 7.0], 1, 1)
    """
    if bool((times_ms[1:] > times_ms[:-1]).all()):
        return Merged(times_ms, values)
    order = np.argsort(times_ms, kind="stable")
    times_ms, values = times_ms[order], values[order]
    if bool((times_ms[1:] > times_ms[:-1]).all()):
        return Merged(times_ms, values)
    order = np.lexsort((~np.signbit(values), values, ~np.isnan(values), times_ms))
    times_ms, values = times_ms[order], values[order]
    is_last = np.concatenate([times_ms[1:] != times_ms[:-1], [True]])
    return Merged(times_ms[is_last], values[is_last], int((~is_last).sum()), _conflicts(values, is_last))


def _conflicts(values: Values, is_last: NDArray[np.bool_]) -> int:
    """Repeats whose value is neither NaN nor that of the sample after them."""
    before, after = values[:-1], values[1:]
    return int((~is_last[:-1] & (before != after) & ~np.isnan(before)).sum())
