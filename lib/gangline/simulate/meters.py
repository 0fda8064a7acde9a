"""Counters of many nodes, kept as the changes of their rate: any day of them is had without the days before."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gangline.simulate.scrape_grid import DaySlice

Counts = NDArray[np.int64]


@dataclass(eq=False)
class Meter:
    """Whole amounts that are counted per node and step.

    Attributes
    ----------
    resets
        (node, scrape) at which a node's counter begins at 0 again.
    """

    node_count: int
    resets: Sequence[tuple[int, int]] = ()
    _nodes: list[Counts] = field(default_factory=list)
    _steps: list[Counts] = field(default_factory=list)
    _deltas: list[Counts] = field(default_factory=list)
    _sorted: tuple[Counts, Counts, Counts] | None = None

    def add(self, nodes: ArrayLike, first: ArrayLike, stop: ArrayLike, per_step: ArrayLike) -> None:
        """Counts `per_step` in each of the steps [first, stop) on these nodes; the four go together as arrays do.

        Examples
        --------
        >>> meter = Meter(2)
        >>> meter.add([0, 1], 1, [2, 4], 5)
        >>> meter.counts(0, 5).tolist()
        [[0, 0, 5, 5, 5], [0, 0, 5, 10, 15]]
        """
        where, starts, stops, amounts = (
            part.ravel().astype(np.int64) for part in np.broadcast_arrays(nodes, first, stop, per_step)
        )
        is_some = (amounts != 0) & (stops > starts)
        for steps, deltas in ((starts, amounts), (stops, -amounts)):
            self._nodes.append(where[is_some])
            self._steps.append(steps[is_some])
            self._deltas.append(deltas[is_some])
        self._sorted = None

    def counts(self, first: int, stop: int) -> Counts:
        """What the counters stand at, at the scrapes [first, stop): all that was counted in the steps before."""
        counted = self._through(first, stop)
        for node, scrape in self.resets:
            if scrape < stop:
                before = self._through(scrape, scrape + 1)[node, 0]
                already = self._before(node, scrape)
                counted[node, max(scrape - first, 0) :] -= before - already
        return counted

    def rates(self, node: int, first: int, stop: int) -> Counts:
        """What one node counts in each of the steps [first, stop)."""
        return np.asarray(np.diff(self._through(first, stop + 1)[node]), np.int64)

    def day(self, day: DaySlice) -> Counts:
        """The counters at a day's scrapes."""
        return self.counts(day.first, day.stop)

    def _before(self, node: int, scrape: int) -> int:
        """What the resets before this one have taken off already."""
        earlier = [at for own, at in self.resets if own == node and at < scrape]
        return int(self._through(max(earlier), max(earlier) + 1)[node, 0]) if earlier else 0

    def _through(self, first: int, stop: int) -> Counts:
        nodes, steps, deltas = self._in_order()
        cut, end = np.searchsorted(steps, [first, stop]).tolist()
        rate, value = np.zeros(self.node_count, np.int64), np.zeros(self.node_count, np.int64)
        np.add.at(rate, nodes[:cut], deltas[:cut])
        np.add.at(value, nodes[:cut], deltas[:cut] * (first - steps[:cut]))
        rates = np.zeros((self.node_count, stop - first), np.int64)
        rates[:, 0] = rate
        np.add.at(rates, (nodes[cut:end], steps[cut:end] - first), deltas[cut:end])
        counted = np.empty_like(rates)
        counted[:, 0] = value
        np.cumsum(np.cumsum(rates, axis=1)[:, :-1], axis=1, out=counted[:, 1:])
        counted[:, 1:] += value[:, None]
        return counted

    def _in_order(self) -> tuple[Counts, Counts, Counts]:
        if self._sorted is None:
            empty = np.empty(0, np.int64)
            nodes, steps, deltas = (np.concatenate([empty, *part]) for part in (self._nodes, self._steps, self._deltas))
            order = np.argsort(steps, kind="stable")
            self._sorted = nodes[order], steps[order], deltas[order]
        return self._sorted
