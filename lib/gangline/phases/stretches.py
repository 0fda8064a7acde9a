"""Stretches of steps: of a rate above thresholds with hysteresis, merged where close, and runs of one value."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]
Values = NDArray[np.float64]
Stretch = tuple[int, int]
"""Steps [first, stop)."""

ROUNDING = 1e-9  # of a threshold: shares of a delta that is split over steps add up to it but for this


def risen(rates: Values, is_known: Flags, start: float, end: float) -> list[Stretch]:
    """From each known step above `start` to the next known step below `end`, both strictly, or the last step.

    A step that is not known neither opens nor ends a stretch.

    Examples
    --------
    >>> rates = np.array([0, 0, 25, 18, 22, 0, 0, 0, 30, 0, 19, 21, 12, 25, 0.0])
    >>> risen(rates, np.ones(15, bool), 20, 10)
    [(2, 5), (8, 9), (11, 14)]
    """
    opens = is_known & (rates > start * (1 + ROUNDING))
    ends = is_known & (rates < end * (1 - ROUNDING))
    told = np.where(opens | ends, np.arange(rates.size), -1)
    latest = np.maximum.accumulate(told) if told.size else told
    is_in = (latest >= 0) & opens[latest]
    return [(first, stop) for first, stop, value in runs(is_in) if value]


def merged(stretches: Iterable[Stretch], steps: float) -> list[Stretch]:
    """Stretches in order, those at most so many steps apart made one.

    >>> merged([(2, 5), (8, 9), (11, 14)], 2)
    [(2, 5), (8, 14)]
    """
    joined: list[Stretch] = []
    for first, stop in stretches:
        if joined and first - joined[-1][1] <= steps + ROUNDING:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((first, stop))
    return joined


def runs(values: NDArray[Any]) -> Iterator[tuple[int, int, Any]]:
    """Runs of equal values: first step, the step after the last, the value.

    >>> list(runs(np.array([7, 7, 3])))
    [(0, 2, 7), (2, 3, 3)]
    """
    if not values.size:
        return
    edges = (np.flatnonzero(values[1:] != values[:-1]) + 1).tolist()
    yield from zip([0, *edges], [*edges, values.size], values[[0, *edges]].tolist(), strict=True)
