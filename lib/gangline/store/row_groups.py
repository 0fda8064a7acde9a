"""Rows of a part back from disk, as they were written."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from gangline.sources.samples import Values
from gangline.store.parts import SeriesDay
from gangline.store.timelines import DayTimes

_INT64 = np.dtype(np.int64)
_COLUMNS = ["series_id", "timeline_id", "times_ms", "values"]
_BATCH_ROWS = 64  # a day of them fits a processor's cache


@dataclass(frozen=True, eq=False)
class RowBatch:
    """Some series of one UTC day.

    Attributes
    ----------
    series_ids, times
        Of each row; rows that share their timestamps share the object.
    values, offsets
        All values one row after another: row k has those in [offsets[k], offsets[k + 1]).
    """

    series_ids: list[int]
    times: list[DayTimes]
    values: Values
    offsets: list[int]

    def rows(self) -> Iterator[SeriesDay]:
        """Row by row; values are views."""
        for series_id, times, (start, stop) in zip(self.series_ids, self.times, pairwise(self.offsets), strict=True):
            yield SeriesDay(series_id, times, self.values[start:stop])

    def table(self) -> Values | None:
        """`table[row, sample]`, a view; null where not all rows have as many samples."""
        sizes = set(np.diff(self.offsets).tolist())
        if len(sizes) != 1:
            return None
        return self.values[self.offsets[0] : self.offsets[-1]].reshape(len(self.series_ids), sizes.pop())


def batches_of(path: Path, day: int, row_groups: range) -> Iterator[RowBatch]:
    """The rows of one day, some in memory at a time; they share their timestamps as they did when written."""
    timelines: dict[int, DayTimes] = {}
    with pq.ParquetFile(path, memory_map=True) as part:
        for batch in part.iter_batches(_BATCH_ROWS, row_groups, columns=_COLUMNS, use_threads=False):
            yield _batch(batch, day, timelines)


def rows_of(path: Path, day: int, row_groups: range) -> Iterator[SeriesDay]:
    """The rows of `batches_of`."""
    for batch in batches_of(path, day, row_groups):
        yield from batch.rows()


def series_of(path: Path, row_groups: range) -> NDArray[np.int64]:
    """The series that row groups hold, without reading their samples."""
    with pq.ParquetFile(path) as part:
        batches = part.iter_batches(row_groups=row_groups, columns=["series_id"])
        ids = [_numbers(batch.column(0), _INT64) for batch in batches]
    return np.concatenate(ids) if ids else np.empty(0, np.int64)


def _batch(batch: pa.RecordBatch, day: int, timelines: dict[int, DayTimes]) -> RowBatch:
    series_ids, timeline_ids = (_numbers(batch.column(name), _INT64).tolist() for name in ("series_id", "timeline_id"))
    times, values = batch.column("times_ms"), batch.column("values")
    times_ms, bounds = _numbers(times.values, _INT64), _offsets(times)
    for row in np.flatnonzero(np.diff(bounds)).tolist():  # of the others an earlier row has them
        start, stop = bounds[row], bounds[row + 1]
        timelines[timeline_ids[row]] = DayTimes(day, 0, stop - start, times_ms[start:stop])
    shared = [timelines[timeline_id] for timeline_id in timeline_ids]
    return RowBatch(series_ids, shared, _numbers(values.values, np.dtype(np.float64)), _offsets(values))


def _offsets(lists: pa.ListArray) -> list[int]:
    offsets: list[int] = _numbers(lists.offsets, np.dtype(np.int32)).tolist()
    return offsets


def _numbers(array: pa.Array, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A view of numbers without null; `to_numpy` imports pandas where it is installed, which takes a long time."""
    buffer = array.buffers()[1]
    return np.frombuffer(buffer, dtype, len(array), array.offset * dtype.itemsize) if len(array) else np.empty(0, dtype)
