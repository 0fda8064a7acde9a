"""Samples of a role, series by series and day by day, so that memory holds a day of it and what windows still need."""

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from gangline.ingest.checkpoint_windows import DayPlan
from gangline.roles.reading import mount_keys
from gangline.roles.resolving import ResolvedRole
from gangline.sources.samples import TimesMs, Values
from gangline.store.mounts import counted_once
from gangline.store.reading import SampleStore, SeriesSamples


@dataclass(frozen=True)
class Place:
    """What a series is of; `operation` is empty where its metric has none, `step_ms` its usual scrape step."""

    node: str
    operation: str
    step_ms: float | None


class WindowSamples:
    """A role as windows ask for it. Days must be taken in order.

    Mounts of one (node, export, operation) whose counters are equal are handed on once (analyses 7).
    """

    def __init__(self, store: SampleStore, role: ResolvedRole) -> None:
        self.role = role
        self._rows_of = store.rows_by_day(role.source.metric)
        self._places = _places_of(role)
        keys = {series_id: key for series_id, key in mount_keys(role).items() if series_id in self._places}
        counts = Counter(keys.values())
        self._rivals: dict[int, Hashable] = {series_id: key for series_id, key in keys.items() if counts[key] > 1}
        self._kept: dict[int, SeriesSamples] = {}

    def take(self, plan: DayPlan) -> Iterator[tuple[Place, SeriesSamples]]:
        """Every series with samples for the windows that are due on a day: the day's, and those of the days before."""
        rivals: dict[Hashable, dict[int, SeriesSamples]] = {}
        for samples in self._joined(plan):
            if self._places[samples.series_id].node not in plan.due:
                continue
            if samples.series_id in self._rivals:
                rivals.setdefault(self._rivals[samples.series_id], {})[samples.series_id] = samples
            else:
                yield self._places[samples.series_id], samples
        for same in rivals.values():
            for series_id in counted_once(same, self._rivals):
                yield self._places[series_id], same[series_id]

    def _joined(self, plan: DayPlan) -> Iterator[SeriesSamples]:
        earlier, self._kept = self._kept, {}
        for row in self._rows_of(plan.day):
            if row.series_id in self._places:
                times_ms, values = _numbers(row.times.times_ms, row.values)
                samples = _after(earlier.pop(row.series_id, None), SeriesSamples(row.series_id, times_ms, values))
                yield from self._keep(samples, plan)
        for samples in earlier.values():
            yield from self._keep(samples, plan)

    def _keep(self, samples: SeriesSamples, plan: DayPlan) -> Iterator[SeriesSamples]:
        first = int(np.searchsorted(samples.times_ms, plan.keep_from_ms))
        if first < samples.times_ms.size:
            times_ms, values = samples.times_ms[first:].copy(), samples.values[first:].copy()
            self._kept[samples.series_id] = SeriesSamples(samples.series_id, times_ms, values)
        if samples.times_ms.size:
            yield samples


def _places_of(role: ResolvedRole) -> dict[int, Place]:
    labels = role.series["labels"].str.json_decode(pl.Struct({"operation": pl.String})).struct.field("operation")
    steps_ms = 1000 * role.series["step_s"]
    rows = zip(role.series["series_id"], role.series["node"], labels.fill_null(""), steps_ms, strict=True)
    return {series_id: Place(*place) for series_id, *place in rows if place[0] is not None}


def _numbers(times_ms: TimesMs, values: Values) -> tuple[TimesMs, Values]:
    is_number = ~np.isnan(values)
    return (times_ms, values) if is_number.all() else (times_ms[is_number], values[is_number])


def _after(earlier: SeriesSamples | None, today: SeriesSamples) -> SeriesSamples:
    if earlier is None:
        return today
    times_ms = np.concatenate([earlier.times_ms, today.times_ms])
    return SeriesSamples(today.series_id, times_ms, np.concatenate([earlier.values, today.values]))
