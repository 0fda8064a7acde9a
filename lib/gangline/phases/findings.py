"""All that the steps of one session tell: its saves, loads and phases."""

from dataclasses import dataclass

import numpy as np

from gangline.phases.bursts import Burst
from gangline.phases.classing import Phase, Phases, PhaseSpan, load_stretches, phases_of, spans_of
from gangline.phases.rules import Rules
from gangline.phases.saves import Save, measured_save, save_stretches
from gangline.phases.steps import SessionSteps


@dataclass(frozen=True)
class Findings:
    """What was found in one session, and in how many of its steps enough nodes told.

    Attributes
    ----------
    training_util
        Median GPU use over steps of training; null where there is none.
    spans
        Phases that tile the session; none where no threshold tells saves, or nothing is known.
    known_span
        When the first known step begins and the last one ends, in ms; null where there is none.
    """

    saves: list[Save]
    loads: list[Burst]
    spans: list[PhaseSpan]
    training_util: float | None
    known_steps: int
    read_steps: int
    util_steps: int
    known_span: tuple[int, int] | None


def found_in(steps: SessionSteps, rules: Rules) -> Findings:
    """Reads the steps of one session."""
    stretches = save_stretches(steps, rules)
    phases = phases_of(steps, rules, stretches)
    training_util = _training_util(steps, phases)
    known = np.flatnonzero(steps.is_known(steps.write))
    tells_saves = rules.save_start_bytes_per_s is not None
    return Findings(
        [measured_save(steps, stretch, training_util) for stretch in stretches],
        [Burst.of(steps, steps.read, stretch) for stretch in load_stretches(phases)],
        spans_of(steps, phases) if tells_saves and known.size else [],
        training_util,
        int(known.size),
        int(steps.is_known(steps.read).sum()),
        int((~np.isnan(steps.util)).sum()),
        (steps.start_of(int(known[0])), steps.end_of(int(known[-1]) + 1)) if known.size else None,
    )


def _training_util(steps: SessionSteps, phases: Phases) -> float | None:
    util = steps.util[(phases == Phase.TRAINING) & ~np.isnan(steps.util)]
    return float(np.median(util)) if util.size else None
