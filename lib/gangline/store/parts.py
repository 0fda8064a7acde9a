"""A part: one immutable Parquet file of one metric, a row group (or a few) per day, a row per series."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from errno import EIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from gangline.sources.samples import TimesMs, Values
from gangline.store.layout import ROW_GROUP_SAMPLES, SCHEMA, metric_folder, part_path, writer_options
from gangline.store.timelines import DayStatistics, DayTimes

WRITING_PREFIX = ".writing-"
NAME_HEX_DIGITS = 32


@dataclass(frozen=True, eq=False)
class SeriesDay:
    """A row: one series' samples of one UTC day."""

    series_id: int
    times: DayTimes
    values: Values

    def statistics(self) -> DayStatistics:
        """Of its numbers: NaN and staleness markers do not count."""
        is_nan = np.isnan(self.values)
        return DayStatistics.of(self.times.times_ms[~is_nan]) if is_nan.any() else self.times.statistics


@dataclass(frozen=True)
class PartDay:
    """What the ledger keeps of one day in one part."""

    file_name: str
    metric: str
    day: int
    row_group: int
    row_group_count: int
    series_count: int
    sample_count: int


@dataclass
class PartWriter:
    """Writes a part under a name of its own, and gives it the name of its content when it is whole."""

    telemetry: Path
    metric: str
    days: list[PartDay] = field(default_factory=list)
    _writer: pq.ParquetWriter | None = None
    _path: Path | None = None
    _row_groups: int = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._path is not None:  # still under its first name: it did not come to `finish`
            if self._writer is not None:
                self._close_quietly()
            self._path.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # pyarrow does not say which file
            reason = os.strerror(error.errno) if error.errno else str(error)
            folder = self.telemetry / metric_folder(self.metric)
            raise OSError(error.errno or EIO, f"{reason}; the warehouse is as it was", str(folder)) from error

    def add_day(self, day: int, rows: list[SeriesDay]) -> None:
        """Writes the rows of one day; those of one call share their timestamps where they are equal."""
        rows = sorted(rows, key=lambda row: row.series_id)
        first = self._row_groups
        for group in _row_groups(rows):
            self._open(group).write_table(_table(day, self._row_groups, group), row_group_size=len(group))
            self._row_groups += 1
        samples = sum(row.values.size for row in rows)
        self.days.append(PartDay("", self.metric, day, first, self._row_groups - first, len(rows), samples))

    def finish(self) -> list[PartDay]:
        """Closes the part and names it; the days it holds."""
        if self._writer is None or self._path is None:
            return []
        self._writer.close()
        with self._path.open("rb") as written:
            name = hashlib.file_digest(written, "sha256").hexdigest()[:NAME_HEX_DIGITS] + ".parquet"
            os.fsync(written.fileno())
        self._path.replace(part_path(self.telemetry, self.metric, name))
        self._path = None
        return [PartDay(name, *_rest(day)) for day in self.days]

    def _open(self, rows: list[SeriesDay]) -> pq.ParquetWriter:
        if self._writer is None:
            path = part_path(self.telemetry, self.metric, f"{WRITING_PREFIX}{os.getpid()}-{id(self)}")
            path.parent.mkdir(parents=True, exist_ok=True)
            self._path = path
            self._writer = pq.ParquetWriter(path, SCHEMA, **writer_options(_some_values(rows)))
        return self._writer

    def _close_quietly(self) -> None:
        """The file is thrown away; what stopped the writing is already on its way up."""
        assert self._writer is not None
        try:
            self._writer.close()
        except OSError:
            self._writer = None


def _some_values(rows: list[SeriesDay]) -> Values:
    """A few thousand values of rows all over the group."""
    return np.concatenate([row.values[:4_096] for row in rows[:: max(1, len(rows) // 16)]])


def _rest(day: PartDay) -> tuple[str, int, int, int, int, int]:
    return day.metric, day.day, day.row_group, day.row_group_count, day.series_count, day.sample_count


def _row_groups(rows: list[SeriesDay]) -> Iterator[list[SeriesDay]]:
    group: list[SeriesDay] = []
    samples = 0
    for row in rows:
        if group and samples + row.values.size > ROW_GROUP_SAMPLES:
            yield group
            group, samples = [], 0
        group.append(row)
        samples += row.values.size
    if group:
        yield group


def _table(day: int, row_group: int, rows: list[SeriesDay]) -> pa.Table:
    statistics = [row.statistics() for row in rows]
    numbers: dict[str, list[int | None]] = {
        "series_id": [row.series_id for row in rows],
        "day": [day] * len(rows),
        "row_group": [row_group] * len(rows),
        "timeline_id": [row.times.timeline_id for row in rows],
    }
    for name in ("sample_count", "first_ms", "last_ms", "step_ms", "gap_count", "longest_gap_ms"):
        numbers[name] = [getattr(each, name) for each in statistics]
    columns = {name: _plain(values, SCHEMA.field(name).type) for name, values in numbers.items()}
    columns["times_ms"] = _lists(_times_once(rows), SCHEMA.field("times_ms").type)
    columns["values"] = _lists([row.values for row in rows], SCHEMA.field("values").type)
    return pa.Table.from_arrays([columns[field.name] for field in SCHEMA], schema=SCHEMA)


def _plain(values: list[int | None], kind: pa.DataType) -> pa.Array:
    """From buffers: `pa.array` imports pandas where it is installed, which takes longer than a day's packing."""
    numbers = np.array([value or 0 for value in values], f"i{kind.bit_width // 8}")
    return pa.Array.from_buffers(kind, len(values), [_validity(values), pa.py_buffer(numbers)])


def _validity(values: Sequence[object]) -> pa.Buffer | None:
    """A bit for each value; null where none is missing."""
    is_present = [value is not None for value in values]
    return None if all(is_present) else pa.py_buffer(np.packbits(is_present, bitorder="little"))


def _times_once(rows: list[SeriesDay]) -> Iterator[TimesMs | None]:
    """Timestamps in the first row that has them; null in the rows that share them."""
    seen: set[int] = set()
    for row in rows:
        yield None if row.times.timeline_id in seen else row.times.times_ms
        seen.add(row.times.timeline_id)


def _lists(arrays: Iterable[NDArray[Any] | None], list_type: pa.ListType) -> pa.ListArray:
    """Lists over one array of numbers; null where there is no array."""
    kept = list(arrays)
    sizes = [0 if array is None else array.size for array in kept]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    present = [array for array in kept if array is not None]
    flat = np.concatenate(present) if present else np.empty(0, np.float64)
    numbers = pa.Array.from_buffers(list_type.value_type, flat.size, [None, pa.py_buffer(flat)])
    return pa.ListArray.from_buffers(list_type, len(kept), [_validity(kept), pa.py_buffer(offsets)], children=[numbers])
