"""What node_exporter gives of every node besides its mount: processes, interrupts, memory, pages, room on storage."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gangline.simulate.activities import Activities, Activity, ActivityDays
from gangline.simulate.courses_drawn import Courses
from gangline.simulate.meters import Meter
from gangline.simulate.plan import LoadPlan, Plan, SavePlan
from gangline.simulate.scrape_grid import DaySlice, ScrapeGrid

Gauges = NDArray[np.int64]
MB, GB = 10**6, 10**9
INTERRUPTS_PER_S = {Activity.TRAIN: 300_000, Activity.LOAD: 210_000, Activity.TEST: 240_000}
IDLE_INTERRUPTS_PER_S = 78_000
RUNNABLE = {
    Activity.IDLE: 1,
    Activity.HOLD: 1,
    Activity.WORK: 5,
    Activity.TEST: 9,
    Activity.START: 3,
    Activity.LOAD: 11,
    Activity.TRAIN: 10,
}
BLOCKED = {Activity.LOAD: 36}
SHM_IDLE, SHM_TRAIN, CACHE_IDLE = 2 * GB, 6 * GB, 38 * GB
DIRTY_SHARE, WRITEBACK_SHARE = 0.18, 0.06  # of what a save hands to write() in a step
PAGE_OUT_KB_PER_S, PAGE_IN_KB_PER_S = 120, 4
KB_PER_PAGE = 4


@dataclass(frozen=True, eq=False)
class _Level:
    """Bytes that stand on nodes from one scrape to another, growing evenly over the first `grow` scrapes."""

    nodes: list[int]
    first: int
    stop: int
    amount: int
    grow: int = 1


class NodeGauges:
    """The gauges and counters of a plan, a day at a time."""

    def __init__(self, plan: Plan, grid: ScrapeGrid, resets: Sequence[tuple[int, int]], courses: Courses) -> None:
        self._plan, self._grid, self._courses = plan, grid, courses
        self._places = {node: place for place, node in enumerate(plan.cluster.nodes)}
        self._nodes = {session.session_id: session.nodes for session in plan.sessions}
        self._ends = {session.session_id: session.ended_ms for session in plan.sessions}
        self._staged = [level for save in plan.saves for level in self._staged_by(save)]
        self._dirty = [level for save in plan.saves for level in self._dirtied_by(save)]
        self._cached = [self._cached_by(load) for load in plan.loads]
        self.interrupts, self.page_out, self.page_in = (Meter(len(self._places), resets) for _ in range(3))

    def count(self, days: ActivityDays) -> None:
        """Fills the counters from what nodes are busy with."""
        everywhere, step_s = np.arange(len(self._places)), self._grid.step_ms // 1000
        self.interrupts.add(everywhere, 0, self._grid.count, IDLE_INTERRUPTS_PER_S * step_s)
        self.page_out.add(everywhere, 0, self._grid.count, PAGE_OUT_KB_PER_S * step_s)
        self.page_in.add(everywhere, 0, self._grid.count, PAGE_IN_KB_PER_S * step_s)
        for stretch in days.stretches:
            extra = INTERRUPTS_PER_S.get(stretch.activity, IDLE_INTERRUPTS_PER_S) - IDLE_INTERRUPTS_PER_S
            self.interrupts.add(list(stretch.nodes), stretch.first, stretch.stop, extra * step_s)
        self._courses.into_meter("interrupts_per_s", self.interrupts, step_s)
        self._courses.into_meter("page_outs_per_s", self.page_out, KB_PER_PAGE * step_s)

    def day(self, day: DaySlice, activities: Activities) -> dict[str, Gauges]:
        """`[node, scrape]` by metric."""
        rng = np.random.default_rng([self._plan.seed, day.first, 3])
        runnable = _table(RUNNABLE)[activities] + rng.integers(0, 4, activities.shape)
        blocked = _table(BLOCKED)[activities] + rng.integers(0, 2, activities.shape)
        shm = np.where(activities == Activity.TRAIN, SHM_TRAIN, SHM_IDLE) + self._levels(self._staged, day)
        dirty = self._levels(self._dirty, day)
        noise = rng.integers(1, 9, activities.shape) * MB
        return {
            "node_procs_running": self._courses.over_nodes("runnable", day, runnable),
            "node_procs_blocked": blocked,
            "node_memory_Shmem_bytes": shm,
            "node_memory_Dirty_bytes": dirty + noise,
            "node_memory_Writeback_bytes": np.round(dirty * WRITEBACK_SHARE / DIRTY_SHARE / MB).astype(np.int64) * MB,
            "node_memory_Cached_bytes": CACHE_IDLE + self._levels(self._cached, day),
        }

    def available(self, day: DaySlice) -> Gauges:
        """Bytes free on the shared storage at each scrape: it fills evenly, told to the GB."""
        cluster, scrapes = self._plan.cluster, np.arange(day.first, day.stop)
        grown_gb = (cluster.filled_to_bytes - cluster.filled_from_bytes) // GB
        used = cluster.filled_from_bytes // GB + scrapes * grown_gb // max(self._grid.count - 1, 1)
        return np.asarray((cluster.capacity_bytes // GB - used) * GB, np.int64)

    def _levels(self, levels: Sequence[_Level], day: DaySlice) -> Gauges:
        values = np.zeros((len(self._places), day.count), np.int64)
        for level in levels:
            first, stop = max(level.first, day.first), min(level.stop, day.stop)
            if first < stop:
                grown = np.minimum(np.arange(first, stop) - level.first + 1, level.grow)
                values[level.nodes, first - day.first : stop - day.first] += (
                    level.amount * grown // level.grow // MB * MB
                )
        return values

    def _staged_by(self, save: SavePlan) -> list[_Level]:
        """What stands in /dev/shm, from the first scrape after the save's start through that at its last step's end."""
        first, stop = self._grid.scrape_from(save.started_ms + 1), self._grid.step_of(save.steps[-1][0]) + 2
        return [
            _Level([self._places[node] for node in group.nodes], first, stop, group.staged_bytes_per_node)
            for group in save.groups
        ]

    def _dirtied_by(self, save: SavePlan) -> list[_Level]:
        levels = []
        for at_ms, share in save.steps:
            scrape = self._grid.step_of(at_ms) + 1
            for group in save.groups:
                amount = round(group.bytes_per_node * share * DIRTY_SHARE)
                levels.append(_Level([self._places[node] for node in group.nodes], scrape, scrape + 1, amount))
        return levels

    def _cached_by(self, load: LoadPlan) -> _Level:
        """The page cache grows over the load, and goes with the session."""
        first, stop = self._grid.step_of(load.started_ms) + 1, self._grid.scrape_from(self._ends[load.session_id])
        nodes = [self._places[node] for node in self._nodes[load.session_id]]
        return _Level(nodes, first, stop, load.page_cache_bytes_per_node, max(len(load.rates_bytes_per_s), 1))


def _table(values: dict[Activity, int]) -> Gauges:
    return np.array([values.get(activity, 0) for activity in Activity], np.int64)
