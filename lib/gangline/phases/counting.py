"""Counters of nodes day by day: what each counted in every step, exact over the edges of days (analyses 10).

Memory holds one day of one role, and of each series the last hour before it.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterator
from datetime import date

import numpy as np

from gangline.phases.counted import EvenSamples, Samples, SeriesCounts, counted_of, numbers_of
from gangline.roles.reading import mount_keys
from gangline.roles.resolving import ResolvedRole
from gangline.store.layout import DAY_MS
from gangline.store.mounts import counted_once
from gangline.store.parts import SeriesDay
from gangline.store.reading import SampleStore, SeriesSamples

LAG_MS = 3_600_000  # how far steps are behind the samples that are read: a delta may end that much later
KEPT_SAMPLES = 4  # from before it, for a delta across its edge and for replicas' dips


class CounterDays:
    """A counter role, read by day. Days must be taken in order."""

    def __init__(self, store: SampleStore, role: ResolvedRole) -> None:
        self._role, self._rows_of = role, store.rows_by_day(role.source.metric)
        pairs = zip(role.series["series_id"], role.series["node"], strict=True)
        self._node_of = {series_id: node for series_id, node in pairs if node is not None}
        keys = {series_id: key for series_id, key in mount_keys(role).items() if series_id in self._node_of}
        shared = {key for key, count in Counter(keys.values()).items() if count > 1}
        self._rivals: dict[int, Hashable] = {series_id: key for series_id, key in keys.items() if key in shared}
        self._kept: dict[int, Samples] = {}
        self._scrape_ms: dict[int, int] = {}

    def take(self, day: date, end_ms: int, nodes: Collection[str]) -> dict[str, list[SeriesCounts]]:
        """What the series of each of these nodes counted on a day that ends then, and in the hour before it.

        Series without a sample in that time are left out. Mounts of one (node, export, operation) whose counters are
        equal count once (analyses 7). Where a day has no sample, the scrape step is that of the day before.
        """
        found: dict[int, SeriesCounts | None] = {}
        rivals: dict[int, Samples] = {}
        for series_id, samples, is_of_today in self._after_kept(day, end_ms, nodes):
            usual_ms = None if is_of_today else self._scrape_ms.get(series_id)
            found[series_id] = counted_of(samples, self._role.source.scale, usual_ms)
            if series_id in self._rivals:
                rivals[series_id] = samples
        for series_id in self._doubled(rivals):
            del found[series_id]
        counted: dict[str, list[SeriesCounts]] = {}
        for series_id, read in sorted(found.items()):
            if read is not None:
                self._scrape_ms[series_id] = read.scrape_ms
                counted.setdefault(self._node_of[series_id], []).append(read)
        return counted

    def _doubled(self, rivals: dict[int, Samples]) -> set[int]:
        numbers = {series_id: numbers_of(samples) for series_id, samples in rivals.items()}
        return numbers.keys() - set(counted_once(numbers, self._rivals))

    def _rows(self, day: date, nodes: Collection[str]) -> dict[int, SeriesDay]:
        return {row.series_id: row for row in self._rows_of(day) if self._node_of.get(row.series_id) in nodes}

    def _after_kept(self, day: date, end_ms: int, nodes: Collection[str]) -> Iterator[tuple[int, Samples, bool]]:
        """Samples of the day and the hour before it, behind those that were kept; and whether any is of the day.

        One series after the other: memory that the last one needed is still at hand for the next.
        """
        today = self._rows(day, nodes)
        kept = {series_id: samples for series_id, samples in self._kept.items() if self._node_of[series_id] in nodes}
        self._kept = {}
        for series_id in kept.keys() | today.keys():
            row = today.get(series_id)
            samples = kept[series_id] if row is None else _joined(kept.get(series_id), row)
            self._kept[series_id] = _tail(samples, end_ms - LAG_MS)
            if _last_ms(samples) > end_ms - DAY_MS - LAG_MS:
                yield series_id, samples, row is not None


def _joined(earlier: Samples | None, row: SeriesDay) -> Samples:
    times_ms, step_ms = row.times.times_ms, row.times.even_step_ms
    if earlier is None:
        if step_ms is not None:
            return EvenSamples(row.series_id, int(times_ms[0]), step_ms, row.values)
        return SeriesSamples(row.series_id, times_ms, row.values)
    values = np.concatenate([earlier.values, row.values])
    if isinstance(earlier, EvenSamples) and earlier.step_ms == step_ms and earlier.end_ms == times_ms[0]:
        return EvenSamples(row.series_id, earlier.first_ms, step_ms, values)
    return SeriesSamples(row.series_id, np.concatenate([earlier.times_ms, times_ms]), values)


def _last_ms(samples: Samples) -> int:
    return samples.end_ms - samples.step_ms if isinstance(samples, EvenSamples) else int(samples.times_ms[-1])


def _tail(samples: Samples, first_ms: int) -> Samples:
    if isinstance(samples, EvenSamples):
        later = min(-((samples.first_ms - first_ms) // samples.step_ms), samples.values.size)
        first = max(0, later - KEPT_SAMPLES)
        start_ms = samples.first_ms + first * samples.step_ms
        return EvenSamples(samples.series_id, start_ms, samples.step_ms, samples.values[first:].copy())
    first = max(0, int(np.searchsorted(samples.times_ms, first_ms)) - KEPT_SAMPLES)
    return SeriesSamples(samples.series_id, samples.times_ms[first:].copy(), samples.values[first:].copy())
