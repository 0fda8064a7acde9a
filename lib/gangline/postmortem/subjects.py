"""What a postmortem is about, from a session's id, an incident's id, or a node and a time."""

import difflib
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from zoneinfo import ZoneInfo

import duckdb

from gangline.warehouse.querying import query
from gangline.windows import Window

NEAR = timedelta(minutes=30)
BEFORE, AFTER = timedelta(hours=6), timedelta(hours=2)
LONGEST = timedelta(days=4)
LONGEST_SLUG, LONGEST_SAID = 60, 80
YEARS = range(1970, 2200)


class SubjectError(ValueError):
    """Nothing, or more than one thing, is what was named; one line that says so, with the nearest."""


@dataclass(frozen=True)
class Subject:
    """One thing that happened.

    Attributes
    ----------
    at
        The instant that the page turns around: the session's end, the incident's start, the time given.
    node, session_id, incident_id, lineage_id
        What it concerns, where known: the node at fault, the session that ended or ran, the incident.
    is_end
        Whether `at` is the end of the session.
    restored_at
        When training was back, where a downtime began with this end and it was.
    named
        What names it again: the names and values of `find`.
    """

    at: datetime
    node: str | None = None
    session_id: str | None = None
    incident_id: str | None = None
    lineage_id: str | None = None
    is_end: bool = False
    restored_at: datetime | None = None
    named: tuple[tuple[str, str], ...] = ()

    @property
    def slug(self) -> str:
        """A name for its folder, its own: the instant in UTC and what names it, in letters that every disk takes."""
        what = self.named[0][1] if self.named else "event"
        kept = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in what)[:LONGEST_SLUG]
        is_whole = kept == what.replace(":", "-")
        digest = "" if is_whole else f"-{sha256(what.encode()).hexdigest()[:8]}"
        at = self.at.astimezone(UTC)
        return f"{at:%Y-%m-%dT%H%M}{f'{at:%S}' if at.second else ''}_{kept.strip('-')}{digest}"

    def window(self, time_zone: str) -> Window:
        """What the page covers: six hours before, to two hours after training was back, four days at most."""
        end = max(self.at, self.restored_at or self.at) + AFTER
        start = self.at - BEFORE
        start = start.replace(minute=0, second=0, microsecond=0)
        end = min(end, start + LONGEST).replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        zone = ZoneInfo(time_zone)
        return Window.between(start.astimezone(zone).isoformat(), end.astimezone(zone).isoformat(), time_zone)


def find(
    con: duckdb.DuckDBPyConnection,
    time_zone: str,
    session: str = "",
    incident: str = "",
    node: str = "",
    at: str = "",
) -> Subject:
    """The subject that one of the three ways names.

    Parameters
    ----------
    session
        A session's id, or the id that a person types where it is unique.
    incident
        An id of `marts.incidents` (begins `inc:`) or of `marts.node_incidents` (begins `node:`).
    node, at
        A node and a time (of the cluster's zone where it has no offset).

    Raises
    ------
    SubjectError
        If not exactly one way is given, or nothing is found.
    """
    ways = [bool(session), bool(incident), bool(node or at)]
    if sum(ways) != 1:
        raise SubjectError("name one thing: --session ID, --incident ID, or --node N --at TIME")
    if session:
        return _restored(con, _of_session(con, session))
    if incident:
        return _restored(con, _of_incident(con, incident))
    if not (node and at):
        raise SubjectError("--node and --at go together: --node gpu071 --at 2025-10-08T14:00")
    return _restored(con, _of_node(con, node, _instant(at, time_zone)))


def _of_session(con: duckdb.DuckDBPyConnection, name: str) -> Subject:
    rows = query(con, _SESSION, name=name)
    if rows.is_empty():
        names = query(con, "select session_id, bare_id from marts.sessions where has_started").rows()
        raise SubjectError(
            f"no started session {_said(name)}{_nearest(name, [part for row in names for part in row if part])}"
        )
    if rows.height > 1:
        ids = ", ".join(rows["session_id"].head(5))
        raise SubjectError(f"{rows.height} sessions are called {_said(name)}: name one of {ids}")
    row = rows.row(0, named=True)
    incident = _first(con, _INCIDENT_OF, session=row["session_id"])
    node = incident["node"] if incident else (row["nodes"][0] if len(row["nodes"]) == 1 else None)
    at, is_end = (row["ended_at"], True) if row["ended_at"] else (row["until_at"], False)
    return Subject(at, node, row["session_id"], (incident or {}).get("incident_id"), row["lineage_id"], is_end,
                   named=(("session", row["session_id"]),))  # fmt: skip


def _of_incident(con: duckdb.DuckDBPyConnection, name: str) -> Subject:
    row = _first(con, _INCIDENT, name=name)
    if row is None:
        names = query(con, _INCIDENT_NAMES)["name"].to_list()
        raise SubjectError(f"no incident {_said(name)}{_nearest(name, names)}")
    session = row["session_id"] or (_session_at(con, row["node"], row["started_at"]) or {}).get("session_id")
    lineage = _first(con, "select lineage_id from marts.sessions where session_id = $id", id=session or "")
    return Subject(row["started_at"], row["node"], session, row["incident_id"], (lineage or {}).get("lineage_id"),
                   named=(("incident", row["incident_id"]),))  # fmt: skip


def _of_node(con: duckdb.DuckDBPyConnection, node: str, at: datetime) -> Subject:
    names = query(con, "select node from marts.nodes where is_named")["node"].to_list()
    if node not in names:
        raise SubjectError(f"no node {_said(node)}{_nearest(node, names)}")
    session = _session_at(con, node, at) or {}
    near = {"node": node, "start": at - NEAR, "end": at + NEAR, "at": at}
    incident = _first(con, _NEAREST_INCIDENT, **near) or {}
    return Subject(at, node, session.get("session_id"), incident.get("incident_id"), session.get("lineage_id"),
                   named=(("node", node), ("at", at.isoformat())))  # fmt: skip


def _session_at(con: duckdb.DuckDBPyConnection, node: str | None, at: datetime) -> dict[str, Any] | None:
    return _first(con, _SESSION_AT, node=node, at=at, earliest=at - NEAR)


def _restored(con: duckdb.DuckDBPyConnection, subject: Subject) -> Subject:
    row = _first(con, _RESTORED, session=subject.session_id or "", at=subject.at)
    return replace(subject, restored_at=row["restored_at"]) if row else subject


def _instant(text: str, time_zone: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise SubjectError(
            f"--at {_said(text)}: write it as 2025-10-08T14:00 (of the cluster's zone) or with an offset"
        ) from None
    if moment.year not in YEARS:
        raise SubjectError(f"--at {_said(text)}: no export reaches to the year {moment.year}; mend the year")
    return (moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(time_zone))).astimezone(UTC)


def _first(con: duckdb.DuckDBPyConnection, sql: str, **values: Any) -> dict[str, Any] | None:
    rows = query(con, sql, **values)
    return None if rows.is_empty() else rows.row(0, named=True)


def _said(name: str) -> str:
    """A name as it was typed, on one line and not too long."""
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in name[: LONGEST_SAID + 1])
    return shown if len(name) <= LONGEST_SAID else f"{shown[:LONGEST_SAID]}…"


def _nearest(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name[:LONGEST_SAID], names, 1, cutoff=0.5)
    return f"; did you mean {_said(near[0])}?" if near else ""


_SESSION = """
    select sessions.session_id, sessions.lineage_id, sessions.ended_at, sessions.until_at,
        (select coalesce(list(distinct node order by node), []) from marts.session_nodes as nodes
            where nodes.session_id = sessions.session_id) as nodes
    from marts.sessions as sessions
    where has_started and (sessions.session_id = $name
        or (bare_id = $name and not exists (from marts.sessions as exact where exact.session_id = $name)))
    order by sessions.session_id
"""
_INCIDENT_OF = """
    with own as (
        select incident_id, node, abs(attribution_gap_min) as gap_min, 0 as place from marts.incidents
        where session_id = $session
    ),
    filed as (
        select incidents.incident_id, incidents.node,
            abs(minutes_between(incidents.started_at, sessions.ended_at)) as gap_min, 1 as place
        from marts.node_incidents as incidents
        join marts.session_nodes as nodes on nodes.node = incidents.node and nodes.session_id = $session
        join marts.sessions as sessions on sessions.session_id = $session
        where incidents.started_at >= sessions.ended_at - interval 30 minutes
            and incidents.started_at < sessions.ended_at + interval 30 minutes
    )
    select incident_id, node from (from own union all from filed) order by place, gap_min, incident_id limit 1
"""
_INCIDENT = """
    select incident_id, node, started_at, session_id from marts.incidents where incident_id = $name
    union all
    select incident_id, node, started_at, null from marts.node_incidents where incident_id = $name
    order by all limit 1
"""
_INCIDENT_NAMES = """
    select incident_id as name from marts.incidents union all select incident_id from marts.node_incidents
"""
_NEAREST_INCIDENT = """
    with every as (
        select incident_id, node, started_at from marts.incidents
        union all select incident_id, node, started_at from marts.node_incidents
    )
    select incident_id from every where node = $node and started_at >= $start and started_at < $end
    order by abs(epoch(started_at) - epoch($at::timestamptz)), incident_id limit 1
"""
_SESSION_AT = """
    select sessions.session_id, sessions.lineage_id
    from marts.sessions as sessions
    join marts.session_nodes as nodes using (session_id)
    where nodes.node = $node and sessions.started_at <= $at and sessions.until_at >= $earliest
    order by sessions.until_at >= $at desc, sessions.is_gang desc, sessions.until_at desc, sessions.session_id limit 1
"""
_RESTORED = """
    select coalesce(training_restored_at, session_restored_at) as restored_at
    from marts.downtimes where failed_session_id = $session and started_at >= $at::timestamptz - interval 30 minutes
    order by started_at limit 1
"""
