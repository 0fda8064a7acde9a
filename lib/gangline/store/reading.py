"""Samples out of the store into numpy, metric by metric and day by day."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

import duckdb
import numpy as np

from gangline.intervals import EPOCH
from gangline.sources.samples import DCGM_BLANK_MIN, DCGM_PREFIX, TimesMs, Values
from gangline.store.layout import DAY_MS, day_of, part_path
from gangline.store.merging import merge
from gangline.store.parts import SeriesDay
from gangline.store.row_groups import rows_of
from gangline.store.timelines import DayTimes

_PARTS = """
select file_name, row_group, row_group_count from meta.sample_parts
where is_live and metric = ? and day = ? order by file_name, row_group
"""
_DAYS = "select distinct day from meta.sample_parts where is_live and metric = ? and day between ? and ? order by day"


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

    def days(self, metric: str, start_ms: int, end_ms: int) -> list[date]:
        """The UTC days in [start, end) on which a metric has samples."""
        span = [metric, day_of(start_ms // DAY_MS), day_of((end_ms - 1) // DAY_MS)]
        return [day for (day,) in self._con.execute(_DAYS, span).fetchall()]

    def rows(self, metric: str, day: date) -> Iterator[SeriesDay]:
        """Every row of a metric's day, as stored: with NaN, and a series twice where its day is not settled."""
        number = (day - EPOCH.date()).days
        for file_name, first, count in self._con.execute(_PARTS, [metric, day]).fetchall():
            path = part_path(self._telemetry, metric, file_name)
            yield from rows_of(path, number, range(first, first + count))

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
        wanted = None if series_ids is None else frozenset(series_ids)
        pieces: dict[int, list[tuple[TimesMs, Values]]] = {}
        for day in self.days(metric, start_ms, end_ms):
            for row in self.rows(metric, day):
                if wanted is None or row.series_id in wanted:
                    pieces.setdefault(row.series_id, []).append(_within(row.times, row.values, start_ms, end_ms))
        return {
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
