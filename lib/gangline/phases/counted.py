"""What a series counted between its samples, brought onto the steps of a grid (analyses 10)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Self

import numpy as np

from gangline.counters import gap_over_ms, increases
from gangline.phases.stretches import Flags, Values
from gangline.sources.samples import TimesMs
from gangline.store.matrix import Grid
from gangline.store.reading import SeriesSamples


@dataclass(frozen=True, eq=False)
class StepCounts:
    """What was counted in each step of a grid, 0 where that is not known; `is_known` is null where all of it is."""

    counted: Values
    is_known: Flags | None

    @classmethod
    def of(cls, counted: Values) -> Self:
        """Of counts with NaN where they are not known."""
        is_known = ~np.isnan(counted)
        return cls(counted, None) if is_known.all() else cls(np.where(is_known, counted, 0.0), is_known)


@dataclass(frozen=True, eq=False)
class EvenSamples:
    """Samples of one series, all equally far apart: what their times are need not be kept."""

    series_id: int
    first_ms: int
    step_ms: int
    values: Values

    @property
    def times_ms(self) -> TimesMs:
        """When each was taken."""
        return self.first_ms + self.step_ms * np.arange(self.values.size, dtype=np.int64)

    @property
    def end_ms(self) -> int:
        """When the next one is due."""
        return self.first_ms + self.step_ms * self.values.size


Samples = SeriesSamples | EvenSamples


@dataclass(frozen=True, eq=False)
class Counted:
    """What one series counted between its samples, and where it has gaps."""

    times_ms: TimesMs
    increases: Values
    gaps_ms: list[tuple[int, int]]
    scrape_ms: int

    @classmethod
    def of(cls, times_ms: TimesMs, counted: Values, scrape_ms: int | None = None) -> Self:
        """The scrape step is the median distance of the samples, where none is given."""
        distances = np.diff(times_ms)
        usual_ms = float(scrape_ms or np.median(distances))
        wide = np.flatnonzero(distances > gap_over_ms(usual_ms)).tolist()
        gaps = [(int(times_ms[place]), int(times_ms[place + 1])) for place in wide]
        return cls(times_ms, counted, gaps, round(usual_ms))

    @property
    def last_ms(self) -> int:
        """When its last sample was taken."""
        return int(self.times_ms[-1])

    def by_step(self, grid: Grid) -> StepCounts:
        """What was counted in each step, deltas split by time; unknown where a gap or the series' end touches a step.

        >>> times = np.array([15_000, 45_000, 75_000, 105_000, 195_000])
        >>> steps = Counted.of(times, np.array([30.0, 30, 30, 90])).by_step(Grid(0, 30_000, 6))
        >>> steps.counted.tolist(), steps.is_known.tolist()
        ([0.0, 30.0, 30.0, 0.0, 0.0, 0.0], [False, True, True, False, False, False])
        """
        edges_ms = grid.start_ms + grid.step_ms * np.arange(grid.step_count + 1, dtype=np.int64)
        summed = np.concatenate([[0.0], np.cumsum(self.increases)])
        counted = np.diff(np.interp(edges_ms, self.times_ms, summed))
        counted[: max(0, int(np.searchsorted(edges_ms, self.times_ms[0])))] = np.nan
        counted[max(0, int(np.searchsorted(edges_ms, self.times_ms[-1], side="right")) - 1) :] = np.nan
        for start_ms, end_ms in self.gaps_ms:
            first = max(0, int(np.searchsorted(edges_ms, start_ms, side="right")) - 1)
            counted[first : int(np.searchsorted(edges_ms, end_ms))] = np.nan
        return StepCounts.of(counted)


@dataclass(frozen=True, eq=False)
class EvenlyCounted:
    """The same of a series whose samples are all equally far apart, so that it has no gap."""

    first_ms: int
    scrape_ms: int
    increases: Values

    @property
    def last_ms(self) -> int:
        """When its last sample was taken."""
        return self.first_ms + self.scrape_ms * self.increases.size

    def by_step(self, grid: Grid) -> StepCounts:
        """What was counted in each step: the end of one delta and the beginning of the next, where they fit the steps.

        >>> steps = EvenlyCounted(15_000, 30_000, np.array([30.0, 60, 30])).by_step(Grid(0, 30_000, 4))
        >>> steps.counted.tolist(), steps.is_known.tolist()
        ([0.0, 45.0, 45.0, 0.0], [False, True, True, False])
        """
        if self.scrape_ms != grid.step_ms:
            times_ms = self.first_ms + self.scrape_ms * np.arange(self.increases.size + 1, dtype=np.int64)
            return Counted(times_ms, self.increases, [], self.scrape_ms).by_step(grid)
        shift, late_ms = divmod(grid.start_ms - self.first_ms, grid.step_ms)
        first, later = max(0, -shift), 1 if late_ms else 0
        stop = max(first, min(grid.step_count, self.increases.size - shift - later))
        counted = self.increases[first + shift : stop + shift]
        if late_ms:
            share = late_ms / grid.step_ms
            counted = counted * (1 - share)
            counted += self.increases[first + shift + 1 : stop + shift + 1] * share
        if counted.size == grid.step_count:
            return StepCounts(counted, None)
        steps = np.full(grid.step_count, np.nan)
        steps[first:stop] = counted
        return StepCounts.of(steps)


SeriesCounts = Counted | EvenlyCounted


def counted_of(samples: Samples, scale: float = 1.0, scrape_ms: int | None = None) -> SeriesCounts | None:
    """Reads samples in time order; null where there is no pair of numbers among them."""
    if samples.values.size < 2:
        return None
    deltas = samples.values[1:] - samples.values[:-1]
    lowest = float(np.minimum.reduce(deltas))
    if isnan(lowest):  # as it is where any value is
        return counted_of(numbers_of(samples), scale, scrape_ms)
    counted = deltas if lowest >= 0 else increases(samples.values)
    counted = counted * scale if scale != 1 else counted
    if isinstance(samples, EvenSamples) and scrape_ms is None:
        return EvenlyCounted(samples.first_ms, samples.step_ms, counted)
    return Counted.of(samples.times_ms, counted, scrape_ms)


def by_node(counted: Sequence[SeriesCounts], grid: Grid) -> StepCounts:
    """What a node's series counted together in each step."""
    if len(counted) == 1:
        return counted[0].by_step(grid)
    steps = [series.by_step(grid) for series in counted]
    total = np.sum([each.counted for each in steps], axis=0)
    known = [each.is_known for each in steps if each.is_known is not None]
    return StepCounts(total, np.any(known, axis=0) if len(known) == len(steps) else None)


def numbers_of(samples: Samples) -> SeriesSamples:
    """Without NaN."""
    is_number = ~np.isnan(samples.values)
    return SeriesSamples(samples.series_id, samples.times_ms[is_number], samples.values[is_number])
