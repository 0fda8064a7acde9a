"""What else runs while no gang does: searches for the bad node by halves, smaller tests, single-node work."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from gangline.simulate.bench import Tenure, benched
from gangline.simulate.calibration import HOUR, MINUTE, NODES, Calibration
from gangline.simulate.draws import Draws
from gangline.simulate.gangs import Gang
from gangline.simulate.plan import Span

LONG_PAUSE = 12 * HOUR
LEAST_PAUSE = 55 * MINUTE
MARGIN = 4 * MINUTE
TEST_NODES = (2, 2, 4, 4, 8, 8, 16, 16, 24, 30, 30, 32, 47)
TESTS_IN_LONG_PAUSES = 28
WORKS = 64
WORK_NODES = 8
CANCELLED = 5


@dataclass(frozen=True, slots=True)
class Side:
    """A session beside the gang's: several nodes or one; without nodes one that was cancelled in the queue."""

    nodes: tuple[str, ...]
    span: Span
    gpus_per_node: int


@dataclass(frozen=True, slots=True)
class Pause:
    """A stretch without a gang session, and the nodes that may be used in it."""

    span: Span
    nodes: tuple[str, ...]

    @property
    def length_ms(self) -> int:
        """How long it is."""
        return self.span.to_ms - self.span.from_ms


def sides(draws: Draws, calibration: Calibration, found: Sequence[Tenure], gangs: Sequence[Gang]) -> list[Side]:
    """All sessions beside the gang's that hold no node back from it."""
    pauses = _pauses(found, gangs)
    long = [pause for pause in pauses if pause.length_ms >= LONG_PAUSE]
    short = [pause for pause in pauses if pause.length_ms < LONG_PAUSE]
    rest = calibration.other_multi_sessions - TESTS_IN_LONG_PAUSES
    tests = _tests(draws, long, TESTS_IN_LONG_PAUSES) + _tests(draws, short, rest)
    cancelled = [_cancelled(draws, pause) for pause in draws.chosen(long, CANCELLED)]
    return [*tests, *_works(draws, long), *cancelled]


def _pauses(found: Sequence[Tenure], gangs: Sequence[Gang]) -> list[Pause]:
    pauses = []
    for place, (before, after) in enumerate(pairwise(gangs)):
        span = Span((before.ended_ms or 0) + MARGIN, after.created_ms - MARGIN)
        left_out = benched(found, place) | benched(found, place + 1)
        if span.to_ms - span.from_ms > LEAST_PAUSE and after.attempt in (None, 1):
            pauses.append(Pause(span, tuple(node for node in NODES if node not in left_out)))
    return pauses


def _tests(draws: Draws, pauses: Sequence[Pause], count: int) -> list[Side]:
    """Tests on several nodes, one after the other in each pause."""
    found = []
    for pause, own in zip(pauses, draws.parts(count, len(pauses), 0), strict=True):
        slot_ms = pause.length_ms // max(own, 1)
        for place in range(own):
            length_ms = min(round(slot_ms * draws.between(0.35, 0.8)), 9 * HOUR)
            from_ms = pause.span.from_ms + place * slot_ms + draws.whole(0, slot_ms - length_ms)
            size = draws.shuffled(TEST_NODES)[0]
            nodes = draws.chosen(pause.nodes[WORK_NODES:], size)
            found.append(Side(tuple(nodes), Span(from_ms, from_ms + length_ms), 8))
    return found


def _works(draws: Draws, pauses: Sequence[Pause]) -> list[Side]:
    """Single-node work in long pauses, on nodes that no test takes."""
    found = []
    for pause, own in zip(pauses, draws.parts(WORKS, len(pauses), 1), strict=True):
        for _ in range(own):
            length_ms = round(pause.length_ms * draws.between(0.04, 0.4))
            from_ms = pause.span.from_ms + draws.whole(0, pause.length_ms - length_ms)
            node = draws.shuffled(pause.nodes[:WORK_NODES])[0]
            found.append(Side((node,), Span(from_ms, from_ms + length_ms), draws.shuffled((1, 1, 2))[0]))
    return found


def _cancelled(draws: Draws, pause: Pause) -> Side:
    from_ms = pause.span.from_ms + draws.whole(0, pause.length_ms // 2)
    return Side((), Span(from_ms, from_ms + draws.whole(3, 90) * MINUTE), 8)
