"""Samples out of the store into numpy, metric by metric and day by day."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain
from pathlib import Path

import duckdb
import numpy as np

from gangline.intervals import EPOCH
from gangline.sources.samples import DCGM_BLANK_MIN, DCGM_PREFIX, TimesMs, Values
from gangline.store.layout import DAY_MS, day_of, metric_folder
from gangline.store.merging import merge
from gangline.store.parts import SeriesDay
from gangline.store.row_groups import RowBatch, batches_of
from gangline.store.timelines import DayTimes

_PARTS_OF_METRIC = """
select day, file_name, row_group, row_group_count from meta.sample_parts
where is_live and metric = ? order by day, file_name, row_group
"""


@dataclass(frozen=True, eq=False)
class MetricDays:
    """The days of one metric, from the parts that the warehouse named when they were looked up.

    Attributes
    ----------
    parts
        By day: each file's name, its first row group of the day and how many there are.
    """

    metric: str
    folder: Path
    parts: dict[date, list[tuple[str, int, int]]]

    def batches(self, day: date) -> Iterator[RowBatch]:
        """The rows of a day, as stored, some at a time."""
        number = (day - EPOCH.date()).days
        for file_name, first, count in self.parts.get(day, []):
            yield from batches_of(self.folder / file_name, number, range(first, first + count))

    def rows(self, day: date) -> Iterator[SeriesDay]:
        """Every row of a day, as stored: with NaN, and a series twice where its day is not settled."""
        for batch in self.batches(day):
            yield from batch.rows()

    def between(self, start_ms: int, end_ms: int) -> list[date]:
        """The UTC days in [start, end) with samples, in order."""
        first, last = day_of(start_ms // DAY_MS), day_of((end_ms - 1) // DAY_MS)
        return [day for day in self.parts if first <= day <= last]


@dataclass(frozen=True, eq=False)
class SeriesSamples:
    """Samples of one series in time order."""

    series_id: int
    times_ms: TimesMs
    values: Values


def ms_of(instant: datetime) -> int:
    """Milliseconds since 1970 of an instant with a zone."""
    return round((instant - EPOCH).total_seconds() * 1000)


class SampleStore:
    """The samples that one warehouse names.

    Parameters
    ----------
    con
        A connection to the warehouse.
    telemetry
        Its folder of parts.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, telemetry: Path) -> None:
        self._con, self._telemetry = con, telemetry

    def of_metric(self, metric: str) -> MetricDays:
        """All days of a metric, whose parts are looked up once."""
        parts: dict[date, list[tuple[str, int, int]]] = {}
        for day, *part in self._con.execute(_PARTS_OF_METRIC, [metric]).fetchall():
            parts.setdefault(day, []).append((part[0], part[1], part[2]))
        return MetricDays(metric, self._telemetry / metric_folder(metric), parts)

    def days(self, metric: str, start_ms: int, end_ms: int) -> list[date]:
        """The UTC days in [start, end) on which a metric has samples (`MetricDays.between`)."""
        return self.of_metric(metric).between(start_ms, end_ms)

    def rows_by_day(self, metric: str) -> Callable[[date], Iterator[SeriesDay]]:
        """The rows of any day (`MetricDays.rows`), from parts that are looked up once."""
        return self.of_metric(metric).rows

    def read(
        self,
        metric: str,
        start_ms: int,
        end_ms: int,
        series_ids: Collection[int] | None = None,
        *,
        is_raw: bool = False,
    ) -> dict[int, SeriesSamples]:
        """The samples of a metric in [start, end) by series id.

        Parameters
        ----------
        series_ids
            Only these; all by default.
        is_raw
            Keep NaN, staleness markers and DCGM's blanks; left out by default, as in `marts.samples`.
        """
        (samples,) = self.spans(metric, [(start_ms, end_ms)], series_ids, is_raw=is_raw)
        return samples

    def spans(
        self,
        metric: str,
        spans: Iterable[tuple[int, int]],
        series_ids: Collection[int] | None = None,
        *,
        is_raw: bool = False,
    ) -> Iterator[dict[int, SeriesSamples]]:
        """What `read` gives for spans whose starts ascend; only the days of one are in memory, each is read once."""
        wanted = None if series_ids is None else frozenset(series_ids)
        stored, held = self.of_metric(metric), dict[date, list[SeriesDay]]()
        for start_ms, end_ms in spans:
            days = stored.between(start_ms, end_ms)
            held = {day: rows for day, rows in held.items() if day in days}
            for day in days:
                if day not in held:
                    held[day] = [row for row in stored.rows(day) if wanted is None or row.series_id in wanted]
            pieces: dict[int, list[tuple[TimesMs, Values]]] = {}
            for row in chain.from_iterable(held[day] for day in days):
                pieces.setdefault(row.series_id, []).append(_within(row.times, row.values, start_ms, end_ms))
            yield {
                series_id: _joined(series_id, parts, metric.startswith(DCGM_PREFIX), is_raw)
                for series_id, parts in sorted(pieces.items())
            }


def _within(times: DayTimes, values: Values, start_ms: int, end_ms: int) -> tuple[TimesMs, Values]:
    first, last = np.searchsorted(times.times_ms, [start_ms, end_ms])
    return times.times_ms[first:last], values[first:last]


def _joined(series_id: int, pieces: list[tuple[TimesMs, Values]], is_dcgm: bool, is_raw: bool) -> SeriesSamples:
    if len(pieces) == 1:
        times_ms, values = pieces[0]
    else:
        merged = merge(np.concatenate([times for times, _ in pieces]), np.concatenate([values for _, values in pieces]))
        times_ms, values = merged.times_ms, merged.values
    if not is_raw:
        is_number = ~np.isnan(values) & ~(is_dcgm & (values >= DCGM_BLANK_MIN))
        if not is_number.all():
            times_ms, values = times_ms[is_number], values[is_number]
    return SeriesSamples(series_id, times_ms, values)
