"""Annotations of a window: what people remarked on sessions, nodes and incidents, beside what the logs say."""

from collections.abc import Collection

import duckdb
import polars as pl

from gangline.warehouse.querying import query
from gangline.windows import Window

LABELS = {
    "about": "About",
    "target": "Which",
    "node": "On node",
    "meaning": "Remark",
    "from_at": "From (UTC)",
    "to_at": "To (UTC)",
    "is_planned": "Planned",
}


def within(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Remarks whose time meets the window, a row each, earliest first.

    The time of a remark is its own; where it names none, that of the session or incident that it is about, and of a
    node's remark, all times. Columns: about (`session`, `node` or `incident`), session_id, incident_id, node (of an
    incident: the one that it is on), cause, is_planned, meaning (the remark), from_at and to_at (null: open). Remarks
    whose target no export knows are in no window: the quality report counts them.
    """
    return query(con, _WITHIN, start=window.start, end=window.end)


def about(notes: pl.DataFrame, *kinds: str) -> pl.DataFrame:
    """Of the remarks those about these kinds of things: `session`, `node`, `incident`."""
    return notes.filter(pl.col("about").is_in(kinds))


def on_sessions(notes: pl.DataFrame, session_ids: Collection[str | None]) -> pl.DataFrame:
    """Of the remarks those about one of these sessions."""
    return notes.filter(pl.col("session_id").is_in({name for name in session_ids if name is not None}))


def table(notes: pl.DataFrame) -> pl.DataFrame:
    """Remarks as a page shows them: what each is about in one column, the node beside an incident only."""
    shown = notes.select(
        "about",
        target=pl.coalesce("session_id", "incident_id", "node"),
        node=pl.when(pl.col("about") == "incident").then("node"),
    ).with_columns(notes.select("cause", "meaning", "from_at", "to_at", "is_planned"))
    return shown.drop("node") if shown["node"].null_count() == shown.height else shown


def marked(sessions: pl.DataFrame, notes: pl.DataFrame) -> pl.DataFrame:
    """Sessions with `is_noted`: whether somebody remarked on them; takes rows with `session_id`."""
    return sessions.with_columns(is_noted=pl.col("session_id").is_in(notes["session_id"].drop_nulls().unique()))


_WITHIN = """
    with targeted as (
        select
            case
                when annotations.session_id is not null then 'session'
                when annotations.incident_id is not null then 'incident'
                else 'node'
            end as about,
            annotations.session_id,
            annotations.incident_id,
            coalesce(annotations.node, node_incidents.node) as node,
            coalesce(annotations.started_at, sessions.started_at, sessions.created_at, node_incidents.started_at)
                as from_at,
            coalesce(annotations.ended_at, sessions.ended_at, node_incidents.ended_at) as to_at,
            annotations.cause,
            annotations.is_planned,
            annotations.note as meaning
        from marts.annotations
        left join marts.sessions on sessions.session_id = annotations.session_id
        left join marts.node_incidents on node_incidents.incident_id = annotations.incident_id
        where coalesce(annotations.session_id, annotations.incident_id, annotations.node) is not null
    )
    from targeted
    where coalesce(from_at < $end, true) and coalesce(to_at > $start or from_at >= $start, true)
    order by from_at nulls first, about, session_id, incident_id, node, cause, meaning
"""
