"""What every node is busy with at every scrape, as the plan's sessions, loads, runs and states say."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from gangline.simulate.plan import Plan, SessionPlan
from gangline.simulate.scrape_grid import DaySlice, ScrapeGrid

Activities = NDArray[np.int8]
Shares = NDArray[np.float64]


class Activity(IntEnum):
    """What a node does; a later one that covers the same scrape wins."""

    IDLE = 0
    HOLD = 1  # a person keeps it; its GPUs idle
    WORK = 2  # evaluation and conversion: busy now and then
    TEST = 3  # a smaller training that somebody tries out
    START = 4  # a gang session whose GPUs have nothing to do yet, or any more
    LOAD = 5
    TRAIN = 6


@dataclass(frozen=True)
class Stretch:
    """Nodes (by place) that do something at the scrapes [first, stop)."""

    nodes: tuple[int, ...]
    first: int
    stop: int
    activity: Activity


@dataclass(frozen=True)
class Stall:
    """Nodes whose GPUs wait for a save, from and until an instant after the grid's start (ms)."""

    nodes: tuple[int, ...]
    from_ms: int
    until_ms: int


class ActivityDays:
    """The activities of a plan, a day at a time."""

    def __init__(self, plan: Plan, grid: ScrapeGrid) -> None:
        self.grid = grid
        self.places = {node: place for place, node in enumerate(plan.cluster.nodes)}
        self.stretches = sorted(self._found(plan), key=lambda stretch: stretch.activity)
        self._stalls = list(self._waited(plan))

    def day(self, day: DaySlice) -> Activities:
        """`[node, scrape]`: what each node does at each of the day's scrapes."""
        activities = np.full((len(self.places), day.count), Activity.IDLE, np.int8)
        for stretch in self.stretches:
            first, stop = max(stretch.first - day.first, 0), min(stretch.stop - day.first, day.count)
            if first < stop:
                activities[list(stretch.nodes), first:stop] = stretch.activity
        return activities

    def stalled(self, day: DaySlice) -> Shares:
        """`[node, scrape]`: which share of the scrape step before it the node's GPUs waited for a save."""
        shares = np.zeros((len(self.places), day.count))
        step = self.grid.step_ms
        for stall in self._stalls:
            first, last = stall.from_ms // step + 1, -(-stall.until_ms // step)
            for scrape in range(max(first, day.first), min(last + 1, day.stop)):
                waited = min(stall.until_ms, scrape * step) - max(stall.from_ms, (scrape - 1) * step)
                shares[list(stall.nodes), scrape - day.first] += waited / step
        return shares

    def _found(self, plan: Plan) -> Iterator[Stretch]:
        runs = {run.session_id: run for run in plan.runs}
        for session in plan.sessions:
            if session.started_ms is None:
                continue
            yield self._stretch(session.nodes, session.started_ms, session.ended_ms, _own(session))
            run = runs.get(session.session_id)
            if run is not None and run.first_step_ms is not None:
                yield self._stretch(session.nodes, run.first_step_ms, run.ended_ms, Activity.TRAIN)
        nodes = {session.session_id: session.nodes for session in plan.sessions}
        for load in plan.loads:
            yield self._stretch(nodes[load.session_id], load.started_ms, load.ended_ms, Activity.LOAD)

    def _stretch(self, nodes: Sequence[str], from_ms: int, to_ms: int | None, activity: Activity) -> Stretch:
        first, stop = self.grid.scrape_from(from_ms), self.grid.scrape_from(to_ms)
        return Stretch(tuple(self.places[node] for node in nodes), first, stop, activity)

    def _waited(self, plan: Plan) -> Iterator[Stall]:
        nodes = {session.session_id: session.nodes for session in plan.sessions}
        for save in plan.saves:
            from_ms = save.started_ms - self.grid.from_ms
            own = tuple(self.places[node] for node in nodes[save.session_id])
            yield Stall(own, from_ms, from_ms + save.stall_ms)


def _own(session: SessionPlan) -> Activity:
    if session.purpose == "hold":
        return Activity.HOLD
    if session.kind == "single":
        return Activity.WORK
    return Activity.START if session.kind == "gang" else Activity.TEST
