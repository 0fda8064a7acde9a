"""A role over a window, node by node, in as many steps as a picture has room for."""

from dataclasses import dataclass, replace
from datetime import timedelta

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gangline.config import Config
from gangline.intervals import EPOCH
from gangline.roles import ResolvedRole, RoleKind, resolve, role_by_node
from gangline.store.matrix import Grid
from gangline.store.reading import ms_of
from gangline.warehouse import samples_of
from gangline.windows import Window

MOST_STEPS = 600
MOST_CELLS = 20_000_000  # of a role's matrix at its own scrape step


@dataclass(frozen=True, eq=False)
class Course:
    """A role by step and node: a level's mean over the step, a counter's increase per second.

    Attributes
    ----------
    window
        What of the asked window the role has samples of.
    values
        `[step, node]`, NaN where a node has no sample in a step.
    """

    role: ResolvedRole
    unit: str
    window: Window
    step: timedelta
    nodes: tuple[str, ...]
    values: NDArray[np.float64]

    @property
    def title(self) -> str:
        """The role and its unit, for an axis."""
        return f"{self.role.role} ({self.unit})"

    @property
    def at(self) -> pl.Series:
        """Start of each step."""
        starts = [self.window.start + place * self.step for place in range(self.values.shape[0])]
        return pl.Series("at", starts, pl.Datetime("us", "UTC"))


def course(con: duckdb.DuckDBPyConnection, config: Config, window: Window, role: str) -> Course | None:
    """A role over a window, in at most 600 steps of whole scrape steps; null where nothing plays it then.

    Raises
    ------
    RoleError
        Where there is no such role.
    """
    resolved = resolve(con, role, config.roles)
    within = None if resolved is None else _within(resolved, window)
    if resolved is None or within is None:
        return None
    scrape_ms = _scrape_ms(resolved)
    step_ms = scrape_ms * max(1, -(-(ms_of(within.end) - ms_of(within.start)) // (MOST_STEPS * scrape_ms)))
    grid = _grid(within, step_ms)
    nodes, values = _by_step(con, config, resolved, grid, scrape_ms)
    is_counter = resolved.kind == RoleKind.COUNTER
    known = np.flatnonzero((~np.isnan(values)).any(axis=0))
    start, end = (EPOCH + timedelta(milliseconds=edge) for edge in (grid.start_ms, grid.end_ms))
    return Course(
        resolved,
        f"{resolved.unit}/s" if is_counter else resolved.unit,
        replace(within, start=start, end=end),
        timedelta(milliseconds=step_ms),
        tuple(nodes[place] for place in known.tolist()),
        values[:, known] / (step_ms / 1000 if is_counter else 1.0),
    )


def _within(role: ResolvedRole, window: Window) -> Window | None:
    """What of a window a role has samples of."""
    known = role.series.select(pl.col("first_at").min(), pl.col("last_at").max())
    first_at, last_at = known.row(0)
    start, end = max(window.start, first_at), min(window.end, last_at + timedelta(milliseconds=_scrape_ms(role)))
    return replace(window, start=start, end=end) if start < end else None


def _scrape_ms(role: ResolvedRole) -> int:
    step_s = role.series["step_s"].median()
    return max(1000, round(step_s) * 1000) if isinstance(step_s, float) else 60_000


def _grid(window: Window, step_ms: int) -> Grid:
    """Steps that begin on whole multiples, so that equal windows have equal steps."""
    start_ms, end_ms = ms_of(window.start) // step_ms * step_ms, ms_of(window.end)
    return Grid.of(start_ms, end_ms, step_ms)


def _by_step(
    con: duckdb.DuckDBPyConnection, config: Config, role: ResolvedRole, grid: Grid, scrape_ms: int
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """A counter's increases are read on the grid itself; a level at its scrape step, then averaged."""
    store, nodes = samples_of(con, config), role.series["node"].drop_nulls().n_unique()
    is_sum, how = role.kind == RoleKind.COUNTER, "max" if role.kind == RoleKind.EVENT else "mean"
    fold = grid.step_ms // scrape_ms
    if is_sum or how == "max" or grid.step_count * fold * nodes > MOST_CELLS:
        matrix = role_by_node(store, role, grid, "max" if how == "max" else "mean")
        return matrix.columns, matrix.values
    fine = Grid(grid.start_ms, scrape_ms, grid.step_count * fold)
    matrix = role_by_node(store, role, fine)
    return matrix.columns, _folded(matrix.values, fold)


def _folded(values: NDArray[np.float64], fold: int) -> NDArray[np.float64]:
    """Means over `fold` steps each, of those that are known."""
    blocks = values.reshape(-1, fold, values.shape[1])
    count = (~np.isnan(blocks)).sum(axis=1)
    total = np.where(np.isnan(blocks), 0.0, blocks).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
