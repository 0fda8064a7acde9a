"""One save under the lens: five layers from storage to GPU over the minutes around it, and the phases behind them."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gangline.config import Config
from gangline.estimates import Estimate
from gangline.intervals import EPOCH
from gangline.roles import ResolvedRole, RoleKind, resolve, role_by_node
from gangline.store.matrix import Grid, Matrix
from gangline.store.reading import ms_of
from gangline.units import BYTES_PER_GB
from gangline.warehouse import samples_of
from gangline.warehouse.querying import query
from gangline.windows import Window

LEAST_MARGIN = timedelta(minutes=5)
MARGIN_TIMES = 2.0
"""How many lengths of the save are shown on either side of it, at least five minutes."""
BYTES_PER_MB = 1_000_000
NEVER_SEEN = "no save of the window is seen in the telemetry"
DIRTY, BACKLOG = "Dirty pages (GB, all nodes)", "Transport backlog (requests/s, all nodes)"
"""The lowest layer: what memory holds back, else what the transport does."""
Values = NDArray[np.float64]
Fold = Callable[[Values, float], Values]


class SaveError(ValueError):
    """A save that is asked for is none of the window, or telemetry does not show it."""


@dataclass(frozen=True)
class Lens:
    """A save and what surrounds it.

    Attributes
    ----------
    save
        Its row of `marts.checkpoint_saves`.
    window
        What is shown.
    rows
        layer (with its unit), at (start of the step), value; layers that nothing tells are left out.
    phases
        phase, from, to: stretches of the session in the window, cut to it.
    """

    save: dict[str, Any]
    window: Window
    rows: pl.DataFrame
    phases: pl.DataFrame


@dataclass(frozen=True)
class _Layer:
    """What is shown of a role: its title, and how the nodes of a step become one value, given the step in seconds."""

    title: str
    role: str
    fold: Fold


def chosen(saves: pl.DataFrame, save_id: str) -> dict[str, Any] | None:
    """The save with this id, else (empty) that of median length among those that telemetry shows; null for none.

    Raises
    ------
    SaveError
        If no save of the window has the id, or telemetry does not show it.
    """
    seen = saves.drop_nulls("telemetry_started_at")
    if save_id:
        return _named(saves, seen, save_id)
    timed = seen.sort("duration_s", "save_id", nulls_last=True)
    return timed.row((timed.height - 1) // 2, named=True) if timed.height else None


def cost(save: dict[str, Any]) -> dict[str, Any]:
    """What a save took, as values for a sentence: `gigabytes`, estimates `length` and `stall`, what tells it."""
    length, stall = (
        Estimate.missing("s", str(save[f"{name}_reason"]), n=0)
        if save[f"{name}_s"] is None
        else Estimate(save[f"{name}_s"], "s", 1)
        for name in ("duration", "stall")
    )
    by = (save["stall_evidence"] or "nothing").replace("utilisation", "GPU use").replace("_", " ")
    return {"gigabytes": (save["bytes"] or 0) / BYTES_PER_GB, "length": length, "stall": stall, "by": by}


def lens(con: duckdb.DuckDBPyConnection, config: Config, save: dict[str, Any], time_zone: str) -> Lens:
    """Read the layers of a save: its session's nodes, at the scrape step, two lengths of it before and after."""
    start, end = save["telemetry_started_at"], save["telemetry_ended_at"]
    margin = max(LEAST_MARGIN, MARGIN_TIMES * (end - start))
    window = Window(start - margin, end + margin, time_zone, save["save_id"])
    nodes = query(con, _NODES, id=save["session_id"], start=window.start, end=window.end)["node"].to_list()
    told = {layer.title: _course(con, config, layer, window, nodes) for layer in _layers(con)}
    if told[DIRTY] is not None:
        del told[BACKLOG]
    phases = query(con, _PHASES, id=save["session_id"], start=window.start, end=window.end)
    rows = [frame for frame in told.values() if frame is not None]
    return Lens(save, window, pl.concat(rows) if rows else pl.DataFrame(schema=_ROW_SCHEMA), phases)


_ROW_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "layer": pl.String,
    "at": pl.Datetime("us", "UTC"),
    "value": pl.Float64,
}
_NODES = """
    select node from marts.session_nodes
    where session_id = $id and started_at < $end and (until_at is null or until_at > $start) order by node
"""
_PHASES = """
    select phase, greatest(started_at, $start) as "from", least(ended_at, $end) as "to" from marts.phases
    where session_id = $id and started_at < $end and ended_at > $start order by started_at
"""


def _named(saves: pl.DataFrame, seen: pl.DataFrame, save_id: str) -> dict[str, Any]:
    found = seen.filter(pl.col("save_id") == save_id)
    if found.height:
        return found.row(0, named=True)
    if save_id in set(saves["save_id"]):
        raise SaveError(f"the save {save_id!r} is told by its run alone: telemetry does not show it")
    near = difflib.get_close_matches(save_id, seen["save_id"].to_list(), 1, 0)
    hint = f"; the nearest is {near[0]!r}" if near else f"; {NEVER_SEEN}"
    raise SaveError(f"no save {save_id!r} starts in the window{hint}")


def _layers(con: duckdb.DuckDBPyConnection) -> list[_Layer]:
    least = query(con, "select writer_min_bytes_per_s from marts.checkpoint_rules").item()
    writers = 0.0 if least is None else float(least)
    return [
        _Layer("Written (GB/s, all nodes)", "nfs_write_bytes", _gb_per_s),
        _Layer("Read (GB/s, all nodes)", "nfs_read_bytes", _gb_per_s),
        _Layer("GPU use (%, median node)", "gpu_util", _percent),
        _Layer(f"Writers (nodes above {writers / BYTES_PER_MB:g} MB/s)", "nfs_write_bytes", _counting(writers)),
        _Layer(DIRTY, "dirty", _gb),
        _Layer(BACKLOG, "backlog", _per_s),
    ]


def _course(
    con: duckdb.DuckDBPyConnection, config: Config, layer: _Layer, window: Window, nodes: list[str]
) -> pl.DataFrame | None:
    """A layer by step, null where nothing plays its role on these nodes then."""
    resolved = resolve(con, layer.role, config.roles)
    if resolved is None:
        return None
    matrix = _matrix(con, config, resolved, window)
    kept = matrix.values[:, [place for place, node in enumerate(matrix.columns) if node in set(nodes)]]
    is_known = (~np.isnan(kept)).any(axis=1)
    if not is_known.any():
        return None
    values = np.full(kept.shape[0], np.nan)
    values[is_known] = layer.fold(kept[is_known], matrix.grid.step_ms / 1000)
    at = [EPOCH + timedelta(milliseconds=instant) for instant in matrix.grid.times_ms.tolist()]
    rows = pl.DataFrame({"layer": [layer.title] * len(at), "at": at, "value": values}, schema=_ROW_SCHEMA)
    return rows.with_columns(pl.col("value").fill_nan(None))


def _matrix(con: duckdb.DuckDBPyConnection, config: Config, role: ResolvedRole, window: Window) -> Matrix:
    step_s = role.series["step_s"].median()
    step_ms = max(1000, round(step_s) * 1000) if isinstance(step_s, float) else 60_000
    grid = Grid.of(ms_of(window.start) // step_ms * step_ms, ms_of(window.end), step_ms)
    matrix = role_by_node(samples_of(con, config), role, grid)
    if role.kind != RoleKind.LEVEL or not role.unit.endswith("/s"):
        return matrix
    return Matrix(grid, matrix.columns, matrix.values * step_ms / 1000)


def _gb_per_s(values: Values, step_s: float) -> Values:
    return _total(values) / step_s / BYTES_PER_GB


def _gb(values: Values, step_s: float) -> Values:
    return _total(values) / BYTES_PER_GB


def _per_s(values: Values, step_s: float) -> Values:
    return _total(values) / step_s


def _percent(values: Values, step_s: float) -> Values:
    return np.asarray(np.nanmedian(values, axis=1) * 100)


def _total(values: Values) -> Values:
    return np.asarray(np.nansum(values, axis=1))


def _counting(least_per_s: float) -> Fold:
    def count(values: Values, step_s: float) -> Values:
        return np.asarray((values / step_s > least_per_s).sum(axis=1), np.float64)

    return count
