"""How full shared file systems were, hour by hour: what one node of each export tells."""

from dataclasses import dataclass, field
from datetime import date

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gangline.config.model import Config
from gangline.ingest.checkpoint_requests import insert
from gangline.intervals import EPOCH
from gangline.roles.resolving import ResolvedRole, resolve
from gangline.sources.samples import TimesMs, Values
from gangline.store.layout import DAY_MS
from gangline.store.reading import MetricDays
from gangline.warehouse.opening import samples_of

HOUR_MS, HOURS = 3_600_000, 24
SHARED_TYPES = frozenset(
    {
        "nfs",
        "nfs4",
        "lustre",
        "gpfs",
        "wekafs",
        "beegfs",
        "ceph",
        "fuse.ceph",
        "panfs",
        "fuse.glusterfs",
        "fuse.juicefs",
    }
)
COLUMNS = {"size_bytes": "filesystem_size", "available_bytes": "filesystem_available"}
_LABELS = pl.Struct({"device": pl.String, "fstype": pl.String})


@dataclass
class _Hours:
    """The latest sample of each hour of a day, by export."""

    by_export: dict[tuple[str, str], NDArray[np.float64]] = field(default_factory=dict)

    def take(self, export: tuple[str, str], day_ms: int, times_ms: TimesMs, values: Values) -> None:
        """The first node that tells an hour is heard; all see one file system."""
        hours = self.by_export.setdefault(export, np.full(HOURS, np.nan))
        is_missing = np.isnan(hours)
        if is_missing.any():
            is_number = ~np.isnan(values)
            seen = np.full(HOURS, np.nan)
            seen[(times_ms[is_number] - day_ms) // HOUR_MS] = values[is_number]
            hours[is_missing] = seen[is_missing]


def fill_storage_levels(con: duckdb.DuckDBPyConnection, config: Config) -> None:
    """Fills `meta.storage_levels`: a row an hour and shared file system; none where sizes are not exported."""
    con.execute("delete from meta.storage_levels")
    found = {column: resolve(con, role, config.roles) for column, role in COLUMNS.items()}
    roles = {column: role for column, role in found.items() if role is not None}
    if len(roles) < len(COLUMNS):
        return
    store, exports = samples_of(con, config), {column: _exports(role) for column, role in roles.items()}
    stored = {column: store.of_metric(role.source.metric) for column, role in roles.items()}
    for day in _days(stored["size_bytes"], roles["size_bytes"]):
        by_column = {column: _hours(stored[column], role, exports[column], day) for column, role in roles.items()}
        insert(con, "storage_levels", _rows(by_column, _day_ms(day)))


def _exports(role: ResolvedRole) -> dict[int, tuple[str, str]]:
    """Export and file system type of each series of a shared file system, nodes in order."""
    labels = role.series["labels"].str.json_decode(_LABELS).to_list()
    rows = zip(role.series["series_id"].to_list(), labels, strict=True)
    return {
        series_id: (label["device"] or "", label["fstype"])
        for series_id, label in rows
        if label["fstype"] in SHARED_TYPES
    }


def _hours(stored: MetricDays, role: ResolvedRole, exports: dict[int, tuple[str, str]], day: date) -> _Hours:
    hours = _Hours()
    for row in stored.rows(day):
        export = exports.get(row.series_id)
        if export is not None:
            hours.take(export, _day_ms(day), row.times.times_ms, row.values * role.source.scale)
    return hours


def _rows(by_column: dict[str, _Hours], day_ms: int) -> pl.DataFrame:
    size, available = (by_column[column].by_export for column in COLUMNS)
    at = pl.Series("at", day_ms + HOUR_MS * np.arange(HOURS), pl.Int64).cast(pl.Datetime("ms", "UTC"))
    frames = [
        pl.DataFrame({"at": at, "size_bytes": size[export], "available_bytes": available[export]})
        .with_columns(export=pl.lit(export[0]), file_system=pl.lit(export[1]))
        .filter(~pl.col("size_bytes").is_nan() & ~pl.col("available_bytes").is_nan())
        for export in sorted(size.keys() & available.keys())
    ]
    return pl.concat(frames) if frames else pl.DataFrame()


def _days(stored: MetricDays, role: ResolvedRole) -> list[date]:
    known = role.series.select(pl.col("first_at").min().dt.epoch("ms"), pl.col("last_at").max().dt.epoch("ms"))
    first_ms, last_ms = known.row(0)
    return stored.between(first_ms, last_ms + 1)


def _day_ms(day: date) -> int:
    return (day - EPOCH.date()).days * DAY_MS
