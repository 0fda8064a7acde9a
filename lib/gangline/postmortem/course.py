"""The downtime split: from the last step before an end to the step that caught up with it, unknown parts named."""

from datetime import datetime
from typing import Any

import duckdb
import polars as pl

from gangline.estimates import Estimate
from gangline.postmortem.subjects import Subject
from gangline.warehouse.querying import query

MARKS = {
    "last_step": "last step logged",
    "detected": "first sign in a log",
    "ended": "session ended",
    "resubmitted": "the session that trained again was submitted",
    "started": "it started: it had waited in the queue",
    "loaded": "its checkpoint was loaded",
    "first_step": "its first step",
    "caught_up": "it passed the last step of before",
}
"""What ends each part, in their usual order."""
_REASONS = {
    "last_step": "no run with its steps is linked to the session",
    "detected": "no XID, incident or remark stands near the end",
    "ended": "it is still open",
    "resubmitted": "no session trained again, or its source does not tell when it was submitted",
    "started": "no session trained again by the end of the export",
    "loaded": "no load of it is seen in the telemetry",
    "first_step": "no run with its steps is linked to it",
    "caught_up": "it did not log a step beyond, or no run tells",
}


def split(con: duckdb.DuckDBPyConnection, subject: Subject) -> pl.DataFrame:
    """A row a mark: mark, meaning, reached_at, part_min (since the mark before it that is known), reason where unknown.

    Parts are in order of their marks; one that a mark before it overtakes counts 0, not less.
    """
    known = _marks(con, subject)
    rows: list[tuple[object, ...]] = []
    last: datetime | None = None
    for mark, meaning in MARKS.items():
        at = known.get(mark)
        part = None if at is None or last is None else max(0.0, (at - last).total_seconds() / 60)
        rows.append((mark, meaning, at, part, None if at else _REASONS[mark]))
        last = max(at, last) if at and last else at or last
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def attempts(con: duckdb.DuckDBPyConnection, subject: Subject) -> pl.DataFrame:
    """Gang sessions of the lineage after the end, up to the one that trained again (ten at most where none did).

    session_id, start_kind, started_at, ended_at, gap_min, node_count, end_reason, reached_training, kept_node (whether
    the node at fault was in it; null where none is known).
    """
    return query(
        con, _ATTEMPTS, at=subject.at, lineage=subject.lineage_id or "", node=subject.node or "", **_own(subject)
    )


def cost(con: duckdb.DuckDBPyConnection, subject: Subject, lost_h: float | None) -> dict[str, Estimate]:
    """What the end cost: hours down and their GPU-hours, work lost and its GPU-hours, attempts in vain.

    `lost_h` is that of `lost_times.by_end`; null where nothing tells.
    """
    gpus, down_h, attempts_count = query(con, _COST, **_own(subject)).row(0)
    down = _hours(down_h, "no downtime began with it, or nothing has trained since")
    lost = _hours(lost_h, "nothing tells what was done since the last checkpoint")
    return {
        "down": down,
        "down_gpu_h": _gpu_hours(down, gpus),
        "lost": lost,
        "lost_gpu_h": _gpu_hours(lost, gpus),
        "attempts": Estimate(
            float(attempts_count), "attempts", attempts_count, method="gang sessions that did not train"
        ),
    }


_SCHEMA: dict[str, Any] = {
    "mark": pl.String,
    "meaning": pl.String,
    "reached_at": pl.Datetime("us", "UTC"),
    "part_min": pl.Float64,
    "reason": pl.String,
}


def _own(subject: Subject) -> dict[str, str]:
    return {"session": subject.session_id or ""}


def _hours(value: float | None, reason: str) -> Estimate:
    return Estimate.missing("h", reason) if value is None else Estimate(value, "h", None)


def _gpu_hours(hours: Estimate, gpus: float | None) -> Estimate:
    if hours.value is None or gpus is None:
        return Estimate.missing("GPU-hours", hours.reason or "its source does not tell GPUs")
    return Estimate(hours.value * gpus, "GPU-hours", None)


def _marks(con: duckdb.DuckDBPyConnection, subject: Subject) -> dict[str, datetime]:
    found = query(con, _MARKS, at=subject.at, node=subject.node or "", **_own(subject))
    row: dict[str, Any] = found.row(0, named=True) if found.height else {}
    return {mark: at for mark, at in row.items() if at is not None}


_MARKS = """
with failed as (
    select session_id, lineage_id, ended_at, last_step_at, max_step from marts.sessions where session_id = $session
),
back as (
    select downtimes.restoring_session_id as session_id, sessions.created_at, sessions.started_at
    from marts.downtimes as downtimes
    join failed on failed.session_id = downtimes.failed_session_id
    left join marts.sessions as sessions on sessions.session_id = downtimes.restoring_session_id
    order by downtimes.started_at limit 1
),
signs as (
    select min("at") as detected from marts.events
    where kind in ('xid', 'bus_loss', 'incident_started', 'node_incident_started', 'annotation')
        and (node = $node or session_id = $session)
        and "at" >= $at::timestamptz - interval 30 minutes and "at" < $at::timestamptz + interval 30 minutes
),
steps as (
    select min(rows."at") filter (where rows.step > failed.max_step) as caught_up
    from back
    cross join failed
    join marts.run_processes as processes on processes.session_id = back.session_id
    join marts.run_steps as rows on rows.run_id = processes.run_id and rows."at" >= back.started_at
),
loads as (
    select min(ended_at) as loaded from marts.checkpoint_loads where session_id = (select session_id from back)
),
first_steps as (
    select min(first_step_at) as first_step from marts.run_processes
    where session_id = (select session_id from back) and first_step_at >= (select started_at from back)
)
select failed.last_step_at as last_step, signs.detected, failed.ended_at as ended, back.created_at as resubmitted,
    back.started_at as started, loads.loaded, first_steps.first_step, steps.caught_up
from failed left join back on true, signs, steps, loads, first_steps
"""
_ATTEMPTS = """
with failed as (select * from marts.sessions where session_id = $session),
restoring as (
    select sessions.started_at from marts.downtimes as downtimes
    join marts.sessions as sessions on sessions.session_id = downtimes.restoring_session_id
    where downtimes.failed_session_id = $session order by downtimes.started_at limit 1
),
later as (
    select sessions.* from marts.sessions as sessions
    where sessions.is_gang and sessions.lineage_id = $lineage and sessions.session_id <> $session
        and sessions.started_at >= $at::timestamptz - interval 1 minute
        and sessions.started_at <= coalesce((select started_at from restoring), 'infinity'::timestamptz)
)
select session_id, start_kind, started_at, ended_at,
    greatest(0, minutes_between(
        coalesce(lag(ended_at) over (order by started_at, session_id), (select ended_at from failed)), started_at
    )) as gap_min,
    node_count, end_reason, reached_training,
    if($node = '', null, exists (
        from marts.session_nodes as nodes where nodes.session_id = later.session_id and nodes.node = $node
    )) as kept_node
from later order by started_at, session_id limit if((select count(*) from restoring) > 0, 200, 10)
"""
_COST = """
    select (select gpu_count from marts.sessions where session_id = $session) as gpus,
        (select coalesce(downtime_h, to_session_h) from marts.downtimes
            where failed_session_id = $session order by started_at limit 1) as down_h,
        coalesce((select failed_attempts from marts.downtimes
            where failed_session_id = $session order by started_at limit 1), 0) as attempts
"""
