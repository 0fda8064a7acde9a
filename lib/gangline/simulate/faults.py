"""Why gang sessions ended: faults of nodes, most of them at the end of training, some in a launch after it."""

from collections.abc import Sequence
from dataclasses import dataclass

from gangline.simulate.bench import Tenure, benched
from gangline.simulate.calibration import NODES, SECOND, Calibration
from gangline.simulate.draws import Draws
from gangline.simulate.gangs import BARREN, FAILED, TRAINED, Gang

DOWNTIMES_WITH_FAULT = 14
XID_FAULTS: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("nvlink", (149,)),
    ("nvlink", (145, 149)),
    ("gsp", (119,)),
    ("gsp", (119,)),
    ("bus", (79,)),
    ("ecc", (48, 63, 95)),
    ("ecc", (94, 63, 64)),
)
"""Beside those of the cases: with these, 10 of 21 faults have codes, and 5 of 17 codes are of NVLink."""
OTHER_FAULTS = ("host", "host", "host", "host", "network", "network", "network", "storage", "storage", "bus")
CASE_FAULTS: dict[str, tuple[str, tuple[int, ...]]] = {
    "gpu071": ("nvlink", (145, 149, 79)),
    "gpu096": ("ecc", (94,)),
    "gpu122": ("ecc", (94,)),
    "gpu124": ("bus", ()),
}
ECC_NODE = "gpu096"


@dataclass(frozen=True, slots=True)
class Fault:
    """What broke, where, and which gang session (by place) ended of it."""

    kind: str
    node: str
    gpu: int | None
    xids: tuple[int, ...]
    gang: int
    before_end_ms: int


def faults(
    draws: Draws, calibration: Calibration, found: Sequence[Tenure], gangs: Sequence[Gang]
) -> list[Fault] | None:
    """The 21 faults in 14 downtimes of the telemetry's time, or null where the draw has no place for them."""
    ends = _ends(calibration, gangs)
    leaving = {tenure.first - 1: tenure.node for tenure in found if tenure.first - 1 in ends}
    kept = _quickly_retried(gangs, ends, leaving)
    if (
        len(leaving) + 1 > DOWNTIMES_WITH_FAULT
        or kept is None
        or not set(CASE_FAULTS) - {ECC_NODE} <= {*leaving.values()}
    ):
        return None
    rest = [place for place in ends if place not in leaving and place != kept]
    more = draws.chosen(rest, DOWNTIMES_WITH_FAULT - len(leaving) - 1)
    firsts = {**leaving, kept: ECC_NODE, **{place: _other_node(draws, found, place) for place in more}}
    vain = _in_vain(gangs, sorted(firsts))
    if len(vain) < 7 or ECC_NODE in benched(found, kept):
        return None
    extra = {place: _other_node(draws, found, place) for place in draws.chosen(vain, 7)}
    return _given(draws, firsts, extra)


def _ends(calibration: Calibration, gangs: Sequence[Gang]) -> list[int]:
    """Places of sessions that trained and ended within the telemetry."""
    span = calibration.telemetry
    return [
        place
        for place, gang in enumerate(gangs)
        if gang.role == TRAINED and gang.ended_ms is not None and span.from_ms <= gang.ended_ms < span.to_ms
    ]


def _quickly_retried(gangs: Sequence[Gang], ends: Sequence[int], leaving: dict[int, str]) -> int | None:
    """The end that one retry mended at once: the fault does not ask for the node to leave."""
    found = [place for place in ends if place not in leaving and _is_mended_at_once(gangs, place)]
    return found[0] if found else None


def _is_mended_at_once(gangs: Sequence[Gang], place: int) -> bool:
    after = gangs[place + 1]
    waited_ms = after.started_ms - (gangs[place].ended_ms or 0)
    return after.attempt == 2 and after.role == TRAINED and waited_ms < 900 * SECOND


def _in_vain(gangs: Sequence[Gang], firsts: Sequence[int]) -> list[int]:
    """Launches by hand that failed in the downtimes that these ends opened."""
    found = []
    for first in firsts:
        place = first + 1
        while place < len(gangs) and gangs[place].role in (FAILED, BARREN):
            found += [place] if gangs[place].attempt is None else []
            place += 1
    return found


def _other_node(draws: Draws, found: Sequence[Tenure], place: int) -> str:
    left_out = benched(found, place) | set(CASE_FAULTS)
    return draws.shuffled([node for node in NODES if node not in left_out])[0]


def _given(draws: Draws, firsts: dict[int, str], extra: dict[int, str]) -> list[Fault]:
    """Kinds and codes given to all that are of no case."""
    plain = [(place, node) for place, node in {**firsts, **extra}.items() if node not in CASE_FAULTS]
    kinds = draws.shuffled([*XID_FAULTS, *((kind, ()) for kind in OTHER_FAULTS)])
    drawn = {place: kind for (place, _), kind in zip(plain, kinds, strict=True)}
    faults = []
    for place, node in sorted({**firsts, **extra}.items()):
        kind, xids = CASE_FAULTS[node] if node in CASE_FAULTS else drawn[place]
        has_gpu = bool(xids) or kind == "bus"
        gpu = draws.whole(0, 7) if has_gpu else None
        faults.append(Fault(kind, node, gpu, xids, place, draws.whole(3, 6) * SECOND))
    return faults
