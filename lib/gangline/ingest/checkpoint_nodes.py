"""What each node did around saves and loads, role by role, and how the nodes together went, step by step."""

from dataclasses import dataclass

import duckdb
import numpy as np
import polars as pl

from gangline.config.model import Config
from gangline.ingest.accruals import Accrual
from gangline.ingest.checkpoint_courses import CourseGrid, DayCourses
from gangline.ingest.checkpoint_requests import insert
from gangline.ingest.checkpoint_windows import AskedWindows, DayPlan, Places
from gangline.ingest.window_samples import WindowSamples
from gangline.roles.definitions import RoleKind
from gangline.roles.resolving import ResolvedRole, resolve
from gangline.sources.samples import Values
from gangline.store.reading import SeriesSamples
from gangline.warehouse.opening import samples_of

ROLES = (
    "nfs_program_write_bytes",
    "dirty",
    "write_back",
    "nfs_write_bytes",
    "shm_used",
    "page_out",
    "nfs_program_read_bytes",
    "nfs_read_bytes",
    "page_cache",
    "page_in",
    "backlog",
    "nfs_sends",
)
"""What is looked at, from the program's call down to the network."""
MOSTLY = 0.95
COUNTED = ("inside", "around", "coverage_ratio", "mostly_s")
LEVELS = ("first_level", "peak_level", "last_level")


@dataclass(eq=False)
class _DayNodes:
    """What the nodes of a day's due windows did in one role."""

    asked: AskedWindows
    plan: DayPlan
    role: ResolvedRole

    def __post_init__(self) -> None:
        names = COUNTED if self.role.kind == RoleKind.COUNTER else LEVELS
        self._values = {name: np.full(self.asked.rows.height, np.nan) for name in names}
        self._largest = np.full(self.asked.rows.height, -1.0)

    def count(self, own: Places, accrual: Accrual) -> None:
        """Adds what one series counted."""
        starts, ends = self.asked.start_ms[own], self.asked.end_ms[own]
        inside = accrual.increase(starts, ends)
        self._add("inside", own, inside)
        self._add("around", own, accrual.increase(self.asked.from_ms[own], self.asked.until_ms[own]))
        covered = self._values["coverage_ratio"]
        covered[own] = np.fmax(covered[own], accrual.coverage(starts, ends))
        is_larger = inside > self._largest[own]
        self._largest[own] = np.maximum(inside, self._largest[own])
        mostly = np.where(inside > 0, (accrual.reached_ms(starts, MOSTLY * inside) - starts) / 1000, np.nan)
        self._values["mostly_s"][own] = np.where(is_larger, mostly, self._values["mostly_s"][own])

    def see(self, own: Places, samples: SeriesSamples) -> None:
        """Adds the level of one series: at the window's first and last sample, and the highest."""
        first = np.searchsorted(samples.times_ms, self.asked.from_ms[own])
        stop = np.searchsorted(samples.times_ms, self.asked.until_ms[own])
        is_seen = stop > first
        own, first, stop = own[is_seen], first[is_seen], stop[is_seen]
        peaks = [samples.values[begin:end].max() for begin, end in zip(first.tolist(), stop.tolist(), strict=True)]
        scale = self.role.source.scale
        self._add("first_level", own, samples.values[first] * scale)
        self._add("peak_level", own, np.array(peaks) * scale)
        self._add("last_level", own, samples.values[stop - 1] * scale)

    def rows(self) -> pl.DataFrame:
        """A row a window that was seen."""
        key = "inside" if self.role.kind == RoleKind.COUNTER else "peak_level"
        due = np.concatenate([np.empty(0, np.int64), *self.plan.due.values()])
        named = self.asked.rows.select("phase", "checkpoint_id", "node")[due].with_columns(
            pl.lit(self.role.role).alias("role"),
            pl.lit(str(self.role.kind)).alias("kind"),
            pl.lit(self.role.unit).alias("unit"),
            *(pl.Series(name, values[due]).fill_nan(None) for name, values in self._values.items()),
        )
        return named.filter(pl.col(key).is_not_null())

    def _add(self, name: str, own: Places, values: Values) -> None:
        kept = self._values[name]
        kept[own] = np.where(np.isnan(kept[own]), values, kept[own] + values)


def fill_checkpoint_nodes(con: duckdb.DuckDBPyConnection, config: Config) -> None:
    """Fills `meta.checkpoint_nodes` and `meta.checkpoint_courses` for `int_checkpoint_windows_asked`.

    There are no rows of a role that is not exported.
    """
    for table in ("checkpoint_nodes", "checkpoint_courses"):
        con.execute(f"delete from meta.{table}")  # noqa: S608 - the tables are ours
    asked, store = AskedWindows.read(con), samples_of(con, config)
    roles = [found for name in ROLES if (found := resolve(con, name, config.roles)) is not None]
    courses = CourseGrid.of(asked, roles)
    if courses is None:
        return
    readers = [WindowSamples(store, role) for role in roles]
    for plan in asked.days():
        for reader in readers:
            nodes, course = _read(asked, plan, reader, courses)
            insert(con, "checkpoint_nodes", nodes.rows())
            insert(con, "checkpoint_courses", course.rows())


def _read(
    asked: AskedWindows, plan: DayPlan, reader: WindowSamples, courses: CourseGrid
) -> tuple[_DayNodes, DayCourses]:
    nodes, course = _DayNodes(asked, plan, reader.role), DayCourses(courses, plan, reader.role)
    for place, samples in reader.take(plan):
        own = plan.due[place.node]
        if reader.role.kind == RoleKind.COUNTER:
            accrual = Accrual.of(samples.times_ms, samples.values * reader.role.source.scale, place.step_ms)
            nodes.count(own, accrual)
            course.count(place.node, accrual)
        else:
            nodes.see(own, samples)
            course.see(place.node, samples)
    return nodes, course
