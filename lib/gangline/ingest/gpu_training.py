"""GPU evidence of training (analyses 1, 2): which sessions kept their GPUs busy, read from the store day by day.

Memory holds one day of one role, and two bits of each session's steps: use is read once, and power, which is compared
with what GPUs draw while all of the export is busy, once before and once after that is known. A stretch of use is
followed over the edges of days; steps that too few nodes have samples in neither lengthen nor break it, unless more
than two follow each other.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gangline.config.model import Config, Training
from gangline.counters import GAP_STEPS
from gangline.intervals import EPOCH
from gangline.roles.gpu_use import (
    GpuSeries,
    Levels,
    NodeSums,
    PowerHistogram,
    grid_of,
    levels_of,
    node_sums,
    power_shares,
    summed,
    usual_step_ms,
)
from gangline.roles.resolving import ResolvedRole, resolve
from gangline.sources.samples import Values, instant_of_ms
from gangline.store.layout import DAY_MS
from gangline.store.matrix import Grid
from gangline.warehouse.opening import samples_of
from gangline.warehouse.querying import query

COVERED_MIN_RATIO = 0.9  # of a session's steps, and in each of them of its nodes (analyses 1, 2)
ROUNDING = 1e-9
MS_PER_MIN = 60_000
GOOD, BAD, UNKNOWN = 1, 0, -1

_ASKED = """
    select session_key, node, gpus, epoch_ms(started_at) as start_ms, epoch_ms(until_at) as end_ms
    from intermediate.int_gpu_sessions_asked where until_at > started_at order by session_key, node
"""


@dataclass
class Stretch:
    """The first stretch of good steps that is long enough."""

    need_ms: float
    begun_ms: int = 0
    good_until_ms: int | None = None
    met_from_ms: int | None = None

    def take(self, states: NDArray[np.int8], start_ms: int, step_ms: int) -> None:
        """Goes on with the steps that follow."""
        edges = np.flatnonzero(np.diff(states)) + 1
        starts, stops = [0, *edges.tolist()], [*edges.tolist(), states.size]
        for first, stop in zip(starts, stops, strict=True):
            if self.met_from_ms is not None:
                return
            self._take_run(int(states[first]), start_ms + first * step_ms, start_ms + stop * step_ms, step_ms)

    def _take_run(self, state: int, from_ms: int, to_ms: int, step_ms: int) -> None:
        if state == BAD:
            self.good_until_ms = None
        elif state == GOOD:
            if self.good_until_ms is None or from_ms - self.good_until_ms > GAP_STEPS * step_ms:
                self.begun_ms = from_ms
            self.good_until_ms = to_ms
            if to_ms - self.begun_ms >= self.need_ms:
                self.met_from_ms = self.begun_ms


@dataclass
class Watch:
    """What is known of one session so far."""

    wanted_steps: int
    by_use: Stretch
    by_power: Stretch
    use_steps: int = 0
    power_steps: int = 0
    gpus_seen: int = 0

    def row(self, session_key: int) -> tuple[object, ...]:
        """Its row of `meta.gpu_training`."""
        least = COVERED_MIN_RATIO * self.wanted_steps - ROUNDING
        is_covered, is_weak = self.wanted_steps > 0 and self.use_steps >= least, self.power_steps < least
        met_ms = (self.by_use if is_weak else self.by_power).met_from_ms
        met_at = None if met_ms is None else instant_of_ms(met_ms)
        return session_key, is_covered, met_at is not None, met_at, is_weak, self.gpus_seen


@dataclass(frozen=True, eq=False)
class Busy:
    """Steps of a session's day that its use is known in, and those of them that it is that of training in; packed."""

    is_known: NDArray[np.uint8]
    is_busy: NDArray[np.uint8]

    @classmethod
    def of(cls, is_known: NDArray[np.bool_], is_busy: NDArray[np.bool_]) -> "Busy":
        """Packs them."""
        return cls(np.packbits(is_known), np.packbits(is_busy))

    def steps(self, count: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Unpacks them."""
        is_known, is_busy = (np.unpackbits(packed, count=count).view(bool) for packed in (self.is_known, self.is_busy))
        return is_known, is_busy


@dataclass(frozen=True, eq=False)
class Members:
    """A session's nodes on one day, the steps [first, stop) that each is in it for, and the GPUs held on each."""

    places: NDArray[np.int64]
    first: NDArray[np.int64]
    stop: NDArray[np.int64]
    gpus: NDArray[np.float64]

    @property
    def steps(self) -> slice:
        """Steps that one of them is in for."""
        return slice(int(self.first.min()), max(int(self.first.min()), int(self.stop.max())))


@dataclass
class Watching:
    """All sessions that are asked about, and the thresholds."""

    training: Training
    watches: dict[int, Watch] = field(default_factory=dict)
    _busy: dict[tuple[int, int], Busy] = field(default_factory=dict)

    def begin(self, asked: pl.DataFrame, step_ms: int) -> None:
        """A session's whole steps are those that must have samples."""
        spans = asked.group_by("session_key").agg(pl.col("start_ms").min(), pl.col("end_ms").max())
        need_ms = self.training.gpu_util_min_min * MS_PER_MIN
        for session_key, start_ms, end_ms in spans.iter_rows():
            steps = max(0, end_ms // step_ms - -(-start_ms // step_ms))
            self.watches[session_key] = Watch(steps, Stretch(need_ms), Stretch(need_ms))

    def take_use(self, session_key: int, members: Members, grid: Grid, use: NodeSums) -> None:
        """Goes on with the GPU use of one day of a session."""
        watch, steps = self.watches[session_key], members.steps
        util, is_used = _mean(use, members, steps)
        is_busy = util >= self.training.gpu_util_min_ratio - ROUNDING
        start_ms = grid.start_ms + steps.start * grid.step_ms
        watch.by_use.take(_states(is_busy, is_used), start_ms, grid.step_ms)
        watch.use_steps += int(is_used.sum())
        seen = use.count[members.places, steps].sum(axis=0)
        watch.gpus_seen = max(watch.gpus_seen, int(seen.max()))
        self._busy[session_key, start_ms] = Busy.of(is_used, is_busy)

    def take_power(self, session_key: int, members: Members, grid: Grid, power: NodeSums) -> None:
        """Goes on with what the GPUs draw on one day of a session, whose use that day was taken before."""
        watch, steps = self.watches[session_key], members.steps
        share, is_powered = _mean(power, members, steps)
        is_drawing = share >= self.training.power_min_ratio - ROUNDING
        start_ms = grid.start_ms + steps.start * grid.step_ms
        is_used, is_busy = self._busy.pop((session_key, start_ms)).steps(steps.stop - steps.start)
        watch.by_power.take(_states(is_busy & is_drawing, is_used & is_powered), start_ms, grid.step_ms)
        watch.power_steps += int(is_powered.sum())


def fill_gpu_training(con: duckdb.DuckDBPyConnection, config: Config) -> None:
    """Fills `meta.gpu_training`: a row for each session of `int_gpu_sessions_asked`; none where no GPU use is exported.

    A session that holds a part of a node's GPUs is not covered there: which of them are its own is not known.
    """
    con.execute("delete from meta.gpu_training")
    util = resolve(con, "gpu_util", config.roles)
    asked = query(con, _ASKED)
    step_ms = None if util is None else usual_step_ms(util)
    if util is None or step_ms is None or asked.is_empty():
        return
    watching = Watching(config.training)
    watching.begin(asked, step_ms)
    days, power = _days(con, config, util, asked), resolve(con, "gpu_power", config.roles)
    drawn = None if power is None else levels_of(samples_of(con, config), power)
    medians = _take_use(watching, asked, levels_of(samples_of(con, config), util), drawn, days, step_ms)
    if drawn is not None:
        _take_power(watching, asked, power_shares(drawn, medians), days, step_ms)
    rows = [watch.row(session_key) for session_key, watch in watching.watches.items()]
    con.executemany("insert into meta.gpu_training values (?, ?, ?, ?, ?, ?)", rows)


def _take_use(
    watching: Watching, asked: pl.DataFrame, use: Levels, power: Levels | None, days: list[date], step_ms: int
) -> dict[str, float]:
    """Takes the use of every day; gives what each GPU model draws meanwhile."""
    histogram = PowerHistogram(watching.training.gpu_util_min_ratio)
    for day in days:
        grid = grid_of(day, step_ms)
        rows, places = _asked_on(asked, grid)
        levels: Iterable[tuple[GpuSeries, Values]] = use(day, grid)
        if power is not None:
            levels = list(levels)
            histogram.take(levels, power(day, grid))
        used = summed(levels, grid, places)
        for session_key, members in _members(rows, grid, places):
            watching.take_use(session_key, members, grid, used)
    return histogram.medians()


def _take_power(watching: Watching, asked: pl.DataFrame, shares: Levels, days: list[date], step_ms: int) -> None:
    for day in days:
        grid = grid_of(day, step_ms)
        rows, places = _asked_on(asked, grid)
        drawn = node_sums(shares, day, grid, places)
        for session_key, members in _members(rows, grid, places):
            watching.take_power(session_key, members, grid, drawn)


def _asked_on(asked: pl.DataFrame, grid: Grid) -> tuple[pl.DataFrame, dict[str, int]]:
    rows = asked.filter((pl.col("start_ms") < grid.end_ms) & (pl.col("end_ms") > grid.start_ms))
    return rows, {node: place for place, node in enumerate(rows["node"].unique(maintain_order=True))}


def _members(rows: pl.DataFrame, grid: Grid, places: dict[str, int]) -> Iterator[tuple[int, Members]]:
    """The sessions of a day, whole steps only; rows come in order of session."""
    start_ms, end_ms = rows["start_ms"].to_numpy(), rows["end_ms"].to_numpy()
    first = np.clip(-(-(start_ms - grid.start_ms) // grid.step_ms), 0, grid.step_count)
    stop = np.clip((end_ms - grid.start_ms) // grid.step_ms, 0, grid.step_count)
    where = np.array([places[node] for node in rows["node"]], np.int64)
    gpus = rows["gpus"].fill_null(float("inf")).to_numpy()
    keys = rows["session_key"].to_numpy()
    edges = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist(), keys.size]
    for begin, end in pairwise(edges):
        if end > begin:
            part = slice(begin, end)
            members = Members(where[part], first[part], stop[part], gpus[part])
            if members.steps.start < members.steps.stop:
                yield int(keys[begin]), members


def _mean(sums: NodeSums, members: Members, steps: slice) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The mean over a session's GPUs in each step, and in which steps enough of its nodes have samples."""
    total, count = sums.total[members.places, steps], sums.count[members.places, steps]
    step = np.arange(steps.start, steps.stop)
    is_in = (step >= members.first[:, None]) & (step < members.stop[:, None])
    is_known = is_in & (count > 0) & (count <= members.gpus[:, None] + ROUNDING)
    gpus = np.where(is_known, count, 0.0).sum(axis=0)
    mean = np.where(is_known, total, 0.0).sum(axis=0) / np.maximum(gpus, 1.0)
    is_covered = is_known.sum(axis=0) >= np.maximum(COVERED_MIN_RATIO * is_in.sum(axis=0) - ROUNDING, ROUNDING)
    return mean, is_covered


def _states(is_good: NDArray[np.bool_], is_known: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.where(is_known, np.where(is_good, GOOD, BAD), UNKNOWN).astype(np.int8)


def _days(con: duckdb.DuckDBPyConnection, config: Config, role: ResolvedRole, asked: pl.DataFrame) -> list[date]:
    """Days with samples of a role on which a session that is asked about ran."""
    starts, ends = asked["start_ms"].to_numpy() // DAY_MS, (asked["end_ms"].to_numpy() - 1) // DAY_MS
    days = samples_of(con, config).days(role.source.metric, int(starts.min()) * DAY_MS, (int(ends.max()) + 1) * DAY_MS)
    numbers = [(day - EPOCH.date()).days for day in days]
    spans = np.unique(np.stack([starts, ends], axis=1), axis=0)
    return [day for day, number in zip(days, numbers, strict=True) if _is_within(spans, number)]


def _is_within(spans: NDArray[np.int64], day: int) -> bool:
    return bool(((spans[:, 0] <= day) & (spans[:, 1] >= day)).any())
