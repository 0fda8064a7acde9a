"""Where a source's samples go: held by series and day, written as parts whenever enough are held.

One thread writes while the next samples are read; memory holds at most two fillings.
"""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import numpy as np

from gangline.sources.samples import SampleBatch, TimesMs, Values, instant_of_ms
from gangline.store.identity import NodeRule, SeriesIdentity, identify
from gangline.store.merging import merge
from gangline.store.parts import PartDay, PartWriter, SeriesDay
from gangline.store.timelines import DayTimes, Timelines, cut_by_day

HELD_BYTES = 64 << 20
PIECE_BYTES = 400  # of Python objects, beside its numbers
IDENTITIES_KNOWN = 200_000


@dataclass
class SeriesSeen:
    """One series of one file: its newest labels, and the span of its samples."""

    identity: SeriesIdentity
    labels: Mapping[str, str]
    metric_kind: str | None
    is_gridded: bool
    first_ms: int
    last_ms: int
    sample_count: int = 0

    def widen(self, batch: SampleBatch, first_ms: int, last_ms: int) -> None:
        """Takes in more samples; the labels of the latest ones win."""
        if last_ms >= self.last_ms:
            self.labels = batch.labels
        self.first_ms, self.last_ms = min(self.first_ms, first_ms), max(self.last_ms, last_ms)
        self.metric_kind = self.metric_kind or batch.metric_kind
        self.sample_count += batch.times_ms.size

    def join(self, later: "SeriesSeen") -> None:
        """Takes in what was seen of it further on in the file."""
        if later.last_ms >= self.last_ms:
            self.labels = later.labels
        self.first_ms, self.last_ms = min(self.first_ms, later.first_ms), max(self.last_ms, later.last_ms)
        self.metric_kind = self.metric_kind or later.metric_kind
        self.sample_count += later.sample_count

    @property
    def span(self) -> tuple[datetime, datetime]:
        """First and last sample as UTC instants."""
        return instant_of_ms(self.first_ms), instant_of_ms(self.last_ms)


@dataclass
class Written:
    """What a file left in the store."""

    parts: list[PartDay] = field(default_factory=list)
    series: dict[int, SeriesSeen] = field(default_factory=dict)
    repeats: int = 0
    conflicts: int = 0

    def add(self, other: "Written") -> None:
        """Takes in the parts of one more filling."""
        self.parts += other.parts
        self.repeats += other.repeats
        self.conflicts += other.conflicts

    def join(self, later: "Written") -> None:
        """Takes in what the lines that follow left."""
        self.add(later)
        for series_id, seen in later.series.items():
            if series_id in self.series:
                self.series[series_id].join(seen)
            else:
                self.series[series_id] = seen


Piece = tuple[DayTimes, Values]
Held = dict[str, dict[int, dict[int, list[Piece]]]]  # metric, day, series


class SampleSink:
    """Takes the samples of one file; `finish` gives what is to be recorded of it.

    Nothing counts before it is recorded in the warehouse: a sink that is only closed leaves files that the next
    ingest sweeps away.
    """

    def __init__(self, telemetry: Path, rule: NodeRule) -> None:
        self._telemetry, self._rule = telemetry, rule
        self._timelines = Timelines()
        self._identities: dict[tuple[bool, frozenset[tuple[str, str]]], SeriesIdentity] = {}
        self._held: Held = {}
        self._held_bytes = 0
        self._held_times: set[int] = set()
        self._pool: ThreadPoolExecutor | None = None
        self._writing: Future[Written] | None = None
        self.written = Written()

    def take(self, batch: SampleBatch) -> None:
        """Holds the samples of one batch, and hands on what is held where that is enough.

        Raises
        ------
        OSError
            Where an earlier part could not be written (a full disk, say).
        """
        if batch.times_ms.size == 0:
            return
        identity = self._identity(batch)
        days, values = self._timelines.days(batch.times_ms), batch.values
        if days is None:
            merged = merge(batch.times_ms, batch.values)
            days, values = cut_by_day(merged.times_ms), merged.values
            self.written.repeats += merged.repeats
            self.written.conflicts += merged.conflicts
        self._see(identity, batch, days)
        by_day = self._held.setdefault(identity.metric, {})
        for times in days:
            pieces = by_day.setdefault(times.day, {}).setdefault(identity.series_id, [])
            pieces.append((times, values[times.start : times.stop]))
        self._weigh(batch.times_ms, values, len(days))
        if self._held_bytes >= HELD_BYTES:
            self._hand_on()

    def finish(self) -> Written:
        """Writes what is held; everything that the file gave is then on disk."""
        try:
            self._hand_on()
            self._wait()
        finally:
            self.close()
        return self.written

    def close(self) -> None:
        """Lets go of the writing thread."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def _identity(self, batch: SampleBatch) -> SeriesIdentity:
        key = (batch.is_gridded, frozenset(batch.labels.items()))
        known = self._identities.get(key)
        if known is None:
            if len(self._identities) >= IDENTITIES_KNOWN:
                self._identities.clear()
            known = self._identities[key] = identify(batch.labels, self._rule, batch.is_gridded)
        return known

    def _see(self, identity: SeriesIdentity, batch: SampleBatch, days: list[DayTimes]) -> None:
        first_ms, last_ms = int(days[0].times_ms[0]), int(days[-1].times_ms[-1])
        seen = self.written.series.get(identity.series_id)
        if seen is None:
            seen = SeriesSeen(identity, batch.labels, batch.metric_kind, batch.is_gridded, first_ms, last_ms)
            self.written.series[identity.series_id] = seen
        seen.widen(batch, first_ms, last_ms)

    def _weigh(self, times_ms: TimesMs, values: Values, day_count: int) -> None:
        """Timestamps that series share are weighed once."""
        is_new = id(times_ms) not in self._held_times
        self._held_times.add(id(times_ms))
        self._held_bytes += values.nbytes + (times_ms.nbytes if is_new else 0) + PIECE_BYTES * day_count

    def _hand_on(self) -> None:
        self._wait()
        held, self._held, self._held_bytes, self._held_times = self._held, {}, 0, set()
        if held:
            self._pool = self._pool or ThreadPoolExecutor(1, thread_name_prefix="samples")
            self._writing = self._pool.submit(_write, self._telemetry, held)

    def _wait(self) -> None:
        if self._writing is not None:
            writing, self._writing = self._writing, None
            self.written.add(writing.result())


def _write(telemetry: Path, held: Held) -> Written:
    written = Written()
    for metric in sorted(held):
        with PartWriter(telemetry, metric) as writer:
            for day in sorted(held[metric]):
                rows = [_row(series_id, pieces, written) for series_id, pieces in held[metric][day].items()]
                writer.add_day(day, rows)
            written.parts += writer.finish()
    return written


def _row(series_id: int, pieces: list[Piece], written: Written) -> SeriesDay:
    if len(pieces) == 1:
        return SeriesDay(series_id, *pieces[0])
    times_ms = np.concatenate([times.times_ms for times, _ in pieces])
    merged = merge(times_ms, np.concatenate([values for _, values in pieces]))
    written.repeats += merged.repeats
    written.conflicts += merged.conflicts
    (day_times,) = cut_by_day(merged.times_ms)
    return SeriesDay(series_id, day_times, merged.values)
