"""Annotations: what people know about a session, an incident or a node and no log says."""

from collections.abc import Iterator
from functools import partial

from gangline.sources.files import InputFile
from gangline.sources.records import ANNOTATION_RECORDS, Batch, ReadLog, SourceOptions
from gangline.sources.table_rows import Row
from gangline.sources.table_times import ordered_instants
from gangline.sources.tables_csv import Columns, read_table
from gangline.vocabulary import SourceKind

KIND = SourceKind.ANNOTATIONS_CSV
VERSION = 1
COLUMNS = Columns(("target", "from", "to", "cause"), ("planned", "note"))


def read(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[Batch]:
    """Yields the annotations of a table; an empty `from` or `to` leaves that side open.

    Their times are what people say and move no export time.

    Raises
    ------
    SourceRefusedError
        If the header lacks a required column.
    """
    yield from read_table(
        file, options, log, ANNOTATION_RECORDS, COLUMNS, partial(annotation, options=options, log=log)
    )


def annotation(row: Row, options: SourceOptions, log: ReadLog) -> dict[str, object]:
    """One row as an annotation record."""
    started_at, ended_at = ordered_instants(row, ("from", "to"), options, log)
    return {
        "target": row.required_word("target"),
        "started_at": started_at,
        "ended_at": ended_at,
        "cause": row.text("cause"),
        "is_planned": row.flag("planned"),
        "note": row.text("note"),
    }
