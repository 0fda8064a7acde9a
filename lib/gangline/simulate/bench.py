"""Which three nodes each gang session leaves out: three that fail again and again, and others that take turns."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from gangline.simulate.calibration import HOUR, NODES, Calibration
from gangline.simulate.draws import Draws
from gangline.simulate.gangs import TRAINED, Gang

MOST_SHARES = ((0.60, 0.72), (0.48, 0.58), (0.38, 0.47))
"""Of the gang sessions: how many leave out each of the three, at least and at most."""
LEAST_TURN = 5
TURNS = 5
HELD_TURN_H = 40
CASE_NODES = ("gpu071", "gpu122", "gpu124")
"""Nodes that leave the gang when they fail in the telemetry's time; the last one does not come back."""


@dataclass(frozen=True, slots=True)
class Tenure:
    """A node on the bench: left out by gang sessions from `first` to before `stop` (places in their order)."""

    node: str
    first: int
    stop: int


def tenures(draws: Draws, calibration: Calibration, gangs: Sequence[Gang]) -> list[Tenure] | None:
    """Draws who is left out when, or null where the shares do not come out as published.

    Changes come with launches by people: a retry runs on the nodes that it ran on.
    """
    changes = [place for place, gang in enumerate(gangs) if gang.attempt in (None, 1)]
    after_ends = [place for place in changes if place and gangs[place - 1].role == TRAINED]
    stays, turns = [], []
    for node, (least, most) in zip(calibration.most_excluded, MOST_SHARES, strict=True):
        length = round(draws.between(least, most) * len(gangs))
        first = _nearest(changes, draws.whole(0, len(gangs) - length))
        stop = _nearest([*changes, len(gangs)], first + length)
        stays.append(Tenure(node, first, stop))
        turns += _turns(draws, changes, 0, first) + _turns(draws, changes, stop, len(gangs))
    named = _named(draws, calibration, turns, after_ends, gangs)
    return named and _judged(calibration, [*stays, *named], gangs)


def benched(found: Sequence[Tenure], place: int) -> frozenset[str]:
    """The nodes that the gang session at a place leaves out."""
    return frozenset(tenure.node for tenure in found if tenure.first <= place < tenure.stop)


def _nearest(places: Sequence[int], wanted: int) -> int:
    return min(places, key=lambda place: (abs(place - wanted), place))


def _turns(draws: Draws, changes: Sequence[int], first: int, stop: int) -> list[tuple[int, int]]:
    """A stretch of one place on the bench cut into turns, at changes."""
    if stop <= first:
        return []
    cuts = [place for place in changes if first + LEAST_TURN <= place <= stop - LEAST_TURN]
    count = min(len(cuts), max((stop - first) // 22, 1 if stop - first > 14 else 0), TURNS)
    edges = [first, *draws.chosen(cuts, count), stop]
    return list(pairwise(edges))


def _named(
    draws: Draws,
    calibration: Calibration,
    turns: Sequence[tuple[int, int]],
    after_ends: Sequence[int],
    gangs: Sequence[Gang],
) -> list[Tenure] | None:
    """Turns given to nodes: to the cases after a failure, to those with a published overlap where there are hours."""
    ended = [turn for turn in turns if turn[0] in after_ends]
    last = [turn for turn in ended if turn[1] == len(gangs)]
    if not last or len(ended) < len(CASE_NODES):
        return None
    gone = last[-1]
    failed = draws.shuffled([turn for turn in ended if turn != gone])
    held_h = [(turn, hours(gangs, *turn)) for turn in [*failed[2:], *(turn for turn in turns if turn not in ended)]]
    long = draws.shuffled([turn for turn, value in held_h if value > HELD_TURN_H])
    wanted = [node for node, _ in calibration.held_share if node not in calibration.most_excluded]
    if len(failed) < 2 or len(long) < len(wanted):
        return None
    given = dict(zip([failed[0], failed[1], gone], CASE_NODES, strict=True)) | dict(zip(long, wanted, strict=False))
    taken = {*CASE_NODES, *wanted, *calibration.most_excluded, "gpu096"}
    others = iter(draws.shuffled([node for node in NODES if node not in taken]))
    return [Tenure(given[turn] if turn in given else next(others), *turn) for turn in turns]


def hours(gangs: Sequence[Gang], first: int, stop: int, until_ms: int = 0) -> float:
    """Hours of gang sessions from a place to before another; an open one counts up to `until_ms`."""
    ends = (gang.ended_ms or max(until_ms, gang.started_ms) for gang in gangs[first:stop])
    return sum(end - gang.started_ms for end, gang in zip(ends, gangs[first:stop], strict=True)) / HOUR


def _judged(calibration: Calibration, found: list[Tenure], gangs: Sequence[Gang]) -> list[Tenure] | None:
    """The draw, where three nodes of it are most left out both by sessions and by hours, in the published order."""
    top, until_ms = calibration.most_excluded, calibration.sessions.to_ms
    counts = {tenure.node: tenure.stop - tenure.first for tenure in found}
    spans = {tenure.node: hours(gangs, tenure.first, tenure.stop, until_ms) for tenure in found}
    is_ordered = counts[top[0]] > counts[top[1]] > counts[top[2]]
    others = [node for node in counts if node not in top]
    fits = len(counts) == len(found) and all(
        0.51 < sum(values[node] for node in top) / sum(values.values()) < 0.64
        and min(values[node] for node in top) > 1.2 * max(values[node] for node in others)
        for values in (counts, spans)
    )
    return found if fits and is_ordered else None
