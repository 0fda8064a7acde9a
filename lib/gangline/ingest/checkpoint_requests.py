"""NFS requests inside saves and loads, by node and operation (analyses 7), read from the store day by day."""

from dataclasses import dataclass, field

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gangline.config.model import Config
from gangline.ingest.accruals import Accrual
from gangline.ingest.checkpoint_windows import AskedWindows, DayPlan
from gangline.ingest.window_samples import Place, WindowSamples
from gangline.roles.resolving import resolve
from gangline.sources.samples import TimesMs, Values
from gangline.store.reading import SeriesSamples
from gangline.warehouse.opening import samples_of

COLUMNS = {
    "requests": "nfs_requests",
    "request_s": "nfs_request_time",
    "queue_s": "nfs_queue_time",
    "response_s": "nfs_response_time",
    "sent_bytes": "nfs_sent_bytes",
    "received_bytes": "nfs_received_bytes",
    "transmissions": "nfs_transmissions",
    "major_timeouts": "nfs_major_timeouts",
}
"""Counters of an operation, and the roles that tell them."""
TIMED = ("requests", "request_s", "queue_s", "response_s")
NEEDED = {"READ": (*TIMED, "received_bytes"), "WRITE": (*TIMED, "sent_bytes")}
"""What must be told of an operation for it to be measured; of all others their number is enough."""
COVERED_MIN_RATIO, ROUNDING = 0.9, 1e-9
KEPT_IDLE = ("READ", "WRITE")  # rows without a request say that a node was seen and did nothing


@dataclass(eq=False)
class _DaySums:
    """What was counted in the windows that are due on a day, and the share of each that is told: `[column, window]`."""

    asked: AskedWindows
    plan: DayPlan
    columns: tuple[str, ...]
    counted: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    told: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.places = np.concatenate([np.empty(0, np.int64), *self.plan.due.values()])
        stops = np.cumsum([own.size for own in self.plan.due.values()]).tolist()
        self.slices = {
            node: slice(stop - own.size, stop) for (node, own), stop in zip(self.plan.due.items(), stops, strict=True)
        }

    def take(self, column: int, place: Place, samples: SeriesSamples) -> None:
        """Adds what one series counted."""
        own, slot = self.plan.due[place.node], self.slices[place.node]
        starts, ends = self.asked.start_ms[own], self.asked.end_ms[own]
        counted, told = self._of(self.counted, place.operation), self._of(self.told, place.operation)
        if column == 0 or not _is_constant(samples):
            accrual = Accrual.of(samples.times_ms, samples.values, place.step_ms)
            counted[column, slot] += accrual.increase(starts, ends)
        share = accrual.coverage(starts, ends) if column == 0 else _span_share(samples, starts, ends)
        told[column, slot] = np.maximum(told[column, slot], share)

    def rows(self) -> pl.DataFrame:
        """A row a window and operation, those without a request left out but for READ and WRITE."""
        frames = [self._rows_of(operation) for operation in self.counted]
        return pl.concat(frames) if frames else pl.DataFrame()

    def _rows_of(self, operation: str) -> pl.DataFrame:
        sums, told = self.counted[operation], self.told[operation]
        needed = NEEDED.get(operation, TIMED[:1])
        main = [place for place, column in enumerate(self.columns) if column in needed]
        named = self.asked.rows.select("phase", "checkpoint_id", "node")[self.places]
        rows = named.with_columns(
            pl.lit(operation).alias("operation"),
            pl.Series("coverage_ratio", told[0]),
            pl.Series("is_told", (told[main] >= COVERED_MIN_RATIO - ROUNDING).all(axis=0)),
            *(_column(column, sums[row], told[row]) for row, column in enumerate(self.columns)),
        )
        is_seen_idle = (pl.col("coverage_ratio") > 0) & pl.lit(operation in KEPT_IDLE)
        return rows.filter((pl.col("requests") > 0) | is_seen_idle)

    def _of(self, by_operation: dict[str, NDArray[np.float64]], operation: str) -> NDArray[np.float64]:
        if operation not in by_operation:
            by_operation[operation] = np.zeros((len(self.columns), self.places.size))
        return by_operation[operation]


def _column(name: str, sums: Values, told: Values) -> pl.Series:
    """Null where the counter has no samples; requests that have none are 0."""
    return pl.Series(name, sums if name == "requests" else np.where(told > 0, sums, np.nan)).fill_nan(None)


def _is_constant(samples: SeriesSamples) -> bool:
    return bool(samples.values[0] == samples.values[-1] and np.ptp(samples.values) == 0)


def _span_share(samples: SeriesSamples, starts_ms: TimesMs, ends_ms: TimesMs) -> Values:
    """The share of each window between a series' ends; gaps are those of the scrape, which requests tell."""
    inside = np.minimum(ends_ms, samples.times_ms[-1]) - np.maximum(starts_ms, samples.times_ms[0])
    share: Values = np.maximum(inside, 0) / np.maximum(ends_ms - starts_ms, 1)
    return share


def fill_checkpoint_requests(con: duckdb.DuckDBPyConnection, config: Config) -> None:
    """Fills `meta.checkpoint_requests` for the windows of `int_checkpoint_windows_asked`.

    There are no rows where no request counters are exported; a column that is not exported is null.
    """
    con.execute("delete from meta.checkpoint_requests")
    store, asked = samples_of(con, config), AskedWindows.read(con)
    found = {column: resolve(con, role, config.roles) for column, role in COLUMNS.items()}
    samples = {column: WindowSamples(store, role) for column, role in found.items() if role is not None}
    if "requests" not in samples:
        return
    for plan in asked.days():
        sums = _DaySums(asked, plan, tuple(samples))
        for place, reader in enumerate(samples.values()):
            for series, seen in reader.take(plan):
                sums.take(place, series, seen)
        insert(con, "checkpoint_requests", sums.rows())


def insert(con: duckdb.DuckDBPyConnection, table: str, rows: pl.DataFrame) -> None:
    """Adds rows to a table of `meta`, columns by name."""
    if not rows.is_empty():
        con.register("rows_to_insert", rows.to_arrow())
        con.execute(f"insert into meta.{table} by name select * from rows_to_insert")  # noqa: S608 - the table is ours
        con.unregister("rows_to_insert")
