"""The phase of each step of a session: unknown, a save, a load, or training (analyses 6)."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from gangline.counters import GAP_STEPS
from gangline.phases.rules import Rules
from gangline.phases.steps import SessionSteps
from gangline.phases.stretches import ROUNDING, Flags, Stretch, runs

IDLE_MAX_UTIL = 0.5  # below it, a step that reads is a load


class Phase(IntEnum):
    """What a step is."""

    UNKNOWN = 0
    SAVE = 1
    LOAD = 2
    TRAINING = 3

    @property
    def word(self) -> str:
        """As marts have it."""
        return self.name.lower()


Phases = NDArray[np.int8]
PhaseSpan = tuple[Phase, int, int]
"""A phase, when it began and when it ended, in ms."""


def phases_of(steps: SessionSteps, rules: Rules, saves: list[Stretch]) -> Phases:
    """The phase of every step.

    A step that may be a load or not, because what it reads or how busy its GPUs are is not known, is unknown: where
    either of the two rules it out, it is training.
    """
    is_load, is_training = _told(steps, rules)
    phases = np.where(is_load, Phase.LOAD, np.where(is_training, Phase.TRAINING, Phase.UNKNOWN)).astype(np.int8)
    for first, stop in saves:
        phases[first:stop] = Phase.SAVE
    tells_saves = rules.save_start_bytes_per_s is not None
    phases[~steps.is_known(steps.write if tells_saves else steps.read)] = Phase.UNKNOWN
    return phases


def load_stretches(phases: Phases) -> list[Stretch]:
    """Stretches of loading; one or two unknown steps between loads do not break them."""
    found: list[Stretch] = []
    unknown = 0
    for first, stop, phase in runs(phases):
        if phase == Phase.LOAD:
            joins = bool(found) and 0 < unknown <= GAP_STEPS and found[-1][1] == first - unknown
            found[-1:] = [(found[-1][0], stop)] if joins else [*found[-1:], (first, stop)]
        unknown = stop - first if phase == Phase.UNKNOWN else 0
    return found


def spans_of(steps: SessionSteps, phases: Phases) -> list[PhaseSpan]:
    """Runs of one phase, in time; they tile the session, what is no whole step being unknown."""
    pieces = [(Phase.UNKNOWN, steps.start_ms, min(steps.first_ms, steps.until_ms))]
    pieces += [(Phase(phase), steps.start_of(first), steps.start_of(stop)) for first, stop, phase in runs(phases)]
    pieces.append((Phase.UNKNOWN, pieces[-1][2], steps.until_ms))
    spans: list[PhaseSpan] = []
    for phase, start_ms, end_ms in pieces:
        if start_ms == end_ms:
            continue
        if spans and spans[-1][0] == phase:
            spans[-1] = (phase, spans[-1][1], end_ms)
        else:
            spans.append((phase, start_ms, end_ms))
    return spans


def _told(steps: SessionSteps, rules: Rules) -> tuple[Flags, Flags]:
    """Steps that are loads if they are no saves, and steps that are none."""
    is_busy, is_idle = steps.util >= IDLE_MAX_UTIL - ROUNDING, steps.util < IDLE_MAX_UTIL - ROUNDING
    if rules.load_read_bytes_per_s is None:
        return np.zeros(steps.count, bool), is_busy
    is_read_known = steps.is_known(steps.read)
    is_reading = steps.rate(steps.read) > rules.load_read_bytes_per_s * (1 + ROUNDING)
    return is_idle & is_read_known & is_reading, is_busy | (is_read_known & ~is_reading)
