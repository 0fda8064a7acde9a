"""A session's steps, filled day by day."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gangline.phases.counted import SeriesCounts, StepCounts
from gangline.phases.steps import ROUNDING, Counts, Flow, SessionSteps, enough
from gangline.phases.stretches import Values
from gangline.roles.gpu_use import NodeSums
from gangline.store.matrix import Grid

WHOLE_MS = 1000
HALF = 0.5
Span = tuple[int, int]
"""Steps [first, stop) of a session."""


def to_seconds(step_ms: int) -> int:
    """A scrape step without its jitter: to a second where it is one or more, in ms.

    >>> to_seconds(60_002), to_seconds(250)
    (60000, 250)
    """
    return max(1, round(step_ms / WHOLE_MS)) * WHOLE_MS if step_ms >= WHOLE_MS else max(1, step_ms)


@dataclass(frozen=True)
class Beat:
    """The steps [origin + k step, origin + (k + 1) step) for every whole k."""

    step_ms: int
    origin_ms: int

    @classmethod
    def of(cls, series: Iterable[SeriesCounts]) -> "Beat":
        """The commonest scrape step, the longer of equals, from where most scrapes fall, else from 1970."""
        counted = list(series)
        steps = Counter(to_seconds(each.scrape_ms) for each in counted)
        step_ms = max(steps, key=lambda step: (steps[step], step))
        origins = Counter(each.last_ms % step_ms // WHOLE_MS * WHOLE_MS for each in counted)
        origin_ms, count = min(origins.items(), key=lambda origin: (-origin[1], origin[0]))
        return cls(step_ms, origin_ms if count > HALF * len(counted) else 0)

    def first(self, start_ms: int) -> int:
        """The first step that begins at an instant or later."""
        return -(-(start_ms - self.origin_ms) // self.step_ms)

    def stop(self, end_ms: int) -> int:
        """The first step that ends later than an instant."""
        return (end_ms - self.origin_ms) // self.step_ms

    def grid(self, start_ms: int, end_ms: int) -> Grid:
        """The steps that begin in [start, end)."""
        first = self.first(start_ms)
        return Grid(self.origin_ms + first * self.step_ms, self.step_ms, self.first(end_ms) - first)


@dataclass(frozen=True)
class Member:
    """A node of a session, and how many GPUs of it the session holds at most."""

    node: str
    start_ms: int
    until_ms: int
    gpus: float


@dataclass(eq=False)
class _Steps:
    """Steps of a session on a beat: which of them each member is in for, counted from the session's first one."""

    beat: Beat
    first: int
    spans: list[Span]
    members: Counts

    @classmethod
    def of(cls, members: list[Member], beat: Beat) -> "_Steps":
        start_ms, until_ms = min(each.start_ms for each in members), max(each.until_ms for each in members)
        first, count = beat.first(start_ms), max(0, beat.stop(until_ms) - beat.first(start_ms))
        spans = [(beat.first(each.start_ms) - first, max(0, beat.stop(each.until_ms) - first)) for each in members]
        inside = np.zeros(count, np.int32)
        for begin, stop in spans:
            inside[begin:stop] += 1
        return cls(beat, first, spans, inside)

    @cached_property
    def alike(self) -> dict[Span, list[int]]:
        """Places of the members that are in for the same steps."""
        places: dict[Span, list[int]] = {}
        for place, span in enumerate(self.spans):
            places.setdefault(span, []).append(place)
        return places

    def meeting(self, span: Span, grid: Grid) -> tuple[slice, slice]:
        """The steps of a grid that a member is in for: among its session's steps and among the grid's."""
        shift = (grid.start_ms - self.beat.origin_ms) // self.beat.step_ms - self.first
        begin, stop = max(span[0], shift), min(span[1], shift + grid.step_count)
        stop = max(begin, stop)
        return slice(begin, stop), slice(begin - shift, stop - shift)


@dataclass(eq=False)
class Gathering:
    """What is known of one session so far; `beat` and `util_beat` are null until something of it is."""

    session_key: int
    members: list[Member]
    beat: Beat | None = None
    util_beat: Beat | None = None
    write: Flow = field(default_factory=lambda: Flow.none(0))
    read: Flow = field(default_factory=lambda: Flow.none(0))

    def __post_init__(self) -> None:
        self.start_ms = min(member.start_ms for member in self.members)
        self.until_ms = max(member.until_ms for member in self.members)

    def begin(self, beat: Beat) -> None:
        """Lays out its steps; nothing of them is known."""
        self.beat = beat
        self._steps = _Steps.of(self.members, beat)
        count = self._steps.members.size
        self.write, self.read = Flow.none(count), Flow.none(count)
        self._writers, self._scrape_ms = np.zeros(count, np.int32), np.zeros(count, np.int32)

    def begin_util(self, beat: Beat) -> None:
        """Lays out the steps of GPU use."""
        self.util_beat = beat
        self._util_steps = _Steps.of(self.members, beat)
        count = self._util_steps.members.size
        self._util, self._gpus = np.zeros(count), np.zeros(count)
        self._util_nodes = np.zeros(count, np.int32)

    def take_written(self, grid: Grid, written: dict[str, StepCounts], writer_min_bytes_per_s: float) -> None:
        """Goes on with what nodes wrote in some steps."""
        most = writer_min_bytes_per_s * grid.step_ms / 1000 * (1 + ROUNDING)
        for own, there, nodes in self._present(written, grid):
            _add(self.write, own, nodes, there)
            writers = self._writers[own]
            for steps in nodes:
                writers += steps.counted[there] > most

    def take_read(self, grid: Grid, read: dict[str, StepCounts]) -> None:
        """Goes on with what nodes read in some steps."""
        for own, there, nodes in self._present(read, grid):
            _add(self.read, own, nodes, there)

    def take_scrapes(self, grid: Grid, scrape_ms: int) -> None:
        """Notes how far apart samples were in some steps."""
        shift = (grid.start_ms - self._steps.beat.origin_ms) // grid.step_ms - self._steps.first
        self._scrape_ms[max(0, shift) : max(0, shift + grid.step_count)] = scrape_ms

    def take_util(self, grid: Grid, sums: NodeSums, places: dict[str, int]) -> None:
        """Goes on with GPU use in some steps; a node with more GPUs than the session holds of it is not known."""
        for number, member in enumerate(self.members):
            own, there = self._util_steps.meeting(self._util_steps.spans[number], grid)
            if own.start >= own.stop:
                continue
            total, gpus = sums.total[places[member.node], there], sums.count[places[member.node], there]
            is_known = (gpus > 0) & (gpus <= member.gpus + ROUNDING)
            self._util[own] += np.where(is_known, total, 0.0)
            self._gpus[own] += np.where(is_known, gpus, 0.0)
            self._util_nodes[own] += is_known

    def steps(self) -> SessionSteps:
        """Everything that was gathered."""
        assert self.beat is not None
        first_ms = self.beat.origin_ms + self._steps.first * self.beat.step_ms
        return SessionSteps(
            self.start_ms,
            self.until_ms,
            first_ms,
            self.beat.step_ms,
            self._steps.members,
            self._scrape_ms,
            self.write,
            self.read,
            self._writers,
            self._util_by_step(),
        )

    def _present(self, counted: dict[str, StepCounts], grid: Grid) -> Iterator[tuple[slice, slice, list[StepCounts]]]:
        """What members counted that are in for the same of these steps."""
        for span, places in self._steps.alike.items():
            own, there = self._steps.meeting(span, grid)
            if own.start < own.stop:
                nodes = [self.members[place].node for place in places]
                yield own, there, [counted[node] for node in nodes if node in counted]

    def _util_by_step(self) -> Values:
        """Mean GPU use in each step of traffic: of the steps of GPU use that it touches, those that are known."""
        count = self._steps.members.size
        if self.util_beat is None:
            return np.full(count, np.nan)
        is_known = enough(self._util_nodes, self._util_steps.members)
        util = np.where(is_known, self._util / np.maximum(self._gpus, 1.0), np.nan)
        if self.util_beat == self.beat:
            return util
        return self._onto_beat(util, count)

    def _onto_beat(self, util: Values, count: int) -> Values:
        beat, of_util = self._steps.beat, self._util_steps
        starts = beat.origin_ms + (self._steps.first + np.arange(count)) * beat.step_ms - of_util.beat.origin_ms
        lows = np.clip(starts // of_util.beat.step_ms - of_util.first, 0, util.size)
        highs = np.clip(-(-(starts + beat.step_ms) // of_util.beat.step_ms) - of_util.first, 0, util.size)
        is_known = ~np.isnan(util)
        total = np.concatenate([[0.0], np.cumsum(np.where(is_known, util, 0.0))])
        known = np.concatenate([[0], np.cumsum(is_known)])
        seen: NDArray[np.int64] = known[highs] - known[lows]
        return np.where(seen > 0, (total[highs] - total[lows]) / np.maximum(seen, 1), np.nan)


def _add(flow: Flow, own: slice, nodes: list[StepCounts], there: slice) -> None:
    total, reporting = flow.bytes[own], flow.reporting[own]
    reporting += sum(steps.is_known is None for steps in nodes)
    for steps in nodes:
        total += steps.counted[there]
        if steps.is_known is not None:
            reporting += steps.is_known[there]
