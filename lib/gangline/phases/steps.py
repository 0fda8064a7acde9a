"""One session's steps: what its own nodes wrote and read in each, how many of them told, how busy their GPUs were."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gangline.phases.stretches import Flags, Values

Counts = NDArray[np.int32]
KNOWN_MIN_RATIO = 0.9  # of a session's nodes (analyses 6)
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Flow:
    """Traffic by step: the sum over the nodes that report, not scaled up, and how many of them do."""

    bytes: Values
    reporting: Counts

    @classmethod
    def none(cls, steps: int) -> "Flow":
        """Of no node."""
        return cls(np.zeros(steps), np.zeros(steps, np.int32))


@dataclass(frozen=True, eq=False)
class SessionSteps:
    """The whole steps of one session: step k is [first_ms + k step_ms, first_ms + (k + 1) step_ms).

    Attributes
    ----------
    start_ms, until_ms
        The session itself; what lies beside its whole steps is less than one step on either side.
    members
        Nodes that are in it, by step.
    scrape_ms
        How far apart samples were, by step; 0 where nothing is known.
    writers
        Nodes that write above the threshold.
    util
        Mean over its GPUs; NaN where too few nodes tell.
    """

    start_ms: int
    until_ms: int
    first_ms: int
    step_ms: int
    members: Counts
    scrape_ms: Counts
    write: Flow
    read: Flow
    writers: Counts
    util: Values

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.members.size)

    @property
    def step_s(self) -> float:
        """Length of a step."""
        return self.step_ms / 1000

    def is_known(self, flow: Flow, own: slice = slice(None)) -> Flags:
        """Steps, or some of them, in which nine tenths of the nodes report."""
        return (self._is_read_known if flow is self.read else self._is_write_known)[own]

    @cached_property
    def _is_write_known(self) -> Flags:
        return enough(self.write.reporting, self.members)

    @cached_property
    def _is_read_known(self) -> Flags:
        return enough(self.read.reporting, self.members)

    def rate(self, flow: Flow) -> Values:
        """Bytes/s."""
        return flow.bytes / self.step_s

    def start_of(self, step: int) -> int:
        """When a step begins; the session's own start is not moved to."""
        return self.first_ms + step * self.step_ms

    def end_of(self, stop: int) -> int:
        """When steps before `stop` end; what lasts to the last step lasts to the session's end."""
        return self.until_ms if stop >= self.count else self.start_of(stop)


def enough(nodes: NDArray[np.integer], members: NDArray[np.integer]) -> Flags:
    """Whether nine tenths of the members are there.

    >>> enough(np.array([9, 8, 54, 53, 0]), np.array([10, 9, 60, 60, 0])).tolist()
    [True, False, True, False, False]
    """
    return np.asarray((members > 0) & (nodes >= KNOWN_MIN_RATIO * members - ROUNDING))
