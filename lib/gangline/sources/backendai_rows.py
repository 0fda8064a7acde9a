"""Backend.AI exports cut into rows: JSON in all its shapes, CSV of psql or of `admin export`, COPY text, pg_dump.

The form is told by content. A row is of one of the kinds session, kernel, session with a kernel beside it (admin
export), or step of a scheduling history, told by its columns.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gangline.estimates.wording import counted
from gangline.sources import tables_csv
from gangline.sources.backendai_json import json_rows
from gangline.sources.backendai_kinds import BackendRow, RowKind, kind_of
from gangline.sources.backendai_values import Cells, folded
from gangline.sources.files import InputFile
from gangline.sources.records import ReadLog, SourceOptions, SourceRefusedError

DUMP_TABLES = frozenset({"sessions", "kernels", "session_scheduling_history", "kernel_scheduling_history"})
_DUMP_STARTS = ("--", "COPY ", "SET ", "SELECT pg_catalog", "\\restrict")
_COPY = re.compile(r'COPY (?:"?[\w$]+"?\.)?"?([\w$]+)"? \((.*)\) FROM stdin;')
_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)", re.DOTALL)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
MAX_CELL_CHARS = 1 << 24  # a kernel's status_data may hold whole tracebacks
_HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class Head:
    """A file's first line that says anything, and its number."""

    line: int
    text: str


def backendai_rows(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[BackendRow]:
    """Yields the rows of a file in any form; each record is counted as it is cut, and what is none is rejected.

    Raises
    ------
    SourceRefusedError
        If the content is no form of Backend.AI export, with the command that makes one.
    """
    head = _head(file)
    if head.text.startswith(("{", "[", "\x1e")):
        return json_rows(file, log)
    if head.text.startswith(_DUMP_STARTS):
        return _dump_rows(file, log)
    if "\t" in head.text and options.delimiter in (None, "\t"):
        return _copy_rows(file, options, head, log)
    return _csv_rows(file, options, head, log)


def _head(file: InputFile) -> Head:
    with file.open() as stream:
        text = stream.read(_HEAD_BYTES).decode(errors="replace").lstrip("\ufeff")
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            return Head(number, line.lstrip() if line.lstrip()[0] in "{[" else line)
    raise SourceRefusedError(f"{file.path}:1: is empty: export the sessions again")


def _csv_rows(file: InputFile, options: SourceOptions, head: Head, log: ReadLog) -> Iterator[BackendRow]:
    if re.fullmatch(r"-\[ RECORD 1 \][-+]*| +\w+( +\| +\w+)* *", head.text):
        raise SourceRefusedError(
            f"{file.path}:{head.line}: this is psql's table for the screen: export with psql --csv"
        )
    cut = tables_csv.records(file, options.delimiter or ",", log, MAX_CELL_CHARS)
    header = next(cut, tables_csv.Record(1, "", []))
    if header.fault:
        raise SourceRefusedError(f"{file.path}:{header.line}: the header is no CSV line: {header.fault}")
    names = header.fields
    kind = _kind(names, file, head)
    for record in cut:
        log.split()
        if record.fields == names:
            log.ignore("header")
        elif record.fault or len(record.fields) != len(names):
            log.reject(record.line, record.fault or tables_csv.ragged(record, names), record.raw)
        else:
            yield _row(record.line, kind, names, record.fields, record.raw)


def _row(line: int, kind: RowKind, names: Iterable[str], fields: Iterable[str | None], raw: str) -> BackendRow:
    return BackendRow(line, kind, Cells({folded(name): field for name, field in zip(names, fields, strict=True)}), raw)


def _kind(names: list[str], file: InputFile, head: Head) -> RowKind:
    kind = kind_of({folded(name) for name in names})
    if kind is None:
        raise SourceRefusedError(
            f"{file.path}:{head.line}: no export of Backend.AI sessions: needs the columns id and status (sessions), "
            "session_id and agent (kernels) or from_status and to_status (history), "
            f"found {tables_csv.shown_names(names)}"
        )
    return kind


def _copy_rows(file: InputFile, options: SourceOptions, head: Head, log: ReadLog) -> Iterator[BackendRow]:
    """COPY text: names from its header, or from the source's `format`."""
    lines = ((number, line.rstrip("\r\n")) for number, line in tables_csv.decoded_lines(file, log))
    names = head.text.split("\t")
    if kind_of({folded(name) for name in names}):
        for _ in range(head.line):
            next(lines)
    elif options.format:
        names = [name.strip() for name in options.format.split(",")]
    else:
        raise SourceRefusedError(
            f"{file.path}:{head.line}: COPY rows without column names: export with (format text, header), "
            'or name the columns in this source\'s entry: format = "id,name,..."'
        )
    yield from _copied(lines, _kind(names, file, head), names, log)


def _copied(lines: Iterable[tuple[int, str]], kind: RowKind, names: list[str], log: ReadLog) -> Iterator[BackendRow]:
    """The rows of one COPY block, up to its end mark."""
    for number, text in lines:
        if text == "\\.":
            return
        if not text:
            continue
        log.split()
        fields = text.split("\t")
        if len(fields) != len(names):
            log.reject(
                number,
                f"{counted(len(fields), 'fields')} where COPY has {counted(len(names), 'columns')}: export again",
                text,
            )
        else:
            yield _row(number, kind, names, map(unescaped, fields), text)


def unescaped(field: str) -> str | None:
    r"""A field of COPY text as it was in the table.

    Examples
    --------
    >>> unescaped(r"\N"), unescaped(r'{"msg": "two\\nlines, a \\"quote\\""}')
    (None, '{"msg": "two\\nlines, a \\"quote\\""}')
    """
    if field == "\\N":
        return None
    return _ESCAPE.sub(_unescape, field) if "\\" in field else field


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "01234567":
        return chr(int(code, 8))
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    return _ESCAPES.get(code, code)


def _dump_rows(file: InputFile, log: ReadLog) -> Iterator[BackendRow]:
    """The COPY blocks of pg_dump that hold sessions, kernels and their histories."""
    lines = ((number, line.rstrip("\r\n")) for number, line in tables_csv.decoded_lines(file, log))
    has_block = False
    for number, text in lines:
        match = _COPY.fullmatch(text)
        if not match:
            continue
        has_block = True
        names = [name.strip().strip('"') for name in match[2].split(",")]
        if match[1] in DUMP_TABLES:
            yield from _copied(lines, _kind(names, file, Head(number, text)), names, log)
        else:
            _ignore_block(lines, log)
    if not has_block:
        raise SourceRefusedError(f"{file.path}:1: SQL without a COPY block: export with psql --csv, or a plain pg_dump")


def _ignore_block(lines: Iterable[tuple[int, str]], log: ReadLog) -> None:
    for _, text in lines:
        if text == "\\.":
            return
        log.split()
        log.ignore("row of another table")
