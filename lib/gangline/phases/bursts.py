"""A stretch of traffic: when, how much, how fast, and how much of that is known."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from gangline.phases.steps import Flow, SessionSteps
from gangline.phases.stretches import Stretch


@dataclass(frozen=True)
class Burst:
    """Bytes are those of nodes that report, in every step; rates those of known steps, null where none is.

    Attributes
    ----------
    step_s
        The scrape step, the coarsest meanwhile.
    known_s
        Seconds in known steps.
    node_count, reporting_nodes
        Nodes of the session, the most; nodes that report in a known step, the fewest.
    """

    stretch: Stretch
    start_ms: int
    end_ms: int
    step_s: float
    bytes: float
    known_s: float
    mean_bytes_per_s: float | None
    peak_bytes_per_s: float | None
    node_count: int
    reporting_nodes: int | None

    @classmethod
    def of(cls, steps: SessionSteps, flow: Flow, stretch: Stretch) -> Self:
        """Measures a stretch of steps."""
        own = slice(*stretch)
        counted, is_known = flow.bytes[own], steps.is_known(flow, own)
        known = counted[is_known]
        return cls(
            stretch,
            steps.start_of(stretch[0]),
            steps.end_of(stretch[1]),
            max(steps.step_ms, int(steps.scrape_ms[own].max())) / 1000,
            float(counted.sum()),
            known.size * steps.step_s,
            float(known.mean()) / steps.step_s if known.size else None,
            float(known.max()) / steps.step_s if known.size else None,
            int(steps.members[own].max()),
            int(np.min(flow.reporting[own][is_known])) if known.size else None,
        )
