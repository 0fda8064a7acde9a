"""Who is scraped: the exporters of every node, and the scrapes that they did not answer."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gangline.simulate.hardware import PORT_OF_JOB, target_labels
from gangline.simulate.plan import Plan
from gangline.simulate.scrape_grid import DaySlice, ScrapeGrid
from gangline.simulate.vm_lines import Target

JOBS = tuple(PORT_OF_JOB)


@dataclass(frozen=True)
class _Gap:
    """Scrapes [first, stop) of a node's exporters that were not answered; `job` null for all of them."""

    node: str
    job: str | None
    first: int
    stop: int


class ScrapeTargets:
    """The targets of a plan: job by job in the order of `JOBS`, node by node in each."""

    def __init__(self, plan: Plan, grid: ScrapeGrid) -> None:
        self._grid, self._nodes = grid, plan.cluster.nodes
        down = [state for state in plan.node_states if state.state == "down"]
        self._gaps = [self._gap(state.node, None, state.from_ms, state.to_ms) for state in down]
        self._gaps += [self._gap(gap.node, gap.job, gap.span.from_ms, gap.span.to_ms) for gap in plan.outages]
        places = {node: place for place, node in enumerate(self._nodes)}
        ends = {(places[state.node], grid.scrape_from(state.to_ms)) for state in down if state.to_ms is not None}
        self.resets = sorted((node, scrape) for node, scrape in ends if 0 < scrape < grid.count)

    def place(self, job: str, node: int) -> int:
        """A target's place in the list."""
        return JOBS.index(job) * len(self._nodes) + node

    def day(self, day: DaySlice) -> list[Target]:
        """All targets with a day's scrapes."""
        times = self._grid.times_ms(day)
        return [
            Target(target_labels(job, node), times, self._answered(job, node, day))
            for job in JOBS
            for node in self._nodes
        ]

    def _answered(self, job: str, node: str, day: DaySlice) -> NDArray[np.bool_] | None:
        """Which scrapes were answered; null where all were."""
        own = [gap for gap in self._gaps if gap.node == node and gap.job in (None, job)]
        own = [gap for gap in own if gap.first < day.stop and gap.stop > day.first]
        if not own:
            return None
        is_answered = np.ones(day.count, bool)
        for gap in own:
            is_answered[max(gap.first - day.first, 0) : max(gap.stop - day.first, 0)] = False
        return is_answered

    def _gap(self, node: str, job: str | None, from_ms: int, to_ms: int | None) -> _Gap:
        return _Gap(node, job, self._grid.scrape_from(from_ms), self._grid.scrape_from(to_ms))
