"""XIDs that dcgm-exporter counts: `DCGM_EXP_XID_ERRORS_COUNT{xid="79", window_size_in_ms="300000"}`.

A series holds how many XIDs of one code a GPU had in the exporter's window before the scrape; it comes with the first
and goes when the last leaves the window (internal/pkg/collector/expcollector.go, August 2026). So a count above the one
before, or any count where the one before is a window or more back, is at least one XID that came since the GPU's scrape
before, and within the window. Unlike the gauge it tells the same code again; two at once, or one that comes as another
leaves the window, are one or none: a lower bound, too.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import polars as pl

from gangline.ingest.xid_samples import Edge, numbers_of
from gangline.roles.resolving import ResolvedRole
from gangline.sources.samples import TimesMs, Values, instant_of_ms
from gangline.store.parts import SeriesDay
from gangline.store.reading import SampleStore

WINDOW_MS = 300_000  # the exporter's default
_LABELS = pl.Struct({"xid": pl.String, "window_size_in_ms": pl.String})
Gpu = tuple[str | None, int | None, str | None]


class Counts:
    """The latest count of each series, the latest scrape of each GPU, and what rose since.

    >>> counts = Counts(window_ms={7: 300_000}, codes={7: 79})
    >>> scrapes = np.arange(0, 900_000, 30_000)
    >>> times, values = np.array([60_000, 90_000, 120_000, 690_000]), np.array([1.0, 1.0, 2.0, 1.0])
    >>> [(at.minute, at.second, before.minute) for _, at, before, _ in counts.take(7, times, values, scrapes)]
    [(1, 0, 0), (2, 0, 1), (11, 30, 11)]
    """

    def __init__(self, window_ms: dict[int, int], codes: dict[int, int]) -> None:
        self._window_ms, self._codes = window_ms, codes
        self._latest: dict[int, tuple[int, float]] = {}

    def take(self, series_id: int, times_ms: TimesMs, values: Values, scrapes_ms: TimesMs) -> Iterator[Edge]:
        """Goes on with the samples that follow, which are numbers in order of time; and when the GPU was scraped."""
        if values.size == 0:
            return
        window_ms = self._window_ms[series_id]
        latest_ms, latest = self._latest.get(series_id, (int(times_ms[0]) - window_ms, 0.0))
        self._latest[series_id] = int(times_ms[-1]), float(values[-1])
        is_near = np.diff(times_ms, prepend=latest_ms) < window_ms
        before = np.where(is_near, np.concatenate([[latest], values[:-1]]), 0.0)
        for place in np.flatnonzero(values > before).tolist():
            at_ms = int(times_ms[place])
            earlier = scrapes_ms[: np.searchsorted(scrapes_ms, at_ms)]
            since_ms = max(at_ms - window_ms, int(earlier[-1]) if earlier.size else 0)
            yield series_id, instant_of_ms(at_ms), instant_of_ms(since_ms), self._codes[series_id]


def counted_edges(store: SampleStore, role: ResolvedRole) -> Iterator[Edge]:
    """Every rise of a count, as `meta.xid_edges` holds the gauge's changes. Memory holds a day of the metric."""
    labels = role.series["labels"].str.json_decode(_LABELS)
    named = list(zip(role.series["series_id"].to_list(), labels.to_list(), strict=True))
    codes = {series: int(each["xid"]) for series, each in named if _is_code(each["xid"])}
    windows = {series: _window_ms(each["window_size_in_ms"]) for series, each in named}
    gpus = dict(zip(role.series["series_id"].to_list(), role.series.select(*_GPU).rows(), strict=True))
    counts, scrapes, stored = Counts(windows, codes), _Scrapes(gpus), store.of_metric(role.source.metric)
    for day in stored.parts:
        for row in scrapes.of_day(stored.rows(day)):
            if row.series_id in codes:
                times_ms, values = numbers_of(row)
                yield from counts.take(row.series_id, times_ms, values, scrapes.times_ms[gpus[row.series_id]])


_GPU = ("node", "gpu_index", "gpu_uuid")


class _Scrapes:
    """When each GPU was scraped: whatever the code, one of its series has a sample, and without an XID one of 0."""

    def __init__(self, gpus: dict[int, Gpu]) -> None:
        self._gpus = gpus
        self.times_ms: dict[Gpu, TimesMs] = {}

    def of_day(self, stored: Iterable[SeriesDay]) -> list[SeriesDay]:
        """The day's rows, once their times, and each GPU's latest before the day, stand in `times_ms`."""
        rows = [row for row in stored if row.series_id in self._gpus]
        times: dict[Gpu, list[TimesMs]] = {gpu: [latest[-1:]] for gpu, latest in self.times_ms.items()}
        for row in rows:
            times.setdefault(self._gpus[row.series_id], []).append(row.times.times_ms)
        self.times_ms = {gpu: np.unique(np.concatenate(each)) for gpu, each in times.items()}
        return rows


def _is_code(text: str | None) -> bool:
    return text is not None and text.isdecimal() and 0 < int(text) < 10_000


def _window_ms(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() and 0 < len(text) < 10 else WINDOW_MS
