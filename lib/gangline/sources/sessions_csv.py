"""Sessions of any scheduler as a plain table: one row a session, in gangline's own columns."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial

from gangline.hostlists import HostListError, expand
from gangline.sources.files import InputFile
from gangline.sources.records import SESSION_RECORDS, Batch, ReadLog, SourceOptions
from gangline.sources.table_rows import Row, RowError
from gangline.sources.table_times import ordered_instants
from gangline.sources.tables_csv import Columns, read_table
from gangline.vocabulary import EndReason, SourceKind, StartKind

KIND = SourceKind.SESSIONS_CSV
VERSION = 1
COLUMNS = Columns(
    ("session_id", "job_name", "nodes", "started_at", "ended_at", "end_reason"),
    (
        "owner",
        "partition",
        "gpu_count",
        "created_at",
        "time_limit_min",
        "attempt",
        "start_kind",
        "reached_training",
        "training_from",
    ),
)
END_REASONS = frozenset(EndReason)
START_KINDS = frozenset(StartKind)
OVER = END_REASONS - {EndReason.RUNNING, EndReason.NEVER_STARTED, EndReason.UNKNOWN}


def read(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[Batch]:
    """Yields the sessions of a table.

    An empty `ended_at` is a session that still ran at export, an empty `started_at` one that never started. An
    `end_reason` outside the closed list is kept as the source's state and counted. An id that comes twice is two
    records: they are merged later, as the records of several files are.

    Raises
    ------
    SourceRefusedError
        If the header lacks a required column.
    """
    yield from read_table(file, options, log, SESSION_RECORDS, COLUMNS, partial(session, options=options, log=log))


def session(row: Row, options: SourceOptions, log: ReadLog) -> dict[str, object]:
    """One row as a session record."""
    session_id = row.required_word("session_id")
    names = nodes(row)
    created_at, started_at, ended_at = ordered_instants(row, ("created_at", "started_at", "ended_at"), options, log)
    (training_from,) = ordered_instants(row, ("training_from",), options, log)
    values = {
        "session_id": session_id,
        "bare_id": session_id,
        "created_at": created_at,
        "started_at": started_at,
        "ended_at": ended_at,
        "end_source": None if ended_at is None else "session",
        "training_from": training_from,
    } | plain_cells(row)
    log_contradictions(row, started_at, ended_at, log)
    if created_at is not None and started_at is not None and created_at > started_at:
        log.odd("created_after_start", row.line)
    log.saw(created_at, started_at, ended_at)
    states = {"state_key": state_key(row, ended_at, log), "start_kind": start_kind(row, log)}
    return values | states | {"nodes": held_nodes(names, started_at, row.line, log)}


def plain_cells(row: Row) -> dict[str, object]:
    """The cells that need nothing but their own column."""
    return {
        "job_name": row.text("job_name"),
        "owner": row.word("owner"),
        "partition": row.word("partition"),
        "gpu_count": row.number("gpu_count"),
        "time_limit_min": row.number("time_limit_min"),
        "source_state": row.text("end_reason"),
        "attempt": row.count("attempt"),
        "reached_training": row.flag("reached_training"),
    }


def nodes(row: Row) -> list[str]:
    """The nodes of a host list, or of names joined by semicolons."""
    names: dict[str, None] = {}
    try:
        for part in (row.word("nodes") or "").split(";"):
            names |= dict.fromkeys(expand(part))
    except HostListError as error:
        raise RowError(f"nodes: {error}: write a host list (gpu[001-003,007]) or names joined by ';'") from error
    return list(names)


def held_nodes(names: list[str], started_at: datetime | None, line: int, log: ReadLog) -> list[str] | None:
    """The nodes held: none where the session never started, unknown where it started and none are given."""
    if started_at is None:
        if names:
            log.odd("nodes_without_start", line)
        return []
    if not names:
        log.odd("no_nodes", line)
    return names or None


def state_key(row: Row, ended_at: datetime | None, log: ReadLog) -> str:
    """The end reason, in lower case where it is one of the closed list."""
    text = row.word("end_reason")
    if text is None:
        if ended_at is not None:
            log.odd("no_end_reason", row.line)
        return EndReason.RUNNING if ended_at is None else EndReason.UNKNOWN
    if text.casefold() in END_REASONS:
        return text.casefold()
    log.odd("unmapped_state", row.line)
    return text


def start_kind(row: Row, log: ReadLog) -> str | None:
    """How the session followed the one before it, where that is one of the closed list."""
    word = (row.word("start_kind") or "").casefold()
    if word in START_KINDS:
        return word
    if word:
        log.odd("unmapped_start_kind", row.line)
    return None


def log_contradictions(row: Row, started_at: datetime | None, ended_at: datetime | None, log: ReadLog) -> None:
    """Counts rows whose end reason and times do not agree; the times are believed."""
    reason = (row.word("end_reason") or EndReason.UNKNOWN).casefold()
    if reason == EndReason.RUNNING and ended_at is not None:
        log.odd("running_with_end", row.line)
    if reason == EndReason.NEVER_STARTED and started_at is not None:
        log.odd("never_started_with_start", row.line)
    if reason in OVER and ended_at is None:
        log.odd("ended_without_end", row.line)
