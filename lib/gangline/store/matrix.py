"""Time-by-node matrices: every series of a metric on one grid of steps, several series of a node made one.

Columns are contiguous in memory while they are filled, a day of one metric is in memory at a time.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gangline.counters import count_by_step, deltas_of, regrid
from gangline.intervals import EPOCH
from gangline.sources.samples import DCGM_BLANK_MIN, DCGM_PREFIX, TimesMs, Values
from gangline.store.layout import DAY_MS
from gangline.store.mounts import SeenTwice
from gangline.store.parts import SeriesDay
from gangline.store.reading import MetricDays, SampleStore, SeriesSamples
from gangline.store.row_groups import RowBatch
from gangline.store.timelines import DayTimes

MARGIN_MS = 3_600_000  # at least, read on either side of a stretch for the deltas that straddle its edges
How = Literal["mean", "sum", "max"]


@dataclass(frozen=True)
class Grid:
    """Steps [start + k step, start + (k + 1) step), k from 0.

    >>> Grid.of(0, 95_000, 30_000).step_count
    4
    """

    start_ms: int
    step_ms: int
    step_count: int

    @classmethod
    def of(cls, start_ms: int, end_ms: int, step_ms: int) -> "Grid":
        """The steps that cover [start, end)."""
        return cls(start_ms, step_ms, max(0, -(-(end_ms - start_ms) // step_ms)))

    @property
    def end_ms(self) -> int:
        """End of the last step."""
        return self.start_ms + self.step_ms * self.step_count

    @property
    def times_ms(self) -> TimesMs:
        """Start of every step."""
        return self.start_ms + self.step_ms * np.arange(self.step_count, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Matrix:
    """`values[step, column]`; NaN where a column has no sample in a step. `columns` are in order of name."""

    grid: Grid
    columns: tuple[str, ...]
    values: NDArray[np.float64]


class _Column:
    """One series a column: its own values by step, nothing to combine. Days come in order, a day perhaps twice."""

    def __init__(self, grid: Grid, columns: tuple[str, ...], room: NDArray[np.float64] | None = None) -> None:
        self._grid, self._columns = grid, columns
        self._places = {column: place for place, column in enumerate(columns)}
        self._values = np.empty((len(columns), grid.step_count)) if room is None else room
        self._ends = np.zeros(len(columns), np.int64)  # what lies further on was not written yet

    def add(self, columns: Sequence[str], first_step: int, levels: Values) -> None:
        places, new_end = [self._places[column] for column in columns], first_step + levels.shape[1]
        ends = self._ends[places]
        for row in np.flatnonzero(ends < first_step).tolist():
            self._values[places[row], ends[row] : first_step] = np.nan
        again = np.flatnonzero(ends > first_step).tolist()
        levels = levels.copy() if again else levels
        for row in again:
            known = self._values[places[row], first_step : min(ends[row], new_end)]
            np.copyto(levels[row, : known.size], known, where=np.isnan(levels[row, : known.size]))
        self._values[places, first_step:new_end] = levels
        self._ends[places] = np.maximum(ends, new_end)

    def matrix(self) -> Matrix:
        for place in np.flatnonzero(self._ends < self._grid.step_count).tolist():
            self._values[place, self._ends[place] :] = np.nan
        return Matrix(self._grid, self._columns, self._values.T)


class _Cells:
    """Sums, counts or maxima per column and step."""

    def __init__(self, grid: Grid, columns: tuple[str, ...], how: How) -> None:
        self._grid, self._columns, self._how = grid, columns, how
        self._places = {column: place for place, column in enumerate(columns)}
        shape = (len(columns), grid.step_count)
        self._total = np.full(shape, -np.inf) if how == "max" else np.zeros(shape)
        self._count = np.zeros(shape, np.int32)

    def add(self, columns: Sequence[str], first_step: int, levels: Values) -> None:
        for column, values in zip(columns, levels, strict=True):
            self._add(self._places[column], slice(first_step, first_step + values.size), values)

    def _add(self, place: int, span: slice, values: Values) -> None:
        is_known = ~np.isnan(values)
        self._count[place, span] += is_known
        if self._how == "max":
            np.fmax(self._total[place, span], values, out=self._total[place, span])
        else:
            self._total[place, span] += np.where(is_known, values, 0.0)

    def matrix(self) -> Matrix:
        total = self._total / np.maximum(self._count, 1) if self._how == "mean" else self._total
        return Matrix(self._grid, self._columns, np.where(self._count > 0, total, np.nan).T)


def read_levels(
    store: SampleStore, metric: str, column_of: Mapping[int, str], grid: Grid, how: How = "mean", scale: float = 1.0
) -> Matrix:
    """A gauge by step: the latest sample of each series in each step, series of one column combined.

    Parameters
    ----------
    column_of
        The column (a node's name, say) of each series that is wanted.
    how
        How several series of a column become one value, of those that have one in the step.
    scale
        What every value is multiplied by.
    """
    return _levels(store.of_metric(metric), column_of, grid, how, scale)


def read_levels_by_day(
    store: SampleStore, metric: str, column_of: Mapping[int, str], grid: Grid, how: How = "mean", scale: float = 1.0
) -> Iterator[Matrix]:
    """What `read_levels` gives, in pieces of the steps that begin on one UTC day each.

    A piece holds until the next one is taken, which lies in the same memory.
    """
    stored, parts = store.of_metric(metric), list(_days(grid))
    room = np.empty((len(set(column_of.values())), max((part.step_count for part in parts), default=0)))
    for part in parts:
        yield _levels(stored, column_of, part, how, scale, room[:, : part.step_count])


def _levels(
    stored: MetricDays,
    column_of: Mapping[int, str],
    grid: Grid,
    how: How,
    scale: float,
    room: NDArray[np.float64] | None = None,
) -> Matrix:
    columns = tuple(sorted(set(column_of.values())))
    is_single = len(columns) == len(column_of)
    cells = _Column(grid, columns, room) if is_single else _Cells(grid, columns, how)
    limit = DCGM_BLANK_MIN if stored.metric.startswith(DCGM_PREFIX) else np.inf
    for day in stored.between(grid.start_ms, grid.end_ms):
        steps = _StepsOfDay(grid, day)
        for batch in stored.batches(day):
            wanted = [place for place, series_id in enumerate(batch.series_ids) if series_id in column_of]
            names = [column_of[batch.series_ids[place]] for place in wanted]
            levels = steps.levels(batch, wanted, limit)
            cells.add(names, steps.first, levels * scale if scale != 1 else levels)
    return cells.matrix()


class _StepsOfDay:
    """Brings the series of one day onto the grid; those that share their timestamps share the work."""

    def __init__(self, grid: Grid, day: date) -> None:
        self.first, self._count = _steps_of_day(grid, (day - EPOCH.date()).days)
        self._start_ms, self._step_ms = grid.start_ms + self.first * grid.step_ms, grid.step_ms
        self._starts_ms = self._start_ms + self._step_ms * np.arange(self._count, dtype=np.int64)
        self._whole: dict[DayTimes, bool] = {}

    def levels(self, batch: RowBatch, wanted: Sequence[int], limit: float) -> Values:
        """The levels of some rows from the first step on, of what is below a limit."""
        table = batch.table()
        if table is not None and table.shape[1] == self._count and all(map(self._is_whole, set(batch.times))):
            return _below(table if len(wanted) == len(table) else table[wanted], limit)
        rows = list(batch.rows())
        levels = [self._level(rows[place], _below(rows[place].values, limit)) for place in wanted]
        return np.array(levels).reshape(len(wanted), self._count)

    def _level(self, row: SeriesDay, values: Values) -> Values:
        times_ms = row.times.times_ms
        if values.size == self._count and self._is_whole(row.times):
            return values
        is_number = ~np.isnan(values)
        if not is_number.all():
            times_ms, values = times_ms[is_number], values[is_number]
        return regrid(times_ms, values, self._start_ms, self._step_ms, self._count)

    def _is_whole(self, times: DayTimes) -> bool:
        """True where each step has exactly one sample: values then stand as they are."""
        if times not in self._whole:
            since = (times.times_ms - self._starts_ms).view(np.uint64)  # what is negative becomes huge
            self._whole[times] = int(since.max()) < self._step_ms
        return self._whole[times]


def _below(values: Values, limit: float) -> Values:
    return values if limit == np.inf or (values < limit).all() else np.where(values < limit, values, np.nan)


def read_increases(
    store: SampleStore,
    metric: str,
    column_of: Mapping[int, str],
    grid: Grid,
    once: Mapping[int, Hashable] | None = None,
    scale: float = 1.0,
) -> Matrix:
    """A counter by step: what its series counted in each step, series of one column added up.

    Parameters
    ----------
    once
        A key for series that may be one thing seen twice (mounts of one export): of those with equal keys and equal
        samples one counts.
    """
    cells = _Cells(grid, tuple(sorted(set(column_of.values()))), "sum")
    counted = _counted(store, metric, column_of, grid, once or {})
    stretches = list(_stretches(grid))
    margin_ms = max(MARGIN_MS, 2 * grid.step_ms)
    spans = [(stretch.start_ms - margin_ms, stretch.end_ms + margin_ms) for _, stretch in stretches]
    for (first, stretch), series in zip(stretches, store.spans(metric, spans, counted), strict=True):
        for series_id, samples in series.items():
            cells.add([column_of[series_id]], first, _increases(samples, stretch)[None] * scale)
    return cells.matrix()


def _stretches(grid: Grid) -> Iterator[tuple[int, Grid]]:
    """The grid, about a day of it at a time, each with the step that it begins with."""
    count = max(1, DAY_MS // grid.step_ms)
    for first in range(0, grid.step_count, count):
        start_ms = grid.start_ms + first * grid.step_ms
        yield first, Grid(start_ms, grid.step_ms, min(count, grid.step_count - first))


def _counted(
    store: SampleStore, metric: str, column_of: Mapping[int, str], grid: Grid, once: Mapping[int, Hashable]
) -> list[int]:
    """The series that count; samples are compared only where two may be one."""
    seen = SeenTwice({series_id: key for series_id, key in once.items() if series_id in column_of})
    if seen.is_possible:
        for series in store.spans(metric, [(part.start_ms, part.end_ms) for _, part in _stretches(grid)], column_of):
            seen.take(series)
    return seen.counted(column_of)


def _increases(samples: SeriesSamples, grid: Grid) -> Values:
    deltas = deltas_of(samples.times_ms, samples.values)
    return count_by_step(deltas, grid.start_ms, grid.step_ms, grid.step_count)


def _days(grid: Grid) -> Iterator[Grid]:
    """The steps that begin on each UTC day."""
    first = 0
    while first < grid.step_count:
        start_ms = grid.start_ms + first * grid.step_ms
        count = min(grid.step_count - first, -((start_ms % DAY_MS - DAY_MS) // grid.step_ms))
        yield Grid(start_ms, grid.step_ms, count)
        first += count


def _steps_of_day(grid: Grid, day: int) -> tuple[int, int]:
    """The first step that a UTC day may have samples in, and how many."""
    first = max(0, (day * DAY_MS - grid.start_ms) // grid.step_ms)
    last = min(grid.step_count - 1, ((day + 1) * DAY_MS - 1 - grid.start_ms) // grid.step_ms)
    return first, max(0, last - first + 1)
