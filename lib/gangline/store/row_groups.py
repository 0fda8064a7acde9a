"""Rows of a part back from disk, as they were written."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from gangline.store.parts import SeriesDay
from gangline.store.timelines import DayTimes

_INT64 = np.dtype(np.int64)
_COLUMNS = ["series_id", "timeline_id", "times_ms", "values"]


def rows_of(path: Path, day: int, row_groups: range) -> Iterator[SeriesDay]:
    """The rows of one day, a row group in memory at a time; rows share their timestamps as they did when written."""
    timelines: dict[int, DayTimes] = {}
    with pq.ParquetFile(path, memory_map=True) as part:
        for row_group in row_groups:
            table = part.read_row_group(row_group, columns=_COLUMNS, use_threads=False)  # one column is nearly all
            yield from _rows(table, day, timelines)


def series_of(path: Path, row_groups: range) -> NDArray[np.int64]:
    """The series that row groups hold, without reading their samples."""
    with pq.ParquetFile(path) as part:
        tables = [part.read_row_group(group, columns=["series_id"]) for group in row_groups]
    ids = [_numbers(_whole(table.column(0)), _INT64) for table in tables]
    return np.concatenate(ids) if ids else np.empty(0, np.int64)


def _rows(table: pa.Table, day: int, timelines: dict[int, DayTimes]) -> Iterator[SeriesDay]:
    columns = {name: _whole(table.column(name)) for name in _COLUMNS}
    series_ids, timeline_ids = (_numbers(columns[name], _INT64).tolist() for name in ("series_id", "timeline_id"))
    for timeline_id, times_ms in zip(timeline_ids, _slices(columns["times_ms"], _INT64), strict=True):
        if times_ms.size:
            timelines[timeline_id] = DayTimes(day, 0, times_ms.size, times_ms)
    values = _slices(columns["values"], np.dtype(np.float64))
    for series_id, timeline_id, numbers in zip(series_ids, timeline_ids, values, strict=True):
        yield SeriesDay(series_id, timelines[timeline_id], numbers)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """One array; a single chunk as it is, which `combine_chunks` would copy."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _slices(lists: pa.ListArray, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """Each list as a view of the column's numbers; a null one is empty."""
    flat, offsets = _numbers(lists.values, dtype), _numbers(lists.offsets, np.dtype(np.int32)).tolist()
    for start, stop in pairwise(offsets):
        yield flat[start:stop]


def _numbers(array: pa.Array, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A view of numbers without null; `to_numpy` imports pandas where it is installed, which takes a long time."""
    buffer = array.buffers()[1]
    return np.frombuffer(buffer, dtype, len(array), array.offset * dtype.itemsize) if len(array) else np.empty(0, dtype)
