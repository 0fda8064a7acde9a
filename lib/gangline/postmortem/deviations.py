"""The node against its peers: which metrics left the others at the event, by the modified z of analyses 9."""

from datetime import datetime, timedelta
from typing import Any

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gangline.config import Config
from gangline.courses import Course, course
from gangline.estimates.peers import LEAST_PEERS, modified_z
from gangline.postmortem.subjects import Subject
from gangline.roles import RoleKind, present_roles
from gangline.warehouse.querying import query
from gangline.windows import Window

LOOK = timedelta(minutes=10)
BASELINE = timedelta(hours=6)
TOO_FEW = f"fewer than {LEAST_PEERS} peers have samples"
NO_SPREAD = "all peers are equal"
NOT_SAMPLED = "the node has no samples then"
FAR = 3.5
"""A modified z beyond which Iglewicz and Hoaglin call a value an outlier."""


def deviations(con: duckdb.DuckDBPyConnection, config: Config, subject: Subject) -> pl.DataFrame:
    """A row a role, furthest from the peers first: role, unit, node, value, usual, peers_change, z, peers, reason.

    A node's change is its mean over the ten minutes before the event less its own median over the six hours before
    them, in the same phase of training where telemetry tells phases; `z` is that change against those of the other
    nodes of the same session. Where no node is at fault, the one that deviates most is shown for each role. `value` is
    the mean, `usual` that median, `peers_change` the median change of the peers.
    """
    window = Window(subject.at - BASELINE - LOOK, subject.at, config.cluster.time_zone, "before the event")
    peers = _peers(con, subject)
    training = _training(con, subject, window)
    levels = {name: role for name, role in present_roles(con, config.roles).items() if role.kind != RoleKind.EVENT}
    found = [course(con, config, window, name) for name in levels]
    rows = [_row(each, peers, training, subject) for each in found if each is not None]
    known = [row for row in rows if row is not None]
    frame = pl.DataFrame(known, schema=_SCHEMA, orient="row")
    return frame.sort(pl.col("z").abs(), "role", descending=[True, False], nulls_last=True)


def outliers(rows: pl.DataFrame) -> pl.DataFrame:
    """Of `deviations`, the roles in which the node lies beyond 3.5."""
    return rows.filter(pl.col("z").abs() > FAR)


_SCHEMA: dict[str, Any] = {
    "role": pl.String,
    "unit": pl.String,
    "node": pl.String,
    "value": pl.Float64,
    "usual": pl.Float64,
    "peers_change": pl.Float64,
    "z": pl.Float64,
    "peers": pl.Int64,
    "reason": pl.String,
}


def _peers(con: duckdb.DuckDBPyConnection, subject: Subject) -> set[str]:
    """The nodes of the session that the event fell into; of one too small to compare within, all nodes."""
    rows = query(con, _PEERS, session=subject.session_id or "")
    return set(rows["node"]) if rows.height >= LEAST_PEERS else set(query(con, "select node from marts.nodes")["node"])


def _training(con: duckdb.DuckDBPyConnection, subject: Subject, window: Window) -> pl.DataFrame:
    return query(con, _TRAINING, session=subject.session_id or "", start=window.start, end=window.end)


def _row(found: Course, peers: set[str], training: pl.DataFrame, subject: Subject) -> tuple[object, ...] | None:
    places = [place for place, node in enumerate(found.nodes) if node in peers or node == subject.node]
    nodes = [found.nodes[place] for place in places]
    if not nodes:
        return None
    before, usual = _before(found, subject.at, places), _usual(found, subject.at, places, training)
    change = before - usual
    scores = modified_z(change)
    place = _place(nodes, scores, subject.node)
    known = int((~np.isnan(change)).sum())
    head = (found.role.role, found.unit)
    if place is None or np.isnan(change[place]):
        return (*head, subject.node, None, None, None, None, known, NOT_SAMPLED)
    middle = float(np.nanmedian(change))
    told = (nodes[place], float(before[place]), float(usual[place]), middle)
    if scores is None:
        return (*head, *told, None, known, TOO_FEW if known < LEAST_PEERS else NO_SPREAD)
    return (*head, *told, float(scores[place]), known, None)


def _place(nodes: list[str], scores: NDArray[np.float64] | None, node: str | None) -> int | None:
    if node:
        return nodes.index(node) if node in nodes else None
    return 0 if scores is None or np.isnan(scores).all() else int(np.nanargmax(np.abs(scores)))


def _before(found: Course, at: datetime, places: list[int]) -> NDArray[np.float64]:
    """Each node's mean over the whole steps that end in the ten minutes up to the event, one at least."""
    ends = found.at + found.step
    is_in = ((ends > at - max(LOOK, found.step)) & (ends <= at)).to_numpy()
    return folded(found.values[is_in][:, places], np.nanmean)


def _usual(found: Course, at: datetime, places: list[int], training: pl.DataFrame) -> NDArray[np.float64]:
    """Each node's median over the hours before, of steps in training where phases are known."""
    is_in = (found.at + found.step <= at - max(LOOK, found.step)).to_numpy()
    if training.height:
        starts, ends = training["from_at"].to_list(), training["to_at"].to_list()
        steps = found.at.to_list()
        is_trained = [any(a <= step < b for a, b in zip(starts, ends, strict=True)) for step in steps]
        is_in = is_in & np.array(is_trained, bool) if any(is_trained) else is_in
    return folded(found.values[is_in][:, places], np.nanmedian)


def folded(values: NDArray[np.float64], fold: Any) -> NDArray[np.float64]:
    """One number a node over some steps; NaN where it has none."""
    result = np.full(values.shape[1], np.nan)
    known = (~np.isnan(values)).any(axis=0)
    if known.any():
        result[known] = fold(values[:, known], axis=0)
    return result


_PEERS = "select distinct node from marts.session_nodes where session_id = $session"
_TRAINING = """
    select greatest(started_at, $start) as from_at, least(ended_at, $end) as to_at
    from marts.phases
    where session_id = $session and phase = 'training' and started_at < $end and ended_at > $start
    order by started_at
"""
