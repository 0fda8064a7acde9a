"""How the measures of a node changed at an event, held against the changes of its peers, as rows and as a clause."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gangline.courses import Course
from gangline.estimates.peers import LEAST_PEERS, modified_z
from gangline.estimates.wording import counted, words
from gangline.postmortem.deviations import FAR, folded

LOOK = timedelta(minutes=10)
_OWN, _PEERS = ("before", "after"), ("peers_before", "peers_after")
_SCHEMA: dict[str, Any] = {
    "measure": pl.String,
    "unit": pl.String,
    **dict.fromkeys(("before", "after", "times", "peers_before", "peers_after"), pl.Float64),
    "nodes": pl.Int64,
    "z": pl.Float64,
}


def changes(courses: Iterable[Course], node: str, at: datetime) -> pl.DataFrame:
    """How each measure changed at an instant, furthest from the peers first: a row a measure.

    measure, unit, before (the node's median up to ten minutes before), after (its mean over the ten minutes from the
    event), times (their ratio), peers_before, peers_after (of the median node), nodes (whose change is known, this one
    among them), z (the node's change against the peers', modified z of analyses 9; null where it cannot be told).
    """
    rows = [_change(each, node, at) for each in courses]
    frame = pl.DataFrame(rows, schema=_SCHEMA, orient="row")
    return frame.sort(pl.col("z").abs(), "measure", descending=[True, False], nulls_last=True)


def sentence(changes: pl.DataFrame) -> str:
    """The measure that left the peers furthest, that none left them, or that the node fell silent, as a clause."""
    is_silent = pl.all_horizontal(pl.col("before", "peers_after").is_not_null()) & pl.col("after").is_null()
    silent = changes.filter(is_silent)["measure"].to_list()
    if silent and len(silent) == changes.height:
        return "the node has no samples after it, while its peers have"
    is_known = pl.all_horizontal(pl.col("before", "after").is_not_null())
    compared = changes.filter(is_known & (pl.col("nodes") >= LEAST_PEERS))
    ended = f"{', '.join(silent)} of the node ended with it, while its peers have samples; " if silent else ""
    return ended + _compared(compared)


def _compared(compared: pl.DataFrame) -> str:
    if compared.is_empty():
        return "no measure can be held against the peers'"
    left = [row for row in compared.iter_rows(named=True) if abs(row["z"] or 0) > FAR and _is_seen(row)]
    if left:
        return f"{_course_of(left[0])} (z = {left[0]['z']:.1f} among {counted(left[0]['nodes'], 'nodes')})"
    return f"nothing changed beyond the peers': {_within(compared)}"


def _within(compared: pl.DataFrame) -> str:
    """What was compared where no measure left the peers, and how far the furthest went."""
    furthest, peers = compared.row(0, named=True), (compared["nodes"] - 1).unique().sort().to_list()
    others = str(peers[0]) if len(peers) == 1 else f"{peers[0]} to {peers[-1]}"
    held = f"of {counted(compared.height, 'measures')}, held against {others} other nodes,"
    if furthest["z"] is None:
        return f"{held} none has a z beyond {FAR:g}, as all nodes changed alike"
    far = (
        f"with a z beyond {FAR:g} changed in the digits said" if abs(furthest["z"]) > FAR else f"has a z beyond {FAR:g}"
    )
    return f"{held} none {far} (furthest, at {furthest['z']:.1f}: {_course_of(furthest)})"


def _is_seen(row: dict[str, Any]) -> bool:
    """Among peers that hardly vary the least change has a large z: one that no digit shows is none to lead with."""
    own, peers = _said(row)
    return own[0] != own[1] or peers[0] != peers[1]


def _said(row: dict[str, Any]) -> list[list[str]]:
    return [[words(row[name], row["unit"]) for name in names] for names in (_OWN, _PEERS)]


def _course_of(row: dict[str, Any]) -> str:
    """How a measure went, of the node and of the median node."""
    own, peers = _said(row)
    went = f"stayed at {own[0]}" if own[0] == own[1] else f"went from {own[0]} to {own[1]}"
    if peers[0] == peers[1]:
        return f"{row['measure']} {went}, that of the median node at {peers[0]}"
    return f"{row['measure']} {went}, that of the median node from {peers[0]} to {peers[1]}"


def _change(found: Course, node: str, at: datetime) -> tuple[object, ...]:
    before = folded(found.values[(found.at + found.step <= at - LOOK).to_numpy()], np.nanmedian)
    until = at + max(LOOK, found.step)
    after = folded(found.values[((found.at >= at) & (found.at < until)).to_numpy()], np.nanmean)
    place, scores = found.nodes.index(node), modified_z(after - before)
    z = None if scores is None else _known(scores[place])
    first, last = _known(before[place]), _known(after[place])
    peers = [_middle(np.delete(side, place)) for side in (before, after)]
    times = last / first if first and last is not None else None
    nodes = int((~np.isnan(after - before)).sum())
    return found.role.role, found.unit, first, last, times, *peers, nodes, z


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _middle(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if known.size else None
