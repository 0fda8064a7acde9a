"""Medians of many rows at once, and how far each column lies from them: nodes or GPUs among their peers, by step.

Sorting single precision is several times faster than double (numpy sorts it by vector instructions, twice as many
numbers at a time), and rounding keeps the order: the sorted keys say which numbers stand in the middle, and these are
then taken as they are, so that the result is exact. Memory is used again from block to block: asking the system for
more costs as much as sorting.
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
    rows = min(len(values), max(1, BLOCK_VALUES // max(1, values.shape[1])))
    medians = _Medians(rows, values.shape[1])
    blocks = [np.ascontiguousarray(values[first : first + rows]) for first in range(0, len(values), rows or 1)]
    return np.concatenate([medians.of(block) for block in blocks]) if blocks else np.empty(0)


def peer_scores(values: Numbers) -> Numbers:
    """How far each column lies from its row's median, in 1.4826 x MAD (the standard deviation, were all normal).

    NaN where a row's median absolute deviation is 0: then more than half of the peers are alike.

    Examples
    --------
    >>> peer_scores(np.array([[1.0, 2.0, 3.0, 10.0, 2.0]])).round(3).tolist()
    [[-0.674, 0.0, 0.674, 5.396, 0.0]]
    """
    return PeerScores(*values.shape).of(values)


class PeerScores:
    """`peer_scores` of one block after the other, all in the same memory.

    Parameters
    ----------
    rows, columns
        Rows of the largest block, and how many columns each has.
    """

    def __init__(self, rows: int, columns: int) -> None:
        self._scores, self._deviations = np.empty((rows, columns)), np.empty((rows, columns))
        self._medians = _Medians(rows, columns)

    def of(self, values: Numbers) -> Numbers:
        """The scores of a block, which hold until the next is asked for."""
        scores, deviations = self._scores[: len(values)], self._deviations[: len(values)]
        np.copyto(scores, values)
        scores -= self._medians.of(scores)[:, None]
        np.abs(scores, out=deviations)
        deviation = self._medians.of(deviations)
        scores /= np.where(deviation > 0, MAD_SCALE * deviation, np.nan)[:, None]
        return scores


class _Medians:
    """Medians of the rows of blocks, each at most as large as the first one allows."""

    def __init__(self, rows: int, columns: int) -> None:
        self._keys, self._ordered = np.empty((rows, columns), np.float32), np.empty((rows, columns), np.float32)
        self._is_near, self._is_low = np.empty((rows, columns), bool), np.empty((rows, columns), bool)

    def of(self, values: Numbers) -> Numbers:
        rows, columns = values.shape
        if columns == 0:
            return np.full(rows, np.nan)
        keys, ordered = self._keys[:rows], self._ordered[:rows]
        with np.errstate(over="ignore"):  # becomes an infinity, which keeps the order too
            np.copyto(keys, values, casting="same_kind")
        np.copyto(ordered, keys)
        ordered.sort(axis=1)
        if np.isnan(ordered[:, -1]).any():  # sorting puts NaN last
            return _by_sorting(values)
        low, high = ordered[:, (columns - 1) // 2], ordered[:, columns // 2]
        if all(self._is_exact(values[part], keys[part]) for part in (slice(1), slice(None))):  # whole numbers, say
            return (low.astype(np.float64) + high.astype(np.float64)) / 2
        return _of_middle(values, keys, low, high, self._near(keys, low, high))

    def _is_exact(self, values: Numbers, keys: Keys) -> bool:
        return bool(np.equal(values, keys, out=self._is_near[: len(values)]).all())

    def _near(self, keys: Keys, low: Keys, high: Keys) -> NDArray[np.intp]:
        """Places, all rows counted through, of keys from the low to the high one of their row."""
        is_near, is_low = self._is_near[: len(keys)], self._is_low[: len(keys)]
        np.greater_equal(keys, low[:, None], out=is_near)
        np.less_equal(keys, high[:, None], out=is_low)
        is_near &= is_low
        return np.flatnonzero(is_near)


def _of_middle(values: Numbers, keys: Keys, low: Keys, high: Keys, places: NDArray[np.intp]) -> Numbers:
    """From the numbers whose keys stand in the middle; rows where these are one key of several numbers are sorted."""
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
