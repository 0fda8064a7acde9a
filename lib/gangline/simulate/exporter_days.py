"""The rest of what exporters give: every series of the table, for some nodes of a day at a time.

Each number hangs on the seed, the series' row, the node and the scrape alone (Philox: a key, a counter and no state),
and counters stand at what the steps before made of them: any part of any day is had without the others.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gangline.simulate.activities import Activity, ActivityDays
from gangline.simulate.exporter_instances import instances_of
from gangline.simulate.exporter_metrics import ExporterMetric, exporter_metrics
from gangline.simulate.meters import Meter
from gangline.simulate.number_texts import Integers
from gangline.simulate.plan import Plan
from gangline.simulate.scrape_grid import DaySlice, ScrapeGrid
from gangline.simulate.scrape_targets import ScrapeTargets
from gangline.simulate.vm_lines import Labels, SeriesBlock, Target

NODES_PER_PART = 16
BLOCK_NUMBERS = 1 << 20  # held at once: some 100 MB with their texts
SLOW_SCRAPES = 20  # ten minutes at 30 s
BUSY = (Activity.TEST, Activity.TRAIN)


@dataclass(frozen=True)
class DayPart:
    """Some nodes (by place) of a day: what one file holds."""

    day: DaySlice
    nodes: range


@dataclass(frozen=True, eq=False)
class _Clocks:
    """`[node, scrape]`: steps since the node came up, those of them in which it trained, and whether it does."""

    steps: Integers
    busy_steps: Integers
    is_busy: NDArray[np.bool_]


class ExporterDays:
    """Holds what days have in common."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.grid = plan, ScrapeGrid.of(plan)
        self._targets = ScrapeTargets(plan, self.grid)
        self._activities = ActivityDays(plan, self.grid)
        count = len(plan.cluster.nodes)
        self._steps, self._busy_steps = (Meter(count, self._targets.resets) for _ in range(2))
        self._steps.add(np.arange(count), 0, self.grid.count, 1)
        for stretch in self._activities.stretches:
            if stretch.activity in BUSY:
                self._busy_steps.add(list(stretch.nodes), stretch.first, stretch.stop, 1)

    def targets(self, day: DaySlice) -> list[Target]:
        """Who was scraped on a day."""
        return self._targets.day(day)

    def blocks(self, part: DayPart) -> Iterator[SeriesBlock]:
        """All series of a part, a few nodes of one metric at a time."""
        clocks = self._clocks(part.day)
        for row in exporter_metrics():
            width = len(self._labels(row, part.nodes[0])) * part.day.count
            nodes = max(BLOCK_NUMBERS // width, 1)
            for first in range(0, len(part.nodes), nodes):
                yield self._block(row, part.day, part.nodes[first : first + nodes], clocks)

    def _clocks(self, day: DaySlice) -> _Clocks:
        is_busy = np.isin(self._activities.day(day), BUSY)
        return _Clocks(self._steps.day(day), self._busy_steps.day(day), is_busy)

    def _block(self, row: ExporterMetric, day: DaySlice, nodes: Sequence[int], clocks: _Clocks) -> SeriesBlock:
        labels = [self._labels(row, node) for node in nodes]
        targets = [self._targets.place(row.job, node) for node, own in zip(nodes, labels, strict=True) for _ in own]
        values = [self._values(row, day, node, len(own), clocks) for node, own in zip(nodes, labels, strict=True)]
        return SeriesBlock(
            row.metric, targets, [own for each in labels for own in each], np.concatenate(values), row.decimals
        )

    def _labels(self, row: ExporterMetric, node: int) -> list[Labels]:
        own = row.own_labels
        cluster = self.plan.cluster
        return [{**labels, **own} for labels in instances_of(row.instances, cluster.nodes[node], cluster.gpus_per_node)]

    def _values(self, row: ExporterMetric, day: DaySlice, node: int, count: int, clocks: _Clocks) -> Integers:
        """`[instance, scrape]`."""
        if row.kind == "counter":
            course = _counted(row, clocks.steps[node], clocks.busy_steps[node])
        else:
            course = np.where(clocks.is_busy[node], row.busy, row.idle)
        if row.spread == 0:
            return np.broadcast_to(course, (count, day.count))
        return course + self._drawn(row, day, node, count)

    def _drawn(self, row: ExporterMetric, day: DaySlice, node: int, count: int) -> Integers:
        key = [self.plan.seed, zlib.crc32(f"{row.metric};{row.labels}".encode())]
        numbers = np.random.Generator(np.random.Philox(key=key, counter=[0, node, day.first, 0]))
        if row.moves == "always":
            return numbers.integers(0, row.spread, (count, day.count), endpoint=True)
        held = numbers.integers(0, row.spread, (count, -(-day.count // SLOW_SCRAPES)), endpoint=True)
        return np.repeat(held, SLOW_SCRAPES, axis=1)[:, : day.count]


def _counted(row: ExporterMetric, steps: Integers, busy_steps: Integers) -> Integers:
    """What a counter stands at but for what is drawn; a slow one goes on every ten minutes after its node came up."""
    if row.moves == "slowly":
        steps, busy_steps = steps // SLOW_SCRAPES, busy_steps // SLOW_SCRAPES
    return row.idle * steps + (row.busy - row.idle) * busy_steps


def day_parts(plan: Plan) -> list[DayPart]:
    """The parts of all days, in order."""
    everywhere = range(len(plan.cluster.nodes))
    parts = [everywhere[first : first + NODES_PER_PART] for first in range(0, len(everywhere), NODES_PER_PART)]
    return [DayPart(day, nodes) for day in ScrapeGrid.of(plan).days() for nodes in parts]
