"""What was looked at, source by source: something found, all normal, or no data."""

from enum import StrEnum

import duckdb
import polars as pl

from gangline.estimates.wording import counted
from gangline.postmortem.subjects import Subject
from gangline.warehouse.querying import query
from gangline.windows import Window


class Seen(StrEnum):
    """What a look at a source gave."""

    FOUND = "found"
    NORMAL = "normal"
    NO_DATA = "no data"


def looked_at(
    con: duckdb.DuckDBPyConnection, subject: Subject, window: Window, deviating: pl.DataFrame
) -> pl.DataFrame:
    """A row a source: source, seen, message (what was found, or what there was to look at).

    Parameters
    ----------
    deviating
        Rows of `deviations.deviations`.
    """
    told = query(con, _LOOKED, node=subject.node or "", session=subject.session_id or "", at=subject.at,
                 start=window.start, end=window.end).row(0, named=True)  # fmt: skip
    rows = [_row(name, told[f"{key}_covered"], told[f"{key}_found"], unit) for name, key, unit in _SOURCES]
    return pl.DataFrame(
        [*rows, _telemetry(deviating)], schema=dict.fromkeys(("source", "seen", "message"), pl.String), orient="row"
    )


def similar(con: duckdb.DuckDBPyConnection, subject: Subject) -> pl.DataFrame:
    """Earlier incidents on the same node or of the same kind, latest first.

    incident_id, node, started_at, kind, likeness ("same node and kind" and so on), session_id, action_taken.
    """
    return query(con, _SIMILAR, node=subject.node or "", at=subject.at, incident=subject.incident_id or "")


def audit(con: duckdb.DuckDBPyConnection, subject: Subject) -> pl.DataFrame:
    """What the incidents of the window's hour called for, and what was done: rows of `marts.incidents`."""
    return query(con, _AUDIT, node=subject.node or "", session=subject.session_id or "", at=subject.at)


def timeline(con: duckdb.DuckDBPyConnection, subject: Subject, window: Window) -> pl.DataFrame:
    """Everything of the window that concerns the node, the session or its lineage, in order: rows of `marts.events`.

    Beginnings and ends of single-node sessions elsewhere are left out.
    """
    return query(con, _TIMELINE, node=subject.node or "", session=subject.session_id or "",
                 lineage=subject.lineage_id or "", start=window.start, end=window.end)  # fmt: skip


_SOURCES = (
    ("kernel logs of the node", "kernel", "XID events, faults of switches or buses"),
    ("XID gauge of the node", "gauge", "changes"),
    ("scheduler's states of the node", "states", "states"),
    ("incident files", "filed", "incidents"),
    ("remarks of people", "remarks", "remarks"),
    ("steps of the run", "steps", "steps that were NaN"),
    ("console lines", "console", "lines that tell why a program ends"),
    ("checkpoints", "saves", "saves that did not end"),
)


def _row(name: str, covered: int, found: int, unit: str) -> tuple[str, str, str]:
    if not covered and not found:
        return name, Seen.NO_DATA, "nothing was read for this time"
    if found:
        return name, Seen.FOUND, f"{unit}: {found:,}"
    return name, Seen.NORMAL, f"of {counted(covered, 'records')} none tells anything unusual"


def _telemetry(deviating: pl.DataFrame) -> tuple[str, str, str]:
    from gangline.postmortem.deviations import outliers

    far, told = outliers(deviating), deviating.drop_nulls("z")
    if told.is_empty():
        return "metrics against the peers", Seen.NO_DATA, "no metric can be compared"
    if far.is_empty():
        return "metrics against the peers", Seen.NORMAL, f"of {counted(told.height, 'metrics')} none is beyond 3.5"
    return (
        "metrics against the peers",
        Seen.FOUND,
        f"{far.height} of {counted(told.height, 'metrics')}: {', '.join(far['role'].head(8))}",
    )


_LOOKED = """
with near as (select $at::timestamptz - interval 1 hour as from_at, $at::timestamptz + interval 1 hour as to_at),
runs as (select distinct run_id from marts.run_processes where session_id = $session)
select
    (select coalesce(sum(lines), 0) from staging.stg_exports__kernel_logs, near
        where node = $node and first_at < to_at and latest_at > from_at) as kernel_covered,
    (select count(*) from marts.xid_events, near
        where node = $node and "at" >= from_at and "at" < to_at and source like 'kernel_log%') as kernel_found,
    (select coalesce(sum(sample_count), 0) from marts.series semi join meta.xid_series using (series_id), near
        where node = $node and first_at < to_at and last_at > from_at) as gauge_covered,
    (select count(*) from marts.xid_events, near
        where node = $node and "at" >= from_at and "at" < to_at and source like '%gauge') as gauge_found,
    (select count(*) from marts.node_states) as states_covered,
    (select count(*) from marts.node_states, near
        where node = $node and state_kind <> 'up' and started_at < to_at
            and coalesce(ended_at, observed_until) > from_at) as states_found,
    (select count(*) from marts.node_incidents) as filed_covered,
    (select count(*) from marts.node_incidents, near
        where node = $node and started_at < to_at and coalesce(ended_at, observed_until) > from_at) as filed_found,
    (select count(*) from marts.annotations) as remarks_covered,
    (select count(*) from marts.annotations, near
        where (session_id = $session or node = $node) and coalesce(started_at, from_at) < to_at
            and coalesce(ended_at, to_at) > from_at) as remarks_found,
    (select coalesce(sum(history_rows), 0) from marts.run_processes where session_id = $session) as steps_covered,
    (select coalesce(sum(nan_steps), 0) from marts.sessions where session_id = $session) as steps_found,
    greatest(
        (select coalesce(sum(console_lines), 0) from marts.runs semi join runs using (run_id)),
        (select count(*) from marts.session_signatures where session_id = $session and has_console)
    ) as console_covered,
    (select count(*) from marts.log_signatures where session_id = $session) as console_found,
    (select count(*) from marts.checkpoint_saves where session_id = $session) as saves_covered,
    (select count(*) from marts.checkpoint_saves where session_id = $session and not is_completed) as saves_found
"""
_SIMILAR = """
with every as (
    select incident_id, node, started_at, kind, session_id, action_taken from marts.incidents
    union all
    select incident_id, node, started_at, kind, null, null from marts.node_incidents
),
own as (select kind from every where incident_id = $incident),
marked as (
    select *, node = $node as is_node, kind in (select kind from own) as is_kind from every
    where started_at < $at and incident_id <> $incident
)
select incident_id, node, started_at, kind,
    if(is_node and is_kind, 'same node and kind', if(is_node, 'same node', 'same kind')) as likeness,
    session_id, action_taken
from marked where is_node or is_kind order by started_at desc, incident_id limit 30
"""
_AUDIT = """
    select incident_id, node, started_at, kind, class, catalogue_action, policy, keep_node, next_session_id,
        next_kept_node, action_taken, action_evidence as reason
    from marts.incidents
    where session_id = $session
        or (node = $node and started_at >= $at::timestamptz - interval 1 hour
            and started_at < $at::timestamptz + interval 1 hour)
    order by started_at, incident_id
"""
_TIMELINE = """
    select events."at", events.node, events.kind, events.value, events.session_id, events.source, events.file,
        events.line
    from marts.events as events
    where events."at" >= $start and events."at" < $end and (
        events.node = $node or events.session_id = $session or (events.lineage_id = $lineage and $lineage <> '')
        or events.kind in ('xid', 'bus_loss', 'incident_started')
    )
    order by events."at", events.kind, events.value, events.node
"""
