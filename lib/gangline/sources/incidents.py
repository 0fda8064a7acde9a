"""Node incidents: a ticket table in gangline's own columns, or a fault trace as JSON, told apart by content."""

from collections.abc import Iterator
from functools import partial

from gangline.hostlists import HostListError, expand
from gangline.sources.fault_trace import trace_rows
from gangline.sources.files import UTF8_BOM, InputFile
from gangline.sources.records import INCIDENT_RECORDS, Batch, ReadLog, SourceOptions
from gangline.sources.table_rows import Row, RowError
from gangline.sources.table_times import ordered_instants
from gangline.sources.tables_csv import Columns, batches, read_table
from gangline.vocabulary import SourceKind

KIND = SourceKind.INCIDENTS
VERSION = 3
COLUMNS = Columns(("incident_id", "node", "started_at", "ended_at", "kind"), ("class", "detail"))
HEAD_BYTES = 4096


def read(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[Batch]:
    """Yields the incidents of a table or of a fault trace; an empty `ended_at` (or no end) is one still open.

    Raises
    ------
    SourceRefusedError
        If a table's header lacks a required column, or the options lack a trace's epoch.
    """
    if is_json(file):
        yield from batches(INCIDENT_RECORDS, trace_rows(file, options, log))
    else:
        yield from read_table(file, options, log, INCIDENT_RECORDS, COLUMNS, partial(ticket, options=options, log=log))


def is_json(file: InputFile) -> bool:
    """True where the first character is the beginning of a JSON array or object."""
    with file.open() as stream:
        return stream.read(HEAD_BYTES).removeprefix(UTF8_BOM).lstrip()[:1] in (b"[", b"{")


def ticket(row: Row, options: SourceOptions, log: ReadLog) -> dict[str, object]:
    """One row as an incident record."""
    incident_id, node = row.required_word("incident_id"), one_node(row)
    row.required_word("started_at")
    started_at, ended_at = ordered_instants(row, ("started_at", "ended_at"), options, log)
    if started_at == ended_at:
        log.odd("zero_length", row.line)
    if row.word("kind") is None:
        log.odd("no_kind", row.line)
    log.saw(started_at, ended_at)
    return {
        "incident_id": incident_id,
        "node": node,
        "started_at": started_at,
        "ended_at": ended_at,
        "kind": row.word("kind") or "unknown",
        "class": row.word("class"),
        "detail": row.text("detail"),
    }


def one_node(row: Row) -> str:
    """The node's name; a list of nodes is no incident of one node."""
    try:
        nodes = expand(row.required_word("node"))
    except HostListError as error:
        raise RowError(f"node is {error}: write the node's name") from error
    if len(nodes) != 1:
        raise RowError(f"node names {len(nodes)} nodes: give each node its own row")
    return nodes[0]
