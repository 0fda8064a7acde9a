"""The nodes and times that saves and loads are looked at in, and the UTC day by which each can be."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gangline.sources.samples import TimesMs
from gangline.store.layout import DAY_MS, day_of
from gangline.warehouse.querying import query

MARGIN_MS = 600_000  # samples on either side of a window that deltas across its edges need

_ASKED = """
    select phase, checkpoint_id, node, epoch_ms(started_at) as start_ms, epoch_ms(ended_at) as end_ms,
        epoch_ms(from_at) as from_ms, epoch_ms(until_at) as until_ms
    from intermediate.int_checkpoint_windows_asked order by phase, checkpoint_id, node
"""
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DayPlan:
    """One UTC day: the windows that are due when its samples are in, by node, and what later days need of them."""

    day: date
    due: dict[str, Places]
    keep_from_ms: int


@dataclass(frozen=True, eq=False)
class AskedWindows:
    """Rows of `int_checkpoint_windows_asked`: a save or load and a node each; places are row numbers."""

    rows: pl.DataFrame
    start_ms: TimesMs
    end_ms: TimesMs
    from_ms: TimesMs
    until_ms: TimesMs

    @classmethod
    def read(cls, con: duckdb.DuckDBPyConnection) -> "AskedWindows":
        """All that are asked about."""
        rows = query(con, _ASKED)
        return cls(rows, *(rows[name].to_numpy() for name in ("start_ms", "end_ms", "from_ms", "until_ms")))

    def days(self) -> Iterator[DayPlan]:
        """The days that have something to say, in order; each window is due on one of them."""
        if self.rows.is_empty():
            return
        first, last = (self.from_ms - MARGIN_MS) // DAY_MS, (self.until_ms + MARGIN_MS) // DAY_MS
        nodes = self.rows["node"].to_numpy()
        spans = np.unique(np.stack([first, last], axis=1), axis=0)
        for day in np.unique(np.concatenate([np.arange(begin, end + 1) for begin, end in spans])).tolist():
            later = self.from_ms[(first <= day) & (last > day)] - MARGIN_MS
            keep_from_ms = int(later.min()) if later.size else (day + 1) * DAY_MS
            yield DayPlan(day_of(day), _by_node(nodes, np.flatnonzero(last == day)), keep_from_ms)


def _by_node(nodes: NDArray[np.object_], places: Places) -> dict[str, Places]:
    named = pl.DataFrame({"node": nodes[places], "place": places}, schema={"node": pl.String, "place": pl.Int64})
    grouped = named.group_by("node", maintain_order=True).agg("place")
    return {node: np.array(own, np.int64) for node, own in grouped.iter_rows()}
