"""Days that several parts hold, made one: where a series stands in more than one of them, or they are very many.

The parts as files left them stay beside a merged one, so that a file can be read again; a day of one file alone is
simply replaced. The result does not depend on the order in which files were loaded.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

from gangline.intervals import EPOCH
from gangline.store.layout import ROW_GROUP_SAMPLES, part_path
from gangline.store.merging import merge
from gangline.store.parts import PartWriter, SeriesDay
from gangline.store.recording import part_row, record_parts
from gangline.store.row_groups import rows_of, series_of
from gangline.store.tables import leave, unmerge
from gangline.store.timelines import cut_by_day

MERGE_SAMPLES = 8_000_000  # merged at a time, so that a metric of any width fits
PIECES_MAX = 32  # row groups of one metric's day, above which reading them apart costs more than merging them
SeriesIds = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _RowGroup:
    path: Path
    number: int
    series_ids: SeriesIds

    def overlaps(self, low: int, high: int) -> bool:
        return bool(self.series_ids.size and self.series_ids[0] <= high and self.series_ids[-1] >= low)


@dataclass
class _Day:
    """The raw parts of one metric's day."""

    day: date
    row_groups: list[_RowGroup]
    file_ids: set[str]
    sample_count: int
    repeats: int = 0
    conflicts: int = 0

    @property
    def number(self) -> int:
        return (self.day - EPOCH.date()).days

    def needs_merging(self) -> bool:
        ids = np.concatenate([group.series_ids for group in self.row_groups])
        pieces_max = PIECES_MAX + 4 * self.sample_count // ROW_GROUP_SAMPLES
        return len(self.row_groups) > pieces_max or np.unique(ids).size < ids.size

    def merged(self) -> Iterator[list[SeriesDay]]:
        """Its rows, one a series, a bounded number of samples at a time."""
        ids = np.unique(np.concatenate([group.series_ids for group in self.row_groups]))
        for share in np.array_split(ids, min(ids.size, 1 + self.sample_count // MERGE_SAMPLES)):
            yield [self._one(pieces) for pieces in self._pieces(int(share[0]), int(share[-1])).values()]

    def _pieces(self, low: int, high: int) -> dict[int, list[SeriesDay]]:
        pieces: dict[int, list[SeriesDay]] = {}
        for group in self.row_groups:
            if group.overlaps(low, high):
                for row in rows_of(group.path, self.number, range(group.number, group.number + 1)):
                    if low <= row.series_id <= high:
                        pieces.setdefault(row.series_id, []).append(row)
        return pieces

    def _one(self, pieces: list[SeriesDay]) -> SeriesDay:
        if len(pieces) == 1:
            return pieces[0]
        times_ms = np.concatenate([piece.times.times_ms for piece in pieces])
        merged = merge(times_ms, np.concatenate([piece.values for piece in pieces]))
        self.repeats += merged.repeats
        self.conflicts += merged.conflicts
        (times,) = cut_by_day(merged.times_ms)
        return SeriesDay(pieces[0].series_id, times, merged.values)


def settle(con: duckdb.DuckDBPyConnection, telemetry: Path) -> None:
    """Merges what needs it, metric by metric, each in a transaction: a kill costs one metric's work."""
    for (metric,) in con.execute(
        "select distinct metric from meta.sample_parts where not is_settled order by metric"
    ).fetchall():
        con.execute("begin")
        try:
            _settle_metric(con, telemetry, metric)
            con.execute("commit")
        except BaseException:
            con.execute("rollback")
            raise


def _settle_metric(con: duckdb.DuckDBPyConnection, telemetry: Path, metric: str) -> None:
    with PartWriter(telemetry, metric) as writer:
        merged = [day for day in _shared_days(con, telemetry, metric) if day.needs_merging()]
        for day in merged:
            unmerge(con, metric, day.day)
            for rows in day.merged():
                writer.add_day(day.number, rows)
        parts = writer.finish()
    for day in merged:
        _supersede(con, metric, day)
        file_id = min(day.file_ids) if len(day.file_ids) == 1 else None
        of_day = [part for part in parts if part.day == day.number]
        counts = [(day.repeats, day.conflicts)] + [(0, 0)] * len(of_day)
        record_parts(
            con,
            [
                part_row(part, file_id, repeats=repeats, conflicts=conflicts, is_settled=True)
                for part, (repeats, conflicts) in zip(of_day, counts, strict=False)
            ],
        )
    con.execute("update meta.sample_parts set is_settled = true where metric = ?", [metric])


def _shared_days(con: duckdb.DuckDBPyConnection, telemetry: Path, metric: str) -> Iterator[_Day]:
    """Days with something new and more than one row group, from the parts as files left them."""
    rows = con.execute(
        "select day, file_name, row_group, row_group_count, file_id, sample_count from meta.sample_parts"
        " where metric = ? and file_id is not null and day in"
        " (select day from meta.sample_parts where metric = ? and not is_settled) order by all",
        [metric, metric],
    ).fetchall()
    for day in sorted({row[0] for row in rows}):
        of_day = [row for row in rows if row[0] == day]
        if sum(row[3] for row in of_day) > 1:
            groups = [
                _RowGroup(path, number, series_of(path, range(number, number + 1)))
                for _, name, first, count, _, _ in of_day
                for path in [part_path(telemetry, metric, name)]
                for number in range(first, first + count)
            ]
            yield _Day(day, groups, {row[4] for row in of_day}, sum(row[5] for row in of_day))


def _supersede(con: duckdb.DuckDBPyConnection, metric: str, day: _Day) -> None:
    """One file's own parts make way for the merged one; those of several files stay, no longer live."""
    if len(day.file_ids) == 1:
        leave(con, "metric = ? and day = ?", [metric, day.day])
    else:
        con.execute("update meta.sample_parts set is_live = false where metric = ? and day = ?", [metric, day.day])
