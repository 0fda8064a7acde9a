"""Counters of nodes day by day: what each counted in every step, exact over the edges of days (analyses 10).

Memory holds one day of one role, and of each series the last hour before it.
"""

from collections import Counter
from collections.abc import Collection, Hashable
from dataclasses import dataclass
from datetime import date
from typing import Self

import numpy as np

from gangline.counters import gap_over_ms, increases
from gangline.phases.stretches import Flags, Values
from gangline.roles.reading import mount_keys
from gangline.roles.resolving import ResolvedRole
from gangline.sources.samples import TimesMs
from gangline.store.layout import DAY_MS
from gangline.store.matrix import Grid
from gangline.store.mounts import counted_once
from gangline.store.reading import SampleStore, SeriesSamples

LAG_MS = 3_600_000  # how far steps are behind the samples that are read: a delta may end that much later
KEPT_SAMPLES = 4  # from before it, for a delta across its edge and for replicas' dips


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
class Counted:
    """What one series counted between its samples, and where it has gaps.

    Attributes
    ----------
    is_even
        Whether all its samples are equally far apart.
    """

    times_ms: TimesMs
    increases: Values
    gaps_ms: list[tuple[int, int]]
    scrape_ms: int
    is_even: bool

    @classmethod
    def of(cls, samples: SeriesSamples, scale: float = 1.0, scrape_ms: int | None = None) -> Self | None:
        """Reads samples in time order; null where there is no pair of numbers among them.

        The scrape step is the median distance of the samples, where none is given.
        """
        if samples.times_ms.size < 2:
            return None
        deltas = samples.values[1:] - samples.values[:-1]
        lowest = deltas.min()
        if np.isnan(lowest):  # as it is where any value is
            return cls.of(_numbers(samples), scale, scrape_ms)
        times_ms, counted = samples.times_ms, deltas if lowest >= 0 else increases(samples.values)
        distances = times_ms[1:] - times_ms[:-1]
        is_even = bool(distances.min() == distances.max())
        usual_ms = float(scrape_ms or (distances[0] if is_even else np.median(distances)))
        wide = [] if is_even and not scrape_ms else np.flatnonzero(distances > gap_over_ms(usual_ms)).tolist()
        gaps = [(int(times_ms[place]), int(times_ms[place + 1])) for place in wide]
        return cls(times_ms, counted * scale if scale != 1 else counted, gaps, round(usual_ms), is_even)

    def by_step(self, grid: Grid) -> StepCounts:
        """What was counted in each step, deltas split by time; unknown where a gap or the series' end touches a step.

        >>> times = np.array([15_000, 45_000, 75_000, 105_000, 195_000])
        >>> samples = SeriesSamples(1, times, np.array([100.0, 130, 160, 190, 280]))
        >>> steps = Counted.of(samples, 1.0).by_step(Grid(0, 30_000, 6))
        >>> steps.counted.tolist(), steps.is_known.tolist()
        ([0.0, 30.0, 30.0, 0.0, 0.0, 0.0], [False, True, True, False, False, False])
        """
        if self.is_even and self.times_ms[1] - self.times_ms[0] == grid.step_ms and not self.gaps_ms:
            return self._blended(grid)
        edges_ms = grid.start_ms + grid.step_ms * np.arange(grid.step_count + 1, dtype=np.int64)
        summed = np.concatenate([[0.0], np.cumsum(self.increases)])
        counted = np.diff(np.interp(edges_ms, self.times_ms, summed))
        counted[: max(0, int(np.searchsorted(edges_ms, self.times_ms[0])))] = np.nan
        counted[max(0, int(np.searchsorted(edges_ms, self.times_ms[-1], side="right")) - 1) :] = np.nan
        for start_ms, end_ms in self.gaps_ms:
            first = max(0, int(np.searchsorted(edges_ms, start_ms, side="right")) - 1)
            counted[first : int(np.searchsorted(edges_ms, end_ms))] = np.nan
        return StepCounts.of(counted)

    def _blended(self, grid: Grid) -> StepCounts:
        """The same, where each step is of two deltas: the end of one and the beginning of the next."""
        shift, late_ms = divmod(grid.start_ms - int(self.times_ms[0]), grid.step_ms)
        first, later = max(0, -shift), 1 if late_ms else 0
        stop = max(first, min(grid.step_count, self.increases.size - shift - later))
        counted = self.increases[first + shift : stop + shift]
        if late_ms:
            share = late_ms / grid.step_ms
            following = self.increases[first + shift + 1 : stop + shift + 1]
            counted = counted * (1 - share) + following * share
        if counted.size == grid.step_count:
            return StepCounts(counted, None)
        steps = np.full(grid.step_count, np.nan)
        steps[first:stop] = counted
        return StepCounts.of(steps)


class CounterDays:
    """A counter role, read by day. Days must be taken in order."""

    def __init__(self, store: SampleStore, role: ResolvedRole) -> None:
        self._store, self._role = store, role
        pairs = zip(role.series["series_id"], role.series["node"], strict=True)
        self._node_of = {series_id: node for series_id, node in pairs if node is not None}
        keys = {series_id: key for series_id, key in mount_keys(role).items() if series_id in self._node_of}
        shared = {key for key, count in Counter(keys.values()).items() if count > 1}
        self._rivals: dict[int, Hashable] = {series_id: key for series_id, key in keys.items() if key in shared}
        self._kept: dict[int, SeriesSamples] = {}
        self._scrape_ms: dict[int, int] = {}

    def take(self, day: date, end_ms: int, nodes: Collection[str]) -> dict[str, list[Counted]]:
        """What the series of each of these nodes counted on a day that ends then, and in the hour before it.

        Series without a sample in that time are left out. Mounts of one (node, export, operation) whose counters are
        equal count once (analyses 7). Where a day has no sample, the scrape step is that of the day before.
        """
        today = self._rows(day, nodes)
        series = self._after_kept(today, nodes)
        self._kept = {series_id: _tail(samples, end_ms - LAG_MS) for series_id, samples in series.items()}
        first_ms = end_ms - DAY_MS - LAG_MS
        series = {series_id: samples for series_id, samples in series.items() if samples.times_ms[-1] > first_ms}
        counted: dict[str, list[Counted]] = {}
        rivals = {series_id: _numbers(samples) for series_id, samples in series.items() if series_id in self._rivals}
        doubled = rivals.keys() - set(counted_once(rivals, self._rivals))
        for series_id, samples in series.items():
            usual_ms = None if series_id in today else self._scrape_ms.get(series_id)
            read = None if series_id in doubled else Counted.of(samples, self._role.source.scale, usual_ms)
            if read is not None:
                self._scrape_ms[series_id] = read.scrape_ms
                counted.setdefault(self._node_of[series_id], []).append(read)
        return counted

    def _rows(self, day: date, nodes: Collection[str]) -> dict[int, SeriesSamples]:
        return {
            row.series_id: SeriesSamples(row.series_id, row.times.times_ms, row.values)
            for row in self._store.rows(self._role.source.metric, day)
            if self._node_of.get(row.series_id) in nodes
        }

    def _after_kept(self, today: dict[int, SeriesSamples], nodes: Collection[str]) -> dict[int, SeriesSamples]:
        """The day's samples behind those that were kept."""
        kept = {series_id: samples for series_id, samples in self._kept.items() if self._node_of[series_id] in nodes}
        return {
            series_id: _joined(kept.get(series_id), today.get(series_id)) for series_id in sorted(kept.keys() | today)
        }


def by_node(counted: list[Counted], grid: Grid) -> StepCounts:
    """What a node's series counted together in each step."""
    if len(counted) == 1:
        return counted[0].by_step(grid)
    steps = [series.by_step(grid) for series in counted]
    total = np.sum([each.counted for each in steps], axis=0)
    known = [each.is_known for each in steps if each.is_known is not None]
    return StepCounts(total, np.any(known, axis=0) if len(known) == len(steps) else None)


def _numbers(samples: SeriesSamples) -> SeriesSamples:
    is_number = ~np.isnan(samples.values)
    return SeriesSamples(samples.series_id, samples.times_ms[is_number], samples.values[is_number])


def _joined(earlier: SeriesSamples | None, today: SeriesSamples | None) -> SeriesSamples:
    present = [samples for samples in (earlier, today) if samples is not None]
    if len(present) == 1:
        return present[0]
    times_ms = np.concatenate([samples.times_ms for samples in present])
    return SeriesSamples(present[0].series_id, times_ms, np.concatenate([samples.values for samples in present]))


def _tail(samples: SeriesSamples, first_ms: int) -> SeriesSamples:
    first = max(0, int(np.searchsorted(samples.times_ms, first_ms)) - KEPT_SAMPLES)
    return SeriesSamples(samples.series_id, samples.times_ms[first:].copy(), samples.values[first:].copy())
