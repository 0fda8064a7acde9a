"""What dcgm-exporter gives of every GPU at a day's scrapes: use, power, the last XID, and what only cases need."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gangline.simulate.activities import Activities, Activity, Shares
from gangline.simulate.courses_drawn import Courses
from gangline.simulate.plan import KernelLinePlan, Plan
from gangline.simulate.scrape_grid import DaySlice, ScrapeGrid

Gauges = NDArray[np.int64]
BLOCK_SCRAPES = 80  # of GPUs that are busy now and then: 40 minutes
UTIL = {Activity.TEST: 72, Activity.TRAIN: 98}
POWER_W = {
    Activity.IDLE: 145,
    Activity.HOLD: 150,
    Activity.WORK: 168,
    Activity.TEST: 690,
    Activity.START: 185,
    Activity.LOAD: 240,
    Activity.TRAIN: 930,
}
STALL_POWER_W, BUSY_POWER_W, BUSY_UTIL = 310, 610, 88
UTIL_NOISE, POWER_NOISE, OFFSET_W = 2, 18, 15


@dataclass(frozen=True, eq=False)
class GpuDay:
    """`[node and gpu, scrape]`, nodes outermost."""

    util: Gauges
    power_w: Gauges


def gpu_day(
    seed: int, day: DaySlice, activities: Activities, stalled: Shares, gpus_per_node: int, courses: Courses
) -> GpuDay:
    """Use and power of a day; while a save stalls training, both fall by the share of the step that it takes."""
    rng = np.random.default_rng([seed, day.first, 1])
    is_busy = _busy(rng, activities)
    util = _table(UTIL)[activities] * (1 - stalled) + BUSY_UTIL * is_busy
    power = _table(POWER_W)[activities].astype(np.float64)
    power += stalled * (STALL_POWER_W - power) + is_busy * (BUSY_POWER_W - power)
    noisy = np.repeat(np.round(util).astype(np.int64), gpus_per_node, axis=0)
    noisy += rng.integers(-UTIL_NOISE, UTIL_NOISE, noisy.shape, endpoint=True) * (noisy > 0)
    watts = np.repeat(np.round(power).astype(np.int64), gpus_per_node, axis=0)
    watts += rng.integers(-POWER_NOISE, POWER_NOISE, watts.shape, endpoint=True)
    watts += np.random.default_rng([seed, 2]).integers(-OFFSET_W, OFFSET_W, (len(watts), 1))
    util_kept = courses.over_gpus("gpu_util", day, np.clip(noisy, 0, 100))
    return GpuDay(util_kept, watts)


def _table(values: dict[Activity, int]) -> Gauges:
    return np.array([values.get(activity, 0) for activity in Activity], np.int64)


def _busy(rng: np.random.Generator, activities: Activities) -> NDArray[np.bool_]:
    """Which nodes at work are busy: half of the stretches of 40 minutes."""
    blocks = rng.integers(0, 2, (activities.shape[0], -(-activities.shape[1] // BLOCK_SCRAPES)))
    is_on = np.repeat(blocks, BLOCK_SCRAPES, axis=1)[:, : activities.shape[1]] > 0
    return np.asarray(is_on & (activities == Activity.WORK))


class XidGauge:
    """The last XID of every GPU: it stays until another, or until the node comes up again."""

    def __init__(self, plan: Plan, grid: ScrapeGrid, resets: Sequence[tuple[int, int]]) -> None:
        places = {node: place for place, node in enumerate(plan.cluster.nodes)}
        self._gpus, self._grid = plan.cluster.gpus_per_node, grid
        self._rows = self._gpus * len(places)
        told = [line for line in plan.kernel_lines if line.xid is not None and line.gpu is not None]
        events = [self._event(line, places[line.node]) for line in told]
        events += [(scrape, node * self._gpus + gpu, 0) for node, scrape in resets for gpu in range(self._gpus)]
        self._events = sorted(events, key=lambda event: event[0])

    def day(self, day: DaySlice) -> Gauges:
        """`[node and gpu, scrape]`."""
        gauge = np.zeros((self._rows, day.count), np.int64)
        for scrape, row, xid in self._events:
            if scrape < day.stop:
                gauge[row, max(scrape - day.first, 0) :] = xid
        return gauge

    def _event(self, line: KernelLinePlan, place: int) -> tuple[int, int, int]:
        row = place * self._gpus + (line.gpu or 0)
        return self._grid.scrape_from(line.at_ms), row, line.xid or 0


def rows_of(nodes: Sequence[int], gpus_per_node: int) -> Iterator[int]:
    """The places of these nodes' GPUs among all."""
    for node in nodes:
        yield from range(node * gpus_per_node, (node + 1) * gpus_per_node)
