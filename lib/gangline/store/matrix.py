"""Time-by-node matrices: every series of a metric on one grid of steps, several series of a node made one.

Columns are contiguous in memory while they are filled, a day of one metric is in memory at a time.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gangline.counters import count_by_step, deltas_of, regrid
from gangline.sources.samples import DCGM_BLANK_MIN, DCGM_PREFIX, TimesMs, Values
from gangline.store.layout import DAY_MS
from gangline.store.mounts import SeenTwice
from gangline.store.reading import SampleStore, SeriesSamples
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

    def __init__(self, grid: Grid, columns: tuple[str, ...]) -> None:
        self._grid, self._columns = grid, columns
        self._places = {column: place for place, column in enumerate(columns)}
        self._values = np.empty((len(columns), grid.step_count))
        self._ends = [0] * len(columns)  # what lies further on was not written yet

    def add(self, column: str, first_step: int, values: Values) -> None:
        place = self._places[column]
        row, end, new_end = self._values[place], self._ends[place], first_step + values.size
        if end <= first_step:
            row[end:first_step] = np.nan
        else:
            known = values[: end - first_step]
            np.copyto(row[first_step : first_step + known.size], known, where=~np.isnan(known))
            values = values[known.size :]
        row[max(end, first_step) : new_end] = values
        self._ends[place] = max(end, new_end)

    def matrix(self) -> Matrix:
        for place, end in enumerate(self._ends):
            self._values[place, end:] = np.nan
        return Matrix(self._grid, self._columns, self._values.T)


class _Cells:
    """Sums, counts or maxima per column and step."""

    def __init__(self, grid: Grid, columns: tuple[str, ...], how: How) -> None:
        self._grid, self._columns, self._how = grid, columns, how
        self._places = {column: place for place, column in enumerate(columns)}
        shape = (len(columns), grid.step_count)
        self._total = np.full(shape, -np.inf) if how == "max" else np.zeros(shape)
        self._count = np.zeros(shape, np.int32)

    def add(self, column: str, first_step: int, values: Values) -> None:
        place, span = self._places[column], slice(first_step, first_step + values.size)
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
    columns = tuple(sorted(set(column_of.values())))
    cells = _Column(grid, columns) if len(columns) == len(column_of) else _Cells(grid, columns, how)
    limit = DCGM_BLANK_MIN if metric.startswith(DCGM_PREFIX) else np.inf
    for _, rows in store.by_day(metric, grid.start_ms, grid.end_ms):
        steps_of = _StepsOfDay(grid)
        for row in rows:
            column = column_of.get(row.series_id)
            if column is None:
                continue
            values = np.where(row.values < limit, row.values, np.nan) if limit < np.inf else row.values
            first, level = steps_of.level(row.times, values)
            cells.add(column, first, level * scale if scale != 1 else level)
    return cells.matrix()


class _StepsOfDay:
    """Brings series of one day onto the grid; those that share their timestamps share the work."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._whole: dict[int, tuple[DayTimes, bool]] = {}
        self._spans: dict[int, tuple[int, int]] = {}

    def level(self, times: DayTimes, values: Values) -> tuple[int, Values]:
        """The first step of the day and its levels."""
        if times.day not in self._spans:
            self._spans[times.day] = _steps_of_day(self._grid, times.day)
        first, count = self._spans[times.day]
        start_ms = self._grid.start_ms + first * self._grid.step_ms
        if values.size == count and self._is_whole(times, start_ms):
            return first, values
        is_number = ~np.isnan(values)
        if is_number.all():
            return first, regrid(times.times_ms, values, start_ms, self._grid.step_ms, count)
        return first, regrid(times.times_ms[is_number], values[is_number], start_ms, self._grid.step_ms, count)

    def _is_whole(self, times: DayTimes, start_ms: int) -> bool:
        """True where each step has exactly one sample: values then stand as they are."""
        known = self._whole.get(id(times))
        if known is None:  # holding the object keeps its id from being used again
            steps = (times.times_ms - start_ms) // self._grid.step_ms
            known = self._whole[id(times)] = times, bool((steps == np.arange(steps.size)).all())
        return known[1]


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
            cells.add(column_of[series_id], first, _increases(samples, stretch) * scale)
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


def _steps_of_day(grid: Grid, day: int) -> tuple[int, int]:
    """The first step that a UTC day may have samples in, and how many."""
    first = max(0, (day * DAY_MS - grid.start_ms) // grid.step_ms)
    last = min(grid.step_count - 1, ((day + 1) * DAY_MS - 1 - grid.start_ms) // grid.step_ms)
    return first, max(0, last - first + 1)
