"""Saves of a session, told from what its nodes write, and what they cost by GPU use (analyses 6)."""

from dataclasses import dataclass

import numpy as np

from gangline.counters import GAP_STEPS
from gangline.phases.bursts import Burst
from gangline.phases.rules import Rules
from gangline.phases.steps import SessionSteps
from gangline.phases.stretches import Stretch, Values, merged, risen


@dataclass(frozen=True)
class Save:
    """One save.

    Attributes
    ----------
    writer_nodes
        Nodes that wrote above the threshold in one step, the most over the save.
    util_stall_s
        See `stall_s`.
    is_completed
        Whether it ended before its session.
    is_span_seen
        Whether at most two steps in a row are unknown beside its start and before its end.
    """

    burst: Burst
    writer_nodes: int
    util_stall_s: float | None
    is_completed: bool
    is_span_seen: bool


def save_stretches(steps: SessionSteps, rules: Rules) -> list[Stretch]:
    """Steps of each save; none where there is no threshold."""
    start, end = rules.save_start_bytes_per_s, rules.save_end_bytes_per_s
    if start is None or end is None:
        return []
    found = risen(steps.rate(steps.write), steps.is_known(steps.write), start, end)
    return merged(found, rules.save_merge_s / steps.step_s)


def measured_save(steps: SessionSteps, stretch: Stretch, training_util: float | None) -> Save:
    """What is known of the save of these steps."""
    first, stop = stretch
    return Save(
        Burst.of(steps, steps.write, stretch),
        int(steps.writers[first:stop].max()),
        stall_s(steps.util[max(0, first - 1) : stop + 1], training_util, steps.step_s),
        stop < steps.count,
        _is_seen(steps, stretch),
    )


def stall_s(util: Values, training_util: float | None, step_s: float) -> float | None:
    """Seconds of training lost: the sum of (1 - use over that of training) x step, floored once at 0.

    Null where the use of a step is not known, or no training was seen.

    Examples
    --------
    >>> stall_s(np.array([0.95, 0.38, 0.19, 0.95]), 0.95, 30.0)
    42.0
    """
    if not training_util or np.isnan(util).any():
        return None
    return max(0.0, float((1 - util / training_util).sum() * step_s))


def _is_seen(steps: SessionSteps, stretch: Stretch) -> bool:
    nears = [slice(max(0, step - GAP_STEPS - 1), step) for step in stretch]
    return all(near.stop <= GAP_STEPS or bool(steps.is_known(steps.write, near).any()) for near in nears)
