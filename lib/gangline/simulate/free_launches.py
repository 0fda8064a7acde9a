"""Launches of a gang on a cluster of any size: hazards, repairs, retries and people, held to no figure.

One job at a time on all nodes but the spares. What fails is benched for its repair; an automatic retry follows some
failures after a delay, a person the others.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from gangline.simulate.calibration import DAY, HOUR, MINUTE, SCRAPE, SECOND
from gangline.simulate.draws import Draws, Quantiles, quantile
from gangline.simulate.plan import NodeStatePlan, Span

# The quantile function of an exponential of mean 1 in straight pieces, and the mean of those.
EXPONENTIAL: Quantiles = (
    (0.0, 0.0),
    (0.25, 0.2877),
    (0.5, 0.6931),
    (0.75, 1.3863),
    (0.9, 2.3026),
    (0.97, 3.5066),
    (0.995, 5.2983),
    (1.0, 7.6),
)
EXPONENTIAL_MEAN = sum(
    (high - low) * (low_value + high_value) / 2 for (low, low_value), (high, high_value) in pairwise(EXPONENTIAL)
)
KINDS: tuple[tuple[str, tuple[int, ...], float], ...] = (
    ("nvlink", (145, 149), 0.2),
    ("ecc", (94,), 0.2),
    ("gsp", (119,), 0.1),
    ("bus", (79,), 0.15),
    ("host", (), 0.15),
    ("network", (), 0.1),
    ("software", (), 0.1),
)
"""What breaks, with which codes, how often; software breaks no node."""
VAIN_SHARE, RETRIED_SHARE = 0.3, 0.5
RETRY_DELAY, MANUAL_SOON, MANUAL_LATE = 10 * MINUTE, (1 * MINUTE, 8 * MINUTE), (16 * MINUTE, 6 * HOUR)
VAIN_MS, REPAIR_MS = (2 * MINUTE, 7 * MINUTE), (2 * HOUR, 48 * HOUR)
LOAD_STEPS, LOAD_AFTER, STEP_AFTER = (20, 70), 2 * MINUTE, 45 * SECOND
QUEUE_MS = 40 * SECOND
MOST_NODES, MOST_DAYS, MOST_HAZARD = 20_000, 3_660, 10_000.0  # beyond, launches only fail and memory runs out
MOST_NODE_DAYS = 2_000_000


class ScaleError(ValueError):
    """A scale that leaves no gang, or no time."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How large a cluster, for how long, and how often a job on it is interrupted (per 1,000 node-days of its gang)."""

    nodes: int = 63
    days: int = 14
    spares: int = 3
    hazard: float = 7.0

    @property
    def gang(self) -> int:
        """Nodes of a gang session."""
        return self.nodes - self.spares

    def check(self) -> None:
        """Refuses what cannot be drawn.

        Raises
        ------
        ScaleError
            With the option that is at fault and what it may be.
        """
        if self.gang < 2:
            raise ScaleError(
                f"--nodes {self.nodes} less --spares {self.spares} leaves {self.gang} for the job: "
                "it needs at least 2; give more nodes or fewer spares"
            )
        for name, value, most in self._limits():
            if not 0 < value <= most:
                raise ScaleError(f"{name} {value:,.10g}: must be above 0 and at most {most:,.0f}")

    def _limits(self) -> tuple[tuple[str, float, float], ...]:
        return (
            ("--nodes", self.nodes, MOST_NODES),
            ("--days", self.days, MOST_DAYS),
            ("--hazard", self.hazard, MOST_HAZARD),
            ("--nodes times --days", self.nodes * self.days, MOST_NODE_DAYS),
        )


@dataclass(frozen=True, slots=True)
class Break:
    """What ended a launch."""

    kind: str
    node: str
    gpu: int
    xids: tuple[int, ...]
    at_ms: int


@dataclass(frozen=True, slots=True)
class Launch:
    """One gang session; without a first step it was in vain, without an end it goes on."""

    nodes: tuple[str, ...]
    started_ms: int
    ended_ms: int | None
    load_from_ms: int
    load_steps: int
    first_step_ms: int | None
    broken: Break | None
    chain: int | None = None
    attempt: int | None = None


@dataclass(frozen=True, slots=True)
class Launches:
    """All launches in order, and the nodes' repairs."""

    launches: tuple[Launch, ...]
    repairs: tuple[NodeStatePlan, ...]


def launch_all(draws: Draws, scale: Scale, nodes: tuple[str, ...], span: Span) -> Launches:
    """Runs the process over a span; the last launch may outlast it."""
    found: list[Launch] = []
    repairs: list[NodeStatePlan] = []
    at_ms = span.from_ms + 5 * MINUTE
    while at_ms < span.to_ms - HOUR:
        own = _usable(nodes, repairs, at_ms)
        if len(own) < scale.gang:
            at_ms = min(repair.to_ms for repair in repairs if repair.to_ms is not None and repair.to_ms > at_ms)
            continue
        launch = _launch(draws, scale, tuple(sorted(draws.shuffled(own)[: scale.gang])), at_ms, span)
        found.append(launch)
        if launch.ended_ms is None or launch.broken is None:
            break
        repairs += _repair(draws, launch.broken)
        at_ms = launch.ended_ms + _gap_ms(draws)
    return Launches(tuple(_chained(found)), tuple(repairs))


def _usable(nodes: tuple[str, ...], repairs: list[NodeStatePlan], at_ms: int) -> list[str]:
    away = {repair.node for repair in repairs if repair.to_ms is not None and repair.to_ms > at_ms}
    return [node for node in nodes if node not in away]


def _launch(draws: Draws, scale: Scale, nodes: tuple[str, ...], at_ms: int, span: Span) -> Launch:
    steps = draws.whole(*LOAD_STEPS)
    load_from_ms = span.from_ms + (at_ms + LOAD_AFTER - span.from_ms) // SCRAPE * SCRAPE
    if draws.between(0, 1) < VAIN_SHARE:
        ended_ms = at_ms + draws.whole(*VAIN_MS)
        return Launch(nodes, at_ms, ended_ms, load_from_ms, 0, None, _break(draws, nodes, ended_ms))
    first_ms = load_from_ms + steps * SCRAPE + STEP_AFTER
    trains_ms = quantile(EXPONENTIAL, draws.between(0, 1)) / EXPONENTIAL_MEAN * 1000 * DAY / (scale.hazard * scale.gang)
    ended_ms = first_ms + 10 * MINUTE + round(trains_ms / SECOND) * SECOND
    if ended_ms >= span.to_ms:
        return Launch(nodes, at_ms, None, load_from_ms, steps, first_ms, None)
    return Launch(nodes, at_ms, ended_ms, load_from_ms, steps, first_ms, _break(draws, nodes, ended_ms))


def _break(draws: Draws, nodes: tuple[str, ...], ended_ms: int) -> Break:
    kind, xids = _kind(draws.between(0, 1))
    node = nodes[draws.whole(0, len(nodes) - 1)]
    return Break(kind, node, draws.whole(0, 7), xids, ended_ms - draws.whole(3, 20) * SECOND)


def _kind(share: float) -> tuple[str, tuple[int, ...]]:
    """The kind, and its codes, that this share of all breaks falls on."""
    for kind, xids, often in KINDS:
        if share < often:
            return kind, xids
        share -= often
    return KINDS[-1][:2]


def _repair(draws: Draws, broken: Break) -> Iterator[NodeStatePlan]:
    if broken.kind != "software":
        from_ms = broken.at_ms + MINUTE
        yield NodeStatePlan(
            broken.node, "drained", from_ms, from_ms + draws.whole(*REPAIR_MS), f"repair: {broken.kind}"
        )


def _gap_ms(draws: Draws) -> int:
    """After some failures the scheduler's delay, after the others a person: at once, or some time later."""
    share = draws.between(0, 1)
    if share < RETRIED_SHARE:
        return RETRY_DELAY + draws.whole(5 * SECOND, 70 * SECOND)
    return draws.whole(*(MANUAL_SOON if share < (1 + RETRIED_SHARE) / 2 else MANUAL_LATE))


def _chained(found: list[Launch]) -> Iterator[Launch]:
    """The launches with their chains: those that follow the one before by the scheduler's delay."""
    chain, attempt = 0, 1
    for place, launch in enumerate(found):
        is_retry = place > 0 and _is_delayed(found[place - 1], launch)
        leads = place + 1 < len(found) and _is_delayed(launch, found[place + 1])
        chain, attempt = (chain, attempt + 1) if is_retry else (chain + leads, 1)
        yield replace(launch, chain=chain, attempt=attempt) if is_retry or leads else launch


def _is_delayed(before: Launch, after: Launch) -> bool:
    waited = after.started_ms - QUEUE_MS - (before.ended_ms or 0)
    return RETRY_DELAY - MINUTE <= waited <= RETRY_DELAY + 5 * MINUTE
