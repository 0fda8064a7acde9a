"""Rows of GPU memory that were remapped: how many per GPU, how fast they come, and what could not be remapped."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import duckdb
import numpy as np
import polars as pl

from gangline.config import Config
from gangline.roles import ResolvedRole, resolve
from gangline.sources.samples import DCGM_BLANK_MIN, instant_of_ms
from gangline.store.layout import DAY_MS
from gangline.store.reading import SampleStore, ms_of
from gangline.warehouse import samples_of
from gangline.warehouse.querying import query
from gangline.windows import Window

CORRECTABLE, UNCORRECTABLE, FAILURE = "remapped_rows", "remapped_rows_uncorrectable", "row_remap_failure"
ROLES = (CORRECTABLE, UNCORRECTABLE, FAILURE)
NOT_EXPORTED = "remapped rows of GPUs are not exported (dcgm-exporter's DCGM_FI_DEV_*_REMAPPED_ROWS)"
LATE = timedelta(days=7)
MOST_STEPS = 600
GPU = ("node", "gpu_index", "gpu_uuid")


@dataclass
class _Counter:
    """The course of one series: its values wherever they change, at most one a `step_ms`, and increases by drops."""

    step_ms: int
    late_ms: int
    first_ms: int = 0
    last_ms: int = 0
    last: float = float("nan")
    highest: float = 0.0
    gain: float = 0.0
    late_gain: float = 0.0
    grown_ms: int | None = None
    points: list[tuple[int, float]] = field(default_factory=list)

    def take(self, times_ms: np.ndarray, values: np.ndarray) -> None:
        """Go on with samples that follow, which are numbers; a drop is a reset and counts from 0 (analyses 10)."""
        if not values.size:
            return
        is_new = np.isnan(self.last)
        before = values[0] if is_new else self.last
        deltas = np.diff(values, prepend=before)
        grown = np.where(deltas < 0, values, deltas)
        if is_new:
            self.first_ms, self.points = int(times_ms[0]), [(int(times_ms[0]), float(values[0]))]
        self.gain += float(grown.sum())
        self.late_gain += float(grown[times_ms >= self.late_ms].sum())
        for place in np.flatnonzero(deltas).tolist():
            self._mark(int(times_ms[place]), float(values[place]), is_growth=bool(grown[place] > 0))
        self.last_ms, self.last = int(times_ms[-1]), float(values[-1])
        self.highest = max(self.highest, float(values.max()))

    def _mark(self, at_ms: int, value: float, *, is_growth: bool) -> None:
        if is_growth:
            self.grown_ms = at_ms
        if len(self.points) > 1 and at_ms - self.points[-1][0] < self.step_ms:
            self.points[-1] = (self.points[-1][0], value)
        else:
            self.points.append((at_ms, value))


@dataclass(frozen=True)
class Remaps:
    """Remapped rows of a window.

    Attributes
    ----------
    gpus
        A row a GPU that shows any, worst first: node, gpu_index, gpu_uuid, has_failure (a row could not be remapped),
        uncorrectable_rows, uncorrectable_gain, uncorrectable_at (its last step), correctable_rows, correctable_gain,
        late_gain (in its last seven days), per_day (before them), late_per_day, faster_per_day (their difference: the
        acceleration), xid_events (of the GPU, lower bound), last_at (its last sample).
    points
        Where the counts change: node, gpu_index, gpu_uuid, role, at, rows (correctable and uncorrectable).
    seen
        GPUs whose counts were read.
    """

    gpus: pl.DataFrame
    points: pl.DataFrame
    seen: int

    @property
    def case(self) -> str:
        """Which sentence fits: `not_exported`, `none` (no GPU has a remapped row), else `found`."""
        return "found" if self.gpus.height else "none" if self.seen else "not_exported"


def remaps(con: duckdb.DuckDBPyConnection, config: Config, window: Window, node: str = "") -> Remaps:
    """Read the counts of every GPU day by day, or of one node's; memory holds what changed.

    A GPU's slope is its increase over the days that it was sampled: apart for the seven days before its last sample, so
    that a GPU that is gone shows what it did before.
    """
    counters = {role: _counters(con, config, window, role, node) for role in ROLES}
    named = {gpu: None for of_role in counters.values() for gpu in of_role}
    rows = [_row(gpu, *(counters[role].get(gpu) for role in ROLES)) for gpu in named]
    frame = pl.DataFrame(rows, schema=_SCHEMA, orient="row")
    shown = frame.filter(pl.any_horizontal(pl.col(*_SIGNS) > 0) | pl.col("has_failure").fill_null(value=False))
    known = shown.join(_xids(con, window), on=["node", "gpu_index"], how="left", nulls_equal=True)
    ranked = known.with_columns(pl.col("xid_events").fill_null(0)).sort(
        "has_failure", "uncorrectable_gain", "late_gain", "correctable_rows", *GPU[:2],
        descending=[True, True, True, True, False, False], nulls_last=True,
    )  # fmt: skip
    return Remaps(ranked, _points(counters, ranked), len(named))


_Gpu = tuple[str | None, int | None, str | None]
_SIGNS = ("uncorrectable_rows", "uncorrectable_gain", "correctable_rows", "correctable_gain")
_MOMENT = pl.Datetime("us", "UTC")
_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "node": pl.String,
    "gpu_index": pl.Int32,
    "gpu_uuid": pl.String,
    "has_failure": pl.Boolean,
    "uncorrectable_rows": pl.Float64,
    "uncorrectable_gain": pl.Float64,
    "uncorrectable_at": _MOMENT,
    "correctable_rows": pl.Float64,
    "correctable_gain": pl.Float64,
    "late_gain": pl.Float64,
    "per_day": pl.Float64,
    "late_per_day": pl.Float64,
    "faster_per_day": pl.Float64,
    "last_at": _MOMENT,
}
_XIDS = """
    select node, gpu_index, count(*) as xid_events
    from marts.xid_events_within($start::timestamptz, $end::timestamptz)
    where gpu_index is not null group by all
"""


def _counters(
    con: duckdb.DuckDBPyConnection, config: Config, window: Window, name: str, node: str
) -> dict[_Gpu, _Counter]:
    """One counter a GPU; where several series are of one, that with the highest count."""
    role = resolve(con, name, config.roles)
    if role is None:
        return {}
    series = role.series.filter(pl.col("node") == node) if node else role.series.filter(pl.col("node").is_not_null())
    ends = dict(series.select("series_id", "last_at").iter_rows())
    step_ms = max(1, (ms_of(window.end) - ms_of(window.start)) // MOST_STEPS)
    found = {name: _Counter(step_ms, ms_of(min(last_at, window.end) - LATE)) for name, last_at in ends.items()}
    for series_id, times_ms, values in _numbers(samples_of(con, config), role, window):
        if series_id in found:
            found[series_id].take(times_ms, values)
    by_gpu: dict[_Gpu, _Counter] = {}
    for series_id, *gpu in series.select("series_id", *GPU).iter_rows():
        counter, key = found[series_id], (gpu[0], gpu[1], gpu[2])
        if counter.points and (key not in by_gpu or counter.highest > by_gpu[key].highest):
            by_gpu[key] = counter
    return by_gpu


def _numbers(store: SampleStore, role: ResolvedRole, window: Window) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Samples of a role, a row group of one day in memory, without NaN, staleness markers and DCGM's blanks."""
    start_ms, end_ms = ms_of(window.start), ms_of(window.end)
    stored = store.of_metric(role.source.metric)
    for day in stored.between(start_ms, end_ms):
        for row in stored.rows(day):
            times_ms, values = row.times.times_ms, row.values
            is_in = (times_ms >= start_ms) & (times_ms < end_ms) & np.isfinite(values) & (values < DCGM_BLANK_MIN)
            yield row.series_id, times_ms[is_in], values[is_in] * role.source.scale


def _row(
    gpu: _Gpu, correctable: _Counter | None, uncorrectable: _Counter | None, failure: _Counter | None
) -> tuple[object, ...]:
    """What the three counters of a GPU say; null where one is not exported."""
    known = [each for each in (correctable, uncorrectable, failure) if each]
    last_at = instant_of_ms(max(each.last_ms for each in known))
    stepped = uncorrectable.grown_ms if uncorrectable else None
    return (
        *gpu,
        failure.highest > 0 if failure else None,
        uncorrectable.last if uncorrectable else None,
        uncorrectable.gain if uncorrectable else None,
        None if stepped is None else instant_of_ms(stepped),
        *(_slopes(correctable) if correctable else [None] * 6),
        last_at,
    )


def _slopes(counter: _Counter) -> list[float | None]:
    """Rows, gain, gain of the last days, rows a day before them, in them, and the difference."""
    late_days = (counter.last_ms - max(counter.late_ms, counter.first_ms)) / DAY_MS
    days = (counter.late_ms - counter.first_ms) / DAY_MS
    late = counter.late_gain / late_days if late_days > 0 else None
    early = (counter.gain - counter.late_gain) / days if days > 0 else None
    faster = None if late is None or early is None else late - early
    return [counter.last, counter.gain, counter.late_gain, early, late, faster]


def _points(counters: dict[str, dict[_Gpu, _Counter]], shown: pl.DataFrame) -> pl.DataFrame:
    """Where counts of the GPUs that are shown change, and their last sample."""
    rows: list[tuple[object, ...]] = []
    for gpu in shown.select(*GPU).iter_rows():
        for role in (CORRECTABLE, UNCORRECTABLE):
            counter = counters[role].get(gpu)
            if counter and counter.highest > 0:
                course = [*counter.points, (counter.last_ms, counter.last)]
                rows += [(*gpu, role, instant_of_ms(at_ms), value) for at_ms, value in course]
    schema = {name: _SCHEMA[name] for name in GPU} | {"role": pl.String, "at": _MOMENT, "rows": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _xids(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    found = query(con, _XIDS, start=window.start, end=window.end)
    return found.with_columns(pl.col("gpu_index").cast(pl.Int32))
