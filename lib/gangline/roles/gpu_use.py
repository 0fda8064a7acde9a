"""How busy the GPUs of each node were, step by step of one UTC day, from the store."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gangline.counters import regrid
from gangline.intervals import EPOCH
from gangline.roles.resolving import ResolvedRole
from gangline.sources.samples import DCGM_BLANK_MIN, DCGM_PREFIX, TimesMs, Values
from gangline.store.layout import DAY_MS
from gangline.store.matrix import Grid
from gangline.store.reading import SampleStore
from gangline.store.timelines import DayTimes

LATE_STEPS = 1.5  # a scrape that comes this late has only slipped over the edge of its step
WATT_BINS, BINS_PER_WATT = 200_000, 10
_MODEL_LABELS = ("modelName", "model_name", "name", "gpu")


@dataclass(frozen=True)
class GpuSeries:
    """Whose a series is: `gpu` is the node's name and the GPU's index or UUID."""

    node: str
    gpu: str
    model: str


class Levels(Protocol):
    """A role's samples of a day, GPU by GPU."""

    def __call__(self, day: date, grid: Grid) -> Iterator[tuple[GpuSeries, Values]]:
        """The level of each GPU in each step, in the role's unit; NaN where it has none."""


@dataclass(frozen=True, eq=False)
class NodeSums:
    """Sums over a node's GPUs that have a sample, and how many have: `[node, step]`."""

    total: NDArray[np.float64]
    count: NDArray[np.float64]

    @classmethod
    def none(cls, nodes: int, steps: int) -> "NodeSums":
        """Of no GPU."""
        return cls(np.zeros((nodes, steps)), np.zeros((nodes, steps)))

    def add(self, node: int, level: Values) -> None:
        """Takes in one GPU."""
        is_known = ~np.isnan(level)
        self.total[node] += np.where(is_known, level, 0.0)
        self.count[node] += is_known


def levels_of(store: SampleStore, role: ResolvedRole) -> Levels:
    """A reader of a role by day."""
    series_of = _series_of(role)
    limit = DCGM_BLANK_MIN if role.source.metric.startswith(DCGM_PREFIX) else np.inf
    rows_of = store.rows_by_day(role.source.metric)

    def levels(day: date, grid: Grid) -> Iterator[tuple[GpuSeries, Values]]:
        placings: dict[int, Placing] = {}  # which hold their timestamps, so that no id is used again
        for row in rows_of(day):
            series = series_of.get(row.series_id)
            if series is None:
                continue
            placing = placings.get(id(row.times)) or placings.setdefault(id(row.times), Placing(row.times, grid))
            is_whole = row.values.max(initial=-np.inf) < limit  # NaN is not below
            values = row.values if is_whole else np.where(row.values < limit, row.values, np.nan)
            yield series, placing.level(values, is_whole) * role.source.scale

    return levels


class Placing:
    """Where the samples of some timestamps come to stand on a grid: the same for all series that share them."""

    def __init__(self, times: DayTimes, grid: Grid) -> None:
        self._times, self._grid = times, grid
        places = level_by_step(times.times_ms, np.arange(times.times_ms.size, dtype=np.float64), grid)
        self._steps = np.flatnonzero(~np.isnan(places))
        self._samples = places[self._steps].astype(np.int64)

    def level(self, values: Values, is_whole: bool) -> Values:
        """What `level_by_step` gives; `is_whole` says that no value is NaN."""
        if not is_whole:
            return level_by_step(self._times.times_ms, values, self._grid)
        level = np.full(self._grid.step_count, np.nan)
        level[self._steps] = values[self._samples]
        return level


def level_by_step(times_ms: TimesMs, values: Values, grid: Grid) -> Values:
    """The latest sample in each step; a step that a scrape has just slipped out of has the one before.

    >>> level_by_step(np.array([0, 29, 61, 90, 150]), np.array([1.0, 2.0, 3.0, 4.0, 5.0]), Grid(0, 30, 6)).tolist()
    [2.0, 2.0, 3.0, 4.0, nan, 5.0]
    """
    is_number = ~np.isnan(values)
    if not is_number.all():
        times_ms, values = times_ms[is_number], values[is_number]
    level = regrid(times_ms, values, grid.start_ms, grid.step_ms, grid.step_count)
    steps = (times_ms - grid.start_ms) // grid.step_ms
    has_slipped = (np.diff(steps) == 2) & (np.diff(times_ms) <= LATE_STEPS * grid.step_ms)
    slipped = np.flatnonzero(has_slipped & (steps[:-1] >= -1) & (steps[:-1] + 1 < grid.step_count))
    level[steps[slipped] + 1] = values[slipped]
    return level


def grid_of(day: date, step_ms: int) -> Grid:
    """The steps that begin on a UTC day, counted from 1970, so that days fit together."""
    start_ms = (day - EPOCH.date()).days * DAY_MS
    first, last = -(-start_ms // step_ms), -(-(start_ms + DAY_MS) // step_ms)
    return Grid(first * step_ms, step_ms, last - first)


def usual_step_ms(role: ResolvedRole) -> int | None:
    """The usual scrape step, to a second where it is one or more; null where no series has two samples a day."""
    step_s = role.series["step_s"].median()
    if not isinstance(step_s, float) or step_s <= 0:
        return None
    return round(step_s) * 1000 if step_s >= 1 else round(step_s * 1000)


def node_sums(levels: Levels, day: date, grid: Grid, places: Mapping[str, int]) -> NodeSums:
    """A role of a day by node and step."""
    return summed(levels(day, grid), grid, places)


def summed(levels: Iterable[tuple[GpuSeries, Values]], grid: Grid, places: Mapping[str, int]) -> NodeSums:
    """The same of levels that were read."""
    sums = NodeSums.none(len(places), grid.step_count)
    for series, level in levels:
        if series.node in places:
            sums.add(places[series.node], level)
    return sums


def power_shares(levels: Levels, medians: Mapping[str, float]) -> Levels:
    """Power over what the GPU's model draws while training; models that never trained are left out."""

    def shares(day: date, grid: Grid) -> Iterator[tuple[GpuSeries, Values]]:
        for series, level in levels(day, grid):
            if series.model in medians:
                yield series, level / medians[series.model]

    return shares


class PowerHistogram:
    """What each GPU model draws while its own use is that of training, to a tenth of a watt."""

    def __init__(self, util_min_ratio: float) -> None:
        self._util_min_ratio = util_min_ratio
        self._bins: dict[str, NDArray[np.int64]] = {}

    def take(self, util: Iterable[tuple[GpuSeries, Values]], power: Iterable[tuple[GpuSeries, Values]]) -> None:
        """Counts a day: how busy GPUs are by step, and what they draw."""
        is_busy = {series.gpu: level >= self._util_min_ratio for series, level in util}
        for series, level in power:
            chosen = level[is_busy.get(series.gpu, False) & (level >= 0)]
            if chosen.size:
                bins = self._bins.setdefault(series.model, np.zeros(WATT_BINS, np.int64))
                counted = np.bincount(_bin_of(chosen))
                bins[: counted.size] += counted

    def medians(self) -> dict[str, float]:
        """Median power in W by model."""
        middles = {
            model: np.searchsorted(np.cumsum(bins), bins.sum() / 2, side="left") for model, bins in self._bins.items()
        }
        return {model: float(middle) / BINS_PER_WATT for model, middle in middles.items() if middle > 0}


def _bin_of(watts: Values) -> NDArray[np.int64]:
    return np.minimum(np.round(watts * BINS_PER_WATT), WATT_BINS - 1).astype(np.int64)


def _series_of(role: ResolvedRole) -> dict[int, GpuSeries]:
    labels = role.series["labels"].str.json_decode(pl.Struct(dict.fromkeys(_MODEL_LABELS, pl.String)))
    rows = zip(role.series.iter_rows(named=True), labels.to_list(), strict=True)
    return {row["series_id"]: series for row, names in rows if (series := _gpu_series(row, names)) is not None}


def _gpu_series(row: dict[str, Any], names: dict[str, str | None]) -> GpuSeries | None:
    part = row["gpu_uuid"] if row["gpu_index"] is None else row["gpu_index"]
    if row["node"] is None or part is None:
        return None
    model = next((text for name in _MODEL_LABELS if (text := names[name]) and not text.isdigit()), "")
    return GpuSeries(row["node"], f"{row['node']}/{part}", model)
