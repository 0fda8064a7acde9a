"""One node and a time: chosen measures of the node over the band of its peers, before, at and after the event."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import duckdb
import numpy as np
import polars as pl

from gangline import node_changes
from gangline.config import Config
from gangline.config.model import Role
from gangline.courses import Course, course
from gangline.postmortem import sources
from gangline.postmortem.layers import phases
from gangline.postmortem.subjects import Subject, SubjectError, find
from gangline.roles import resolve
from gangline.telemetry import band, lines
from gangline.warehouse.querying import query
from gangline.windows import Window

GETATTR = "getattr_response"
MOST_HOURS = 24 * 31
MARKS_APART, MOST_NAMES = 5, 4  # at least a fifth of the picture between two names
CUMULATED = ("remapped_rows", "remapped_rows_uncorrectable", "nfs_major_timeouts")
"""Counters that are drawn as what has come since the picture's start: their events are too rare for a rate."""


@dataclass(frozen=True)
class NodeCase:
    """A node and a time, and what was measured of it; each part is computed when it is first asked for.

    Attributes
    ----------
    kind, class_name
        Of the incident at the time, where there is one; `other` is the class of what is none.
    measures
        Roles, or `getattr_response`, in the order of the picture.
    """

    con: duckdb.DuckDBPyConnection
    config: Config
    subject: Subject
    kind: str | None
    class_name: str
    measures: tuple[str, ...]
    window: Window

    @property
    def node(self) -> str:
        """The node."""
        return self.subject.node or ""

    @property
    def case(self) -> str:
        """Which sentence fits: `no_telemetry` (none of the measures is known then), `quiet` (no incident), `found`."""
        if self.layers.is_empty():
            return "no_telemetry"
        return "found" if self.kind else "quiet"

    @cached_property
    def courses(self) -> list[Course]:
        """The measures that have samples of the node then."""
        found = [_measure(self.con, self.config, self.window, name) for name in self.measures]
        return [each for each in found if each is not None and self.node in each.nodes]

    @cached_property
    def layers(self) -> pl.DataFrame:
        """The node over all nodes, layer by layer: layer, at, value, median, p5, p95."""
        return pl.concat([pl.DataFrame(schema=_LAYERS), *(_layer(each, self.node) for each in self.courses)])

    @cached_property
    def changes(self) -> pl.DataFrame:
        """How each measure changed at the event: rows of `node_changes.changes`."""
        return node_changes.changes(self.courses, self.node, self.subject.at)

    @cached_property
    def timeline(self) -> pl.DataFrame:
        """What happened to the node and its session meanwhile, from every source, with file and line."""
        told = sources.timeline(self.con, self.subject, self.window)
        is_own = pl.col("node").is_null() | (pl.col("node") == self.node)
        return told.filter(is_own).select(happened_at="at").hstack(told.filter(is_own).select(_TOLD))

    @cached_property
    def marks(self) -> pl.DataFrame:
        """What is marked on the picture: at, name (empty where a mark near it names both)."""
        named = self.timeline.select(at="happened_at", name=_mark_name()).drop_nulls("name")
        return _together(named, (self.window.end - self.window.start) / MARKS_APART)

    @cached_property
    def phases(self) -> pl.DataFrame:
        """Phases of the session that ran on it."""
        return phases(self.con, self.window, [self.subject.session_id or ""])

    @property
    def missing(self) -> list[str]:
        """Measures without samples of the node then."""
        known = {each.role.role for each in self.courses}
        return [name for name in self.measures if name not in known]

    @property
    def kind_words(self) -> str:
        """The kind of its incident in words: `XID 79`, or as an incident file has it."""
        code = (self.kind or "").replace("sxid_", "SXid ").replace("xid_", "XID ")
        return code.replace("bus_loss", "GPU off the bus")

    def sentence(self) -> str:
        """The measure that left the peers furthest, that none left them, or that the node fell silent, as a clause."""
        return node_changes.sentence(self.changes)


def node_case(
    con: duckdb.DuckDBPyConnection, config: Config, node: str = "", at: str = "", roles: str = "", before_h: float = 0
) -> NodeCase | None:
    """The case of a node and a time; of the latest incident with a node where neither is named, null without any.

    Parameters
    ----------
    roles
        Measures with spaces or commas between; by default those of the incident's class (staging.case_measures).
    before_h
        Hours to show before the time; 0: those of the class.

    Raises
    ------
    SubjectError
        If the node or the time is not known, or only one is named, or the hours are not those of a picture.
    RoleError
        If there is no such role.
    """
    zone = config.cluster.time_zone
    named = tuple(roles.replace(",", " ").split())
    _refuse(con, config, named, before_h)
    if node or at:
        subject = find(con, zone, node=node, at=at)
    elif (latest := query(con, _LATEST)).height:
        subject = find(con, zone, incident=latest.item())
    else:
        return None
    kind, class_name = _kind(con, subject)
    usual = query(con, _MEASURES, class_name=class_name).row(0, named=True)
    measures = named or tuple(usual["measures"].split())
    start, end = subject.at - timedelta(hours=before_h or usual["before_h"]), timedelta(hours=usual["after_h"])
    window = Window(start, subject.at + end, zone, "around the event")
    return NodeCase(con, config, subject, kind, class_name, measures, window)


def _refuse(con: duckdb.DuckDBPyConnection, config: Config, roles: tuple[str, ...], before_h: float) -> None:
    if not 0 <= before_h <= MOST_HOURS:
        raise SubjectError(f"before_h = {before_h:g}: hours to show before the time, from 0 to {MOST_HOURS}")
    for role in set(roles) - {GETATTR}:
        resolve(con, role, config.roles)


_LAYERS: dict[str, Any] = {"layer": pl.String, "at": pl.Datetime("us", "UTC")} | dict.fromkeys(
    ("value", "median", "p5", "p95"), pl.Float64
)
_TOLD = ("node", "kind", "value", "file", "line", "session_id")
_LATEST = """
    with every as (
        select incident_id, started_at from marts.incidents
        union all select incident_id, started_at from marts.node_incidents
    )
    select incident_id from every order by started_at desc, incident_id limit 1
"""
_KIND = """
    select kind, class from marts.incidents where incident_id = $incident
    union all
    select kind, null from marts.node_incidents where incident_id = $incident
    limit 1
"""
_MEASURES = """
    select measures, before_h, after_h from staging.case_measures
    where class in ($class_name, 'other') order by class = 'other' limit 1
"""


def _kind(con: duckdb.DuckDBPyConnection, subject: Subject) -> tuple[str | None, str]:
    found = query(con, _KIND, incident=subject.incident_id or "")
    kind, class_name = found.row(0) if found.height else (None, None)
    return kind, class_name or "other"


def _mark_name() -> pl.Expr:
    """A short name for what is marked; null for the rest."""
    value = pl.col("value").fill_null("")
    names = {
        "xid": pl.concat_str(pl.lit("XID "), value.str.split(" ").list.first()),
        "bus_loss": pl.lit("off the bus"),
        "node_incident_started": pl.concat_str(pl.lit("incident "), value.str.slice(0, 20)),
        "node_state_started": value.str.split(":").list.first().str.slice(0, 16),
        "session_ended": pl.lit("end"),
        "session_started": pl.lit("start"),
        "annotation": value.str.slice(0, 20),
    }
    return pl.coalesce(pl.when(pl.col("kind") == kind).then(name) for kind, name in names.items())


def _together(named: pl.DataFrame, apart: timedelta) -> pl.DataFrame:
    """A mark an instant; those within `apart` of one with names leave it theirs, each once, four at most."""
    groups: list[tuple[datetime, list[str], set[datetime]]] = []
    for at, name in named.sort("at", maintain_order=True).iter_rows():
        if not groups or at - groups[-1][0] >= apart:
            groups.append((at, [], set()))
        groups[-1][1].extend([name] * (name not in groups[-1][1]))
        groups[-1][2].add(at)
    rows: list[tuple[datetime, str]] = []
    for first, names, instants in groups:
        rows.append((first, ", ".join(names[:MOST_NAMES]) + ", …" * (len(names) > MOST_NAMES)))
        rows += [(at, "") for at in sorted(instants - {first})]
    return pl.DataFrame(rows, schema={"at": pl.Datetime("us", "UTC"), "name": pl.String}, orient="row")


def _measure(con: duckdb.DuckDBPyConnection, config: Config, window: Window, name: str) -> Course | None:
    """A role's course; counters of rare events as what has come since the start."""
    if name == GETATTR:
        return _getattr(con, config, window)
    found = course(con, config, window, name)
    if found is None or name not in CUMULATED:
        return found
    counts = np.nancumsum(found.values, axis=0) * found.step.total_seconds()
    return replace(found, values=np.where(np.isnan(found.values), np.nan, counts), unit=found.role.unit)


def _getattr(con: duckdb.DuckDBPyConnection, config: Config, window: Window) -> Course | None:
    """Milliseconds until the answer to a GETATTR: the sum of their time over their count, step by step."""
    time = _of_operation(con, config, window, "nfs_response_time", "GETATTR")
    count = _of_operation(con, config, window, "nfs_requests", "GETATTR")
    if time is None or count is None or (time.step, time.at[0]) != (count.step, count.at[0]):
        return None
    nodes = tuple(node for node in time.nodes if node in count.nodes)
    steps = min(time.values.shape[0], count.values.shape[0])
    spent, asked = (each.values[:steps, [each.nodes.index(node) for node in nodes]] for each in (time, count))
    means = 1000 * np.divide(spent, asked, out=np.full(spent.shape, np.nan), where=asked > 0)
    return replace(time, role=replace(time.role, role=GETATTR), unit="ms", nodes=nodes, values=means)


def _of_operation(
    con: duckdb.DuckDBPyConnection, config: Config, window: Window, role: str, operation: str
) -> Course | None:
    """A role's course for one NFS operation."""
    resolved = resolve(con, role, config.roles)
    if resolved is None:
        return None
    narrow = Role(metric=resolved.source.metric, labels={**dict(resolved.source.labels), "operation": operation})
    return course(con, config.model_copy(update={"roles": {**config.roles, role: narrow}}), window, role)


def _layer(found: Course, node: str) -> pl.DataFrame:
    fleet = band(found).select("at", "median", "p5", "p95")
    joined = fleet.join(lines(found, [node]).select("at", "value"), on="at", how="left", maintain_order="left")
    return joined.select(pl.lit(found.title).alias("layer"), "at", "value", "median", "p5", "p95")
