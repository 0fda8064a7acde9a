"""Whole matrices of numbers as JSON lists: one text a row, made by the column and not by the number."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Integers = NDArray[np.int64]
SMALL_RANGE = 4096  # distinct values for which a table of texts is made
FEW_CHANGES = 0.3  # share of numbers that differ from the one before, up to which only those are written out


def row_texts(values: Integers, decimals: int = 0) -> list[bytes]:
    """Each row's numbers with commas between them, as JSON writes a list without its brackets.

    Parameters
    ----------
    values
        Rows by numbers, in units of the last decimal.
    decimals
        How many decimals they have; a point and zeros that say nothing are left out.

    Examples
    --------
    >>> row_texts(np.array([[0, 1500, 1501], [7, 7, 7]]), decimals=3)
    [b'0,1.5,1.501', b'0.007,0.007,0.007']
    """
    if values.size == 0:
        return [b""] * len(values)
    ends = pa.array(np.arange(0, values.size + 1, values.shape[1], dtype=np.int32))
    rows = pa.ListArray.from_arrays(ends, _texts(np.ascontiguousarray(values).ravel(), decimals))
    return [text.as_buffer().to_pybytes() for text in pc.binary_join(rows, ",")]


def _texts(values: Integers, decimals: int) -> pa.Array:
    low, high = int(values.min()), int(values.max())
    if high - low < SMALL_RANGE:
        table = _cast(np.arange(low, high + 1), decimals)
        return table.take(pa.array(values - low))
    is_new = np.empty(values.size, bool)
    is_new[0] = True
    np.not_equal(values[1:], values[:-1], out=is_new[1:])
    if np.count_nonzero(is_new) > FEW_CHANGES * values.size:
        return _cast(values, decimals)
    return _cast(values[is_new], decimals).take(pa.array(np.cumsum(is_new) - 1))


def _cast(values: Integers, decimals: int) -> pa.Array:
    """Integers as they are; decimals as the shortest text that reads back as the same double."""
    if decimals == 0:
        return pa.array(values).cast(pa.string())
    texts = pa.array(values / 10**decimals).cast(pa.string())
    return pc.replace_substring_regex(texts, r"\.0$", "")
