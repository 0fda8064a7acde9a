"""How busy the GPUs were of those who held excluded nodes: holding a node is not using it."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gangline.config import Config
from gangline.estimates import Estimate
from gangline.intervals import EPOCH
from gangline.roles import resolve
from gangline.roles.gpu_use import grid_of, levels_of, node_sums, usual_step_ms
from gangline.store.layout import DAY_MS
from gangline.store.matrix import Grid
from gangline.store.reading import ms_of
from gangline.warehouse import samples_of
from gangline.warehouse.querying import query
from gangline.windows import Window

NO_USE = "no GPU use is exported"
NOT_THEN = "no GPU use is exported for the times in which a single-node session held an excluded node"
NOT_HELD = "no single-node session held an excluded node"
_MEETINGS = """
    select node, owner, run_name, epoch_ms(started_at) as start_ms, epoch_ms(ended_at) as end_ms
    from marts.exclusion_meetings($start, $end) order by node, owner, run_name, started_at
"""
Holder = tuple[str, str | None, str | None]


@dataclass(frozen=True)
class HolderUse:
    """Mean GPU use of holders.

    Attributes
    ----------
    rows
        node, owner, run_name, gpu_util_ratio (mean over steps of the mean over the node's GPUs), util_h (hours with
        samples).
    overall
        The mean over all node-hours that were held and have samples, or why there is none.
    """

    rows: pl.DataFrame
    overall: Estimate

    def said(self) -> str:
        """The overall mean, or why it is not known."""
        return f"not known ({self.overall.reason})" if self.overall.value is None else str(self.overall)

    def beside(self, holders: pl.DataFrame) -> pl.DataFrame:
        """Rows of `exclusions.holders` with the use of each; null where it has no samples."""
        return holders.join(
            self.rows, on=["node", "owner", "run_name"], how="left", nulls_equal=True, maintain_order="left"
        )


def holder_use(con: duckdb.DuckDBPyConnection, config: Config, window: Window) -> HolderUse:
    """The mean GPU use of single-node sessions on excluded nodes, whoever's GPUs of the node were busy."""
    util, meetings = resolve(con, "gpu_util", config.roles), query(con, _MEETINGS, start=window.start, end=window.end)
    step_ms = None if util is None else usual_step_ms(util)
    if util is None or step_ms is None or meetings.is_empty():
        return HolderUse(_rows({}, 1), Estimate.missing("ratio", NOT_HELD if meetings.is_empty() else NO_USE, n=0))
    store, levels = samples_of(con, config), levels_of(samples_of(con, config), util)
    places = {node: place for place, node in enumerate(meetings["node"].unique(maintain_order=True))}
    sums: dict[Holder, NDArray[np.float64]] = defaultdict(lambda: np.zeros(2))
    for day in store.days(util.source.metric, ms_of(window.start), ms_of(window.end)):
        start_ms = (day - EPOCH.date()).days * DAY_MS
        held = meetings.filter((pl.col("start_ms") < start_ms + DAY_MS) & (pl.col("end_ms") > start_ms))
        if held.height:
            grid = grid_of(day, step_ms)
            use = node_sums(levels, day, grid, places)
            for node, owner, run_name, first_ms, end_ms in held.iter_rows():
                mean = _means(use.total[places[node]], use.count[places[node]], _steps(grid, first_ms, end_ms))
                sums[node, owner, run_name] += [mean.sum(), mean.size]
    return HolderUse(_rows(sums, step_ms), _overall(sums, step_ms))


def _steps(grid: Grid, start_ms: int, end_ms: int) -> slice:
    """The whole steps of a grid that lie in a stretch of time."""
    first = max(0, -(-(start_ms - grid.start_ms) // grid.step_ms))
    return slice(first, max(first, (end_ms - grid.start_ms) // grid.step_ms))


def _means(total: NDArray[np.float64], count: NDArray[np.float64], steps: slice) -> NDArray[np.float64]:
    known = count[steps] > 0
    return total[steps][known] / count[steps][known]


def _rows(sums: dict[Holder, NDArray[np.float64]], step_ms: int) -> pl.DataFrame:
    rows = [(*holder, total / steps, steps * step_ms / 3.6e6) for holder, (total, steps) in sums.items() if steps]
    schema = dict.fromkeys(("node", "owner", "run_name"), pl.String) | {"gpu_util_ratio": pl.Float64}
    return pl.DataFrame(rows, schema=schema | {"util_h": pl.Float64}, orient="row").sort("node", "owner", "run_name")


def _overall(sums: dict[Holder, NDArray[np.float64]], step_ms: int) -> Estimate:
    total, steps = np.sum(list(sums.values()), axis=0) if sums else (0.0, 0.0)
    if not steps:
        return Estimate.missing("ratio", NOT_THEN, n=0)
    hours = timedelta(milliseconds=float(steps) * step_ms) / timedelta(hours=1)
    method = f"mean over {hours:.1f} held node-hours with samples"
    return Estimate(float(total / steps), "ratio", len(sums), method=method)
