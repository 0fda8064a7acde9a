"""Medians of many rows at once, and how far each column lies from them: nodes or GPUs among their peers, by step.

Sorting single precision is several times faster than double (numpy sorts it by vector instructions, twice as many
numbers at a time), and rounding keeps the order: the sorted keys say which numbers stand in the middle, and these are
then taken as they are, so that the result is exact.
"""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Keys = NDArray[np.float32]
MAD_SCALE = 1.4826
BLOCK_VALUES = 1 << 18  # at a time, so that a processor's cache holds them


def row_medians(values: Numbers) -> Numbers:
    """Median of each row of a matrix, NaN left out; NaN where a row holds nothing else.

    Examples
    --------
    >>> row_medians(np.array([[3.0, 1.0, 2.0], [4.0, np.nan, 1.0], [np.nan] * 3])).tolist()
    [2.0, 2.5, nan]
    """
    rows = max(1, BLOCK_VALUES // max(1, values.shape[1]))
    blocks = [np.ascontiguousarray(values[first : first + rows]) for first in range(0, len(values), rows)]
    return np.concatenate([_of_block(block) for block in blocks]) if blocks else np.empty(0)


def peer_scores(values: Numbers) -> Numbers:
    """How far each column lies from its row's median, in 1.4826 x MAD (the standard deviation, were all normal).

    NaN where a row's median absolute deviation is 0: then more than half of the peers are alike.

    Examples
    --------
    >>> peer_scores(np.array([[1.0, 2.0, 3.0, 10.0, 2.0]])).round(3).tolist()
    [[-0.674, 0.0, 0.674, 5.396, 0.0]]
    """
    distance = np.array(values, order="C")
    distance -= row_medians(distance)[:, None]
    deviation = row_medians(np.abs(distance))
    distance /= np.where(deviation > 0, MAD_SCALE * deviation, np.nan)[:, None]
    return distance


def _of_block(values: Numbers) -> Numbers:
    if values.shape[1] == 0:
        return np.full(len(values), np.nan)
    with np.errstate(over="ignore"):  # becomes an infinity, which keeps the order too
        keys = values.astype(np.float32)
    ordered = np.sort(keys, axis=1)
    if np.isnan(ordered[:, -1]).any():  # sorting puts NaN last
        return _by_sorting(values)
    low, high = ordered[:, (values.shape[1] - 1) // 2], ordered[:, values.shape[1] // 2]
    if all((keys[rows] == values[rows]).all() for rows in (slice(1), slice(None))):  # whole numbers, say
        return (low.astype(np.float64) + high.astype(np.float64)) / 2
    return _of_middle(values, keys, low, high)


def _of_middle(
    values: Numbers, keys: NDArray[np.float32], low: NDArray[np.float32], high: NDArray[np.float32]
) -> Numbers:
    """From the numbers whose keys stand in the middle; rows where these are one key of several numbers are sorted."""
    places = np.flatnonzero((keys >= low[:, None]) & (keys <= high[:, None]))
    rows, near, key = places // values.shape[1], values.ravel()[places], keys.ravel()[places]
    starts = np.searchsorted(rows, np.arange(len(values)))
    lower = np.maximum.reduceat(np.where(key == low[rows], near, -np.inf), starts)
    upper = np.minimum.reduceat(np.where(key == high[rows], near, np.inf), starts)
    is_open = (low == high) & (lower != upper)
    with np.errstate(invalid="ignore"):  # of two infinities
        middle = (lower + upper) / 2
    if is_open.any():
        middle[is_open] = _by_sorting(values[is_open])
    return middle


def _by_sorting(values: Numbers) -> Numbers:
    """Of the numbers of each row; sorting puts NaN last."""
    ordered, count = np.sort(values, axis=1), (~np.isnan(values)).sum(axis=1)
    rows = np.arange(len(values))
    with np.errstate(invalid="ignore"):
        return np.asarray((ordered[rows, np.maximum(count - 1, 0) // 2] + ordered[rows, count // 2]) / 2)
