"""Saves and loads step by step; steps are counted from the start of each, so that they lie over each other."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gangline.ingest.accruals import Accrual, level_at
from gangline.ingest.checkpoint_windows import AskedWindows, DayPlan
from gangline.roles.definitions import RoleKind
from gangline.roles.gpu_use import LATE_STEPS, usual_step_ms
from gangline.roles.resolving import ResolvedRole
from gangline.sources.samples import TimesMs, Values
from gangline.store.reading import SeriesSamples

LEAST_STEP_MS = 10_000  # finer scrapes would make a row a second of every save


@dataclass(frozen=True, eq=False)
class CourseGrid:
    """The windows, save by save and load by load: `number` of each asked row, and its edges."""

    asked: AskedWindows
    step_ms: int
    numbers: NDArray[np.int64]
    names: pl.DataFrame
    edges_ms: tuple[TimesMs, ...]

    @classmethod
    def of(cls, asked: AskedWindows, roles: Sequence[ResolvedRole]) -> "CourseGrid | None":
        """Steps as long as the slowest scrape of the roles; null where nothing is asked or no role is played."""
        steps = [step for role in roles if (step := usual_step_ms(role)) is not None]
        if not steps or asked.rows.is_empty():
            return None
        step_ms = max(LEAST_STEP_MS, *steps)
        marked = asked.rows.with_columns(number=pl.struct("phase", "checkpoint_id").rle_id().cast(pl.Int64))
        names = marked.unique("number", keep="first", maintain_order=True)
        spans = names.select("start_ms", "from_ms", "until_ms").iter_rows()
        edges = [_edges(start_ms, from_ms, until_ms, step_ms) for start_ms, from_ms, until_ms in spans]
        return cls(asked, step_ms, marked["number"].to_numpy(), names.select("phase", "checkpoint_id"), tuple(edges))


@dataclass(eq=False)
class DayCourses:
    """One role in the windows that are due on a day: the sum over nodes in each step, and how many nodes told it."""

    grid: CourseGrid
    plan: DayPlan
    role: ResolvedRole
    _slots: dict[bytes, tuple[TimesMs, NDArray[np.bool_], NDArray[np.int64]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        due = [self.grid.numbers[own] for own in self.plan.due.values()]
        self._numbers = np.unique(np.concatenate([np.empty(0, np.int64), *due])).tolist()
        sizes = [self.grid.edges_ms[number].size - 1 for number in self._numbers]
        self._offsets = dict(zip(self._numbers, np.cumsum([0, *sizes]).tolist(), strict=False))
        self._nodes = {node: place for place, node in enumerate(self.plan.due)}
        self._total = np.zeros(sum(sizes))
        self._is_known = np.zeros((len(self._nodes), sum(sizes)), bool)

    def count(self, node: str, accrual: Accrual) -> None:
        """Adds a counter, per second."""
        edges, is_step, slots = self._steps(node)
        self._add(node, slots, accrual.by_step(edges)[is_step] * 1000 / self.grid.step_ms)

    def see(self, node: str, samples: SeriesSamples) -> None:
        """Adds a level: the latest sample at the end of each step."""
        edges, is_step, slots = self._steps(node)
        level = level_at(samples.times_ms, samples.values, edges[1:], LATE_STEPS * self.grid.step_ms)
        self._add(node, slots, level[is_step] * self.role.source.scale)

    def rows(self) -> pl.DataFrame:
        """A row a step of a save or load that at least one node tells of."""
        if not self._numbers:
            return pl.DataFrame()
        unit = f"{self.role.unit}/s" if self.role.kind == RoleKind.COUNTER else self.role.unit
        starts = [self.grid.edges_ms[number][:-1] for number in self._numbers]
        names = self.grid.names[np.repeat(self._numbers, [each.size for each in starts])]
        return names.with_columns(
            pl.Series("at", np.concatenate(starts), pl.Int64).cast(pl.Datetime("ms", "UTC")),
            pl.Series("total", self._total),
            pl.Series("reporting_nodes", self._is_known.sum(axis=0, dtype=np.int32)),
            role=pl.lit(self.role.role),
            unit=pl.lit(unit),
        ).filter(pl.col("reporting_nodes") > 0)

    def _add(self, node: str, slots: NDArray[np.int64], values: Values) -> None:
        is_number = ~np.isnan(values)
        self._total[slots] += np.where(is_number, values, 0.0)
        self._is_known[self._nodes[node], slots] |= is_number

    def _steps(self, node: str) -> tuple[TimesMs, NDArray[np.bool_], NDArray[np.int64]]:
        """A node's edges one window after the other, which steps between them are of a window, and where these go."""
        numbers = self.grid.numbers[self.plan.due[node]]
        key = numbers.tobytes()
        if key not in self._slots:
            edges = [self.grid.edges_ms[number] for number in numbers.tolist()]
            is_step = np.ones(sum(each.size for each in edges), bool)
            is_step[np.cumsum([each.size for each in edges]) - 1] = False
            places = [
                self._offsets[number] + np.arange(self.grid.edges_ms[number].size - 1) for number in numbers.tolist()
            ]
            self._slots[key] = np.concatenate(edges), is_step[:-1], np.concatenate(places)
        return self._slots[key]


def _edges(start_ms: int, from_ms: int, until_ms: int, step_ms: int) -> TimesMs:
    """Edges of whole steps from the start on, either way, inside [from, until)."""
    before, after = (start_ms - from_ms) // step_ms, (until_ms - start_ms) // step_ms
    return start_ms + step_ms * np.arange(-before, after + 1, dtype=np.int64)
