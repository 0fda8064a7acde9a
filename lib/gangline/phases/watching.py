"""Sessions day by day: begun when their nodes have samples, handed on when their last step is read."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np

from gangline.intervals import EPOCH
from gangline.phases.counted import SeriesCounts, StepCounts, by_node
from gangline.phases.counting import LAG_MS, CounterDays
from gangline.phases.gathering import Beat, Gathering, to_seconds
from gangline.phases.stretches import Values
from gangline.phases.using import GpuDays
from gangline.roles.gpu_use import usual_step_ms
from gangline.roles.resolving import ResolvedRole
from gangline.store.layout import DAY_MS
from gangline.store.reading import SampleStore

ONE_DAY = timedelta(days=1)


@dataclass(eq=False)
class Day:
    """A UTC day of every role that was found, and of each beat that was asked for."""

    day: date
    written: dict[str, list[SeriesCounts]]
    read: dict[str, list[SeriesCounts]]
    steps: dict[tuple[str, Beat], dict[str, StepCounts]] = field(default_factory=dict)

    @property
    def start_ms(self) -> int:
        """When it begins."""
        return (self.day - EPOCH.date()).days * DAY_MS

    def by_step(self, what: str, beat: Beat, nodes: list[str]) -> dict[str, StepCounts]:
        """`written` or `read` of each of these nodes that tells, and perhaps of others, in the steps that are due."""
        series = self.written if what == "written" else self.read
        grid = beat.grid(self.start_ms - LAG_MS, self.start_ms + DAY_MS - LAG_MS)
        steps = self.steps.setdefault((what, beat), {})
        for node in nodes:
            if node in series and node not in steps:
                steps[node] = by_node(series[node], grid)
        return steps


@dataclass(eq=False)
class Watching:
    """The roles that sessions are read from; null where no metric plays one."""

    store: SampleStore
    write: ResolvedRole | None
    read: ResolvedRole | None
    util: ResolvedRole | None
    writer_min_bytes_per_s: float

    def finished(self, sessions: list[Gathering]) -> Iterator[Gathering]:
        """Every session, in the order in which they end; those without a sample have no beat."""
        waiting = sorted(sessions, key=lambda session: -session.start_ms)
        active: list[Gathering] = []
        writes, reads = (CounterDays(self.store, role) if role else None for role in (self.write, self.read))
        uses = GpuDays(self.store, self.util) if self.util else None
        for day in self._days(sessions):
            start_ms = (day - EPOCH.date()).days * DAY_MS
            end_ms = start_ms + DAY_MS
            while waiting and waiting[-1].start_ms < end_ms:
                active.append(waiting.pop())
            over = [session for session in active if session.until_ms <= start_ms - LAG_MS]
            active = [session for session in active if session.until_ms > start_ms - LAG_MS]
            yield from over
            nodes = {member.node for session in active for member in session.members}
            written = writes.take(day, end_ms, nodes) if writes else {}
            read = reads.take(day, end_ms, nodes) if reads else {}
            self._take(Day(day, written, read), active)
            begun = [session for session in active if session.beat is not None and session.until_ms > start_ms]
            self._take_util(uses, day, begun)
        yield from [*active, *reversed(waiting)]

    def _take(self, day: Day, active: list[Gathering]) -> None:
        for session in active:
            nodes = [member.node for member in session.members]
            counted = [series for node in nodes for series in (day.written or day.read).get(node, [])]
            if session.beat is None and counted:
                session.begin(Beat.of(counted))
            if session.beat is not None:
                self._take_traffic(day, session, nodes, counted)

    def _take_traffic(self, day: Day, session: Gathering, nodes: list[str], counted: list[SeriesCounts]) -> None:
        assert session.beat is not None
        grid = session.beat.grid(day.start_ms - LAG_MS, day.start_ms + DAY_MS - LAG_MS)
        session.take_written(grid, day.by_step("written", session.beat, nodes), self.writer_min_bytes_per_s)
        session.take_read(grid, day.by_step("read", session.beat, nodes))
        if counted:
            scrape_ms, _ = Counter(series.scrape_ms for series in counted).most_common(1)[0]
            session.take_scrapes(grid, to_seconds(scrape_ms))

    def _take_util(self, uses: GpuDays | None, day: date, sessions: list[Gathering]) -> None:
        step_ms = usual_step_ms(self.util) if self.util else None
        if uses is None or step_ms is None:
            return
        for session in sessions:
            if session.util_beat is None:
                assert session.beat is not None
                session.begin_util(session.beat if session.beat.step_ms == step_ms else Beat(step_ms, 0))
        start_ms = (day - EPOCH.date()).days * DAY_MS
        for beat in {session.util_beat for session in sessions}:
            assert beat is not None
            grid = beat.grid(start_ms, start_ms + DAY_MS)
            of_beat = [session for session in sessions if session.util_beat == beat]
            nodes = sorted({member.node for session in of_beat for member in session.members})
            places = {node: place for place, node in enumerate(nodes)}
            sums = uses.take(day, grid, places)
            for session in of_beat:
                session.take_util(grid, sums, places)

    def _days(self, sessions: list[Gathering]) -> list[date]:
        """Days on which a role has samples while a session ran, each with the day after it."""
        start_ms = min(session.start_ms for session in sessions)
        end_ms = max(session.until_ms for session in sessions)
        spans = np.unique([[each.start_ms // DAY_MS, (each.until_ms - 1) // DAY_MS] for each in sessions], axis=0)
        seen = {
            day
            for role in (self.write, self.read, self.util)
            if role is not None
            for day in self.store.days(role.source.metric, start_ms, end_ms)
            if _is_within(spans, (day - EPOCH.date()).days)
        }
        return sorted(seen | {day + ONE_DAY for day in seen})


def _is_within(spans: Values, day: int) -> bool:
    return bool(((spans[:, 0] <= day) & (spans[:, 1] >= day)).any())
