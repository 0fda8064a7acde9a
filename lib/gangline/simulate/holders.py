"""Single-node sessions by which people keep nodes out of the next gang, so that overlaps come out as published."""

from collections.abc import Sequence
from dataclasses import dataclass

from gangline.simulate.bench import CASE_NODES, Tenure
from gangline.simulate.calibration import DAY, HOUR, MINUTE, SECOND, Calibration
from gangline.simulate.draws import Draws
from gangline.simulate.gangs import Gang
from gangline.simulate.plan import Span

LONGEST_HOLD = 6 * DAY
HAND_OVER = 90 * SECOND
LARGEST_HOLE_SHARE = 0.6
MOSTLY = 0.5
KINDS = ((0.55, 0.86, 0.99), (0.8, 0.3, 0.7), (1.0, 0.0, 0.15))
"""Nodes without a published overlap: cumulative share of nodes, least and most overlap."""


@dataclass(frozen=True, slots=True)
class Hold:
    """A session that one person keeps on one node."""

    node: str
    span: Span
    is_work: bool


def holds(draws: Draws, calibration: Calibration, found: Sequence[Tenure], gangs: Sequence[Gang]) -> list[Hold]:
    """All of them, node after node."""
    published = dict(calibration.held_share)
    held = []
    for tenure in found:
        share = published.get(tenure.node)
        share = _share(draws, tenure.node) if share is None else share
        is_work = tenure.node not in calibration.most_excluded and draws.between(0, 1) < MOSTLY
        spans = _covered(draws, calibration, tenure, gangs, share)
        held += [Hold(tenure.node, part, is_work) for span in spans for part in _parts(draws, span)]
    return held


def _share(draws: Draws, node: str) -> float:
    if node == CASE_NODES[-1]:
        return 0.0
    kind = draws.between(0, 1)
    least, most = next((least, most) for share, least, most in KINDS if kind < share)
    return draws.between(least, most)


def _spans(calibration: Calibration, tenure: Tenure, gangs: Sequence[Gang]) -> list[Span]:
    to_ms = calibration.sessions.to_ms
    return [Span(gang.started_ms, gang.ended_ms or to_ms) for gang in gangs[tenure.first : tenure.stop]]


def _stay(calibration: Calibration, tenure: Tenure, gangs: Sequence[Gang]) -> Span:
    """From between the gang sessions that the tenure begins between to between those that it ends between."""
    first, before = gangs[tenure.first], gangs[tenure.first - 1] if tenure.first else None
    from_ms = (before.ended_ms or 0) if before else first.created_ms - 6 * HOUR
    last_ms = gangs[tenure.stop - 1].ended_ms or calibration.sessions.to_ms
    to_ms = gangs[tenure.stop].created_ms if tenure.stop < len(gangs) else calibration.sessions.to_ms
    from_ms = max((from_ms + first.created_ms) // 2, first.created_ms - 40 * MINUTE)
    return Span(from_ms, max((last_ms + to_ms) // 2, min(to_ms, last_ms)))


def _covered(draws: Draws, calibration: Calibration, tenure: Tenure, gangs: Sequence[Gang], share: float) -> list[Span]:
    """Spans that cover this share of the time in which gang sessions leave the node out."""
    spans = sorted(_spans(calibration, tenure, gangs), key=lambda span: span.from_ms - span.to_ms)
    total_ms = sum(span.to_ms - span.from_ms for span in spans)
    if share >= MOSTLY:
        holes = _placed(draws, spans, round(total_ms * (1 - share)))
        return _without(_stay(calibration, tenure, gangs), holes)
    return sorted(_placed(draws, spans, round(total_ms * share)), key=lambda span: span.from_ms)


def _placed(draws: Draws, spans: Sequence[Span], total_ms: int) -> list[Span]:
    """Stretches that sum to `total_ms`, each inside one of the longest spans."""
    found: list[Span] = []
    for span in spans:
        left_ms = total_ms - sum(part.to_ms - part.from_ms for part in found)
        if left_ms <= 0:
            break
        length_ms = min(left_ms, int((span.to_ms - span.from_ms) * LARGEST_HOLE_SHARE))
        from_ms = span.from_ms + draws.whole(1, max(1, span.to_ms - span.from_ms - length_ms - 1))
        found.append(Span(from_ms, from_ms + length_ms))
    return found


def _without(stay: Span, holes: Sequence[Span]) -> list[Span]:
    edges = [stay.from_ms]
    for hole in sorted(holes, key=lambda hole: hole.from_ms):
        edges += [hole.from_ms, hole.to_ms]
    edges.append(stay.to_ms)
    return [Span(low, high) for low, high in zip(edges[::2], edges[1::2], strict=True)]


def _parts(draws: Draws, span: Span) -> list[Span]:
    """A long hold is kept up by one session after the other, the next begun before the last ends."""
    length_ms = span.to_ms - span.from_ms
    count = 1 + length_ms // LONGEST_HOLD
    cuts = [length_ms * place // count + draws.whole(-4, 4) * HOUR for place in range(1, count)]
    starts = [span.from_ms, *(span.from_ms + cut - HAND_OVER for cut in cuts)]
    ends = [*(span.from_ms + cut for cut in cuts), span.to_ms]
    return [Span(low, high) for low, high in zip(starts, ends, strict=True)]
