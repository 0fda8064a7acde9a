"""Rows of a part back from disk, as they were written."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from gangline.store.parts import SeriesDay
from gangline.store.timelines import DayTimes

_COLUMNS = ["series_id", "timeline_id", "times_ms", "values"]


def rows_of(path: Path, day: int, row_groups: range) -> Iterator[SeriesDay]:
    """The rows of one day, a row group in memory at a time; rows share their timestamps as they did when written."""
    timelines: dict[int, DayTimes] = {}
    with pq.ParquetFile(path) as part:
        for row_group in row_groups:
            table = part.read_row_group(row_group, columns=_COLUMNS)
            yield from _rows(table, day, timelines)


def series_of(path: Path, row_groups: range) -> NDArray[np.int64]:
    """The series that row groups hold, without reading their samples."""
    with pq.ParquetFile(path) as part:
        ids = [part.read_row_group(group, columns=["series_id"]).column(0).to_numpy() for group in row_groups]
    return np.concatenate(ids) if ids else np.empty(0, np.int64)


def _rows(table: pa.Table, day: int, timelines: dict[int, DayTimes]) -> Iterator[SeriesDay]:
    series_ids, timeline_ids = (table.column(name).to_pylist() for name in ("series_id", "timeline_id"))
    times, values = (table.column(name).combine_chunks() for name in ("times_ms", "values"))
    for timeline_id, times_ms in zip(timeline_ids, _slices(times), strict=True):
        if times_ms.size:
            timelines[timeline_id] = DayTimes(day, 0, times_ms.size, times_ms.astype(np.int64, copy=False))
    for series_id, timeline_id, numbers in zip(series_ids, timeline_ids, _slices(values), strict=True):
        yield SeriesDay(series_id, timelines[timeline_id], numbers)


def _slices(lists: pa.ListArray) -> Iterator[NDArray[Any]]:
    """Each list as a view of the column's numbers; a null one is empty."""
    flat = lists.values.to_numpy(zero_copy_only=False)
    offsets = lists.offsets.to_numpy()
    for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        yield flat[start:stop]
