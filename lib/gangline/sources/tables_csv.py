"""Delimited tables with a header (RFC 4180), row by row: cells by column name, and the physical line a row begins on.

The csv module reads the quoting; what is ours is that a bad record costs only itself. A quote that is never closed
would swallow the rest of the file: such a record is rejected by its first line, and reading goes on at the next one.
"""

import csv
import difflib
import itertools
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gangline.estimates.wording import counted
from gangline.sources.files import UTF16_MARKS, InputFile
from gangline.sources.records import Batch, ReadLog, SourceOptions, SourceRefusedError, frame_of
from gangline.sources.table_rows import Row, RowError, shown

Judge = Callable[[Row], dict[str, object]]

BATCH_ROWS = 20_000
MAX_CELL_CHARS = 1 << 17  # a quote that is never closed costs that much reading again
MAX_LINE_BYTES = 1 << 25
MAX_RECORD_LINES = 20_000
_NAMES_SHOWN = 8
LONE_RETURNS = "its lines end in a carriage return alone: save the file with LF or CRLF line ends"
OTHER_DELIMITERS = {",": ",", ";": ";", "\t": "\\t", "|": "|"}


@dataclass(frozen=True)
class Columns:
    """The columns of a format: those its header must have, and those it may have."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()

    @property
    def known(self) -> tuple[str, ...]:
        """All of them."""
        return self.required + self.optional


@dataclass(frozen=True)
class Record:
    """One record as cut from the file; `fault` says why it is none, and then `fields` is empty."""

    line: int
    raw: str
    fields: list[str]
    fault: str = ""


class PhysicalLines:
    """Lines for the csv module, which remembers those of the record in hand, so that a bad one can give them back."""

    def __init__(self, numbered: Iterator[tuple[int, str]]) -> None:
        self.taken: list[tuple[int, str]] = []
        self._source = numbered
        self._waiting: deque[tuple[int, str]] = deque()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if len(self.taken) >= MAX_RECORD_LINES:
            raise csv.Error(f"more than {MAX_RECORD_LINES:,} lines")
        numbered = self._waiting.popleft() if self._waiting else next(self._source)
        self.taken.append(numbered)
        return numbered[1]

    def give_back(self) -> None:
        """Keeps only the record's first line; the others are read again."""
        self._waiting.extendleft(reversed(self.taken[1:]))
        del self.taken[1:]

    def record(self, fields: list[str], fault: str = "") -> Record:
        """The lines taken since the last record, as one."""
        raw = "".join(line for _, line in self.taken).rstrip("\r\n")
        record = Record(self.taken[0][0], raw, fields, fault)
        self.taken.clear()
        return record


def read_table(
    file: InputFile,
    options: SourceOptions,
    log: ReadLog,
    table: str,
    columns: Columns,
    judge: Callable[[Row], dict[str, object]],
) -> Iterator[Batch]:
    """Reads a file of such a format into the batches of one raw table.

    Parameters
    ----------
    file, options, log
        As every source's `read` has them; `options.delimiter` is one character, a comma if null.
    table
        A name of `records.SCHEMAS`; its `line` is filled here.
    columns
        The format's columns, found in the header by name, whatever their order and letter case.
    judge
        Turns a row into a dict by the raw table's column names, or raises `RowError` with the reason and the mend.

    Raises
    ------
    SourceRefusedError
        If the header cannot be read, or lacks a required column.
    """
    yield from batches(table, judged(table_rows(file, options, log, columns), judge, log))


def judged(rows: Iterator[Row], judge: Callable[[Row], dict[str, object]], log: ReadLog) -> Iterator[dict[str, object]]:
    """What `judge` makes of each row, with its line; what it refuses is rejected in the log."""
    for row in rows:
        try:
            values = {"line": row.line, **judge(row)}
        except RowError as error:
            log.reject(row.line, str(error), row.raw)
            continue
        log.load()
        yield values


def batches(table: str, rows: Iterator[dict[str, object]]) -> Iterator[Batch]:
    """Rows as frames of at most `BATCH_ROWS`, in the schema of a raw table."""
    while some := list(itertools.islice(rows, BATCH_ROWS)):
        yield Batch(table, frame_of(table, some))


def table_rows(file: InputFile, options: SourceOptions, log: ReadLog, columns: Columns) -> Iterator[Row]:
    """The rows below the header that have its shape; others are rejected, blank ones and further headers ignored."""
    cut = records(file, options.delimiter or ",", log)
    header = next(cut, Record(1, "", []))
    names = header_names(header, file, columns, options.delimiter or ",")
    log_unknown(names, columns, header.line, log)
    for record in cut:
        log.split()
        if not record.fault and not any(map(str.strip, record.fields)):
            log.ignore("blank_row")
        elif record.fields == header.fields:
            log.ignore("header")
        elif record.fault or len(record.fields) != len(names):
            log.reject(record.line, record.fault or ragged(record, names), record.raw)
        else:
            yield Row(record.line, record.raw, dict(zip(names, record.fields, strict=True)))


def records(file: InputFile, delimiter: str, log: ReadLog, max_cell_chars: int = MAX_CELL_CHARS) -> Iterator[Record]:
    """Cuts a file into records, blank lines left out; a broken one comes with its fault and costs only its line."""
    csv.field_size_limit(max_cell_chars)
    lines = PhysicalLines(decoded_lines(file, log))
    reader = csv.reader(lines, delimiter=checked_delimiter(delimiter, file), strict=True)
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            lines.give_back()
            yield lines.record([], fault_of(error))
            continue
        record = lines.record(fields)
        if fields:
            yield record


def decoded_lines(file: InputFile, log: ReadLog) -> Iterator[tuple[int, str]]:
    """Numbered lines as text with their newline; bytes that are no UTF-8 become replacement characters, counted."""
    for number, line in file.lines(MAX_LINE_BYTES):
        if len(line) > MAX_LINE_BYTES:
            log.split()
            log.reject(
                number, "a line of over 32 MB: this is no table; export again", line[:500].decode(errors="replace")
            )
            continue
        if number == 1 and line.startswith(UTF16_MARKS):
            raise SourceRefusedError(f"{file.path}:1: this is UTF-16 text: save the file as UTF-8")
        if number == 1 and b"\r" in line.rstrip(b"\r"):
            raise SourceRefusedError(f"{file.path}:1: {LONE_RETURNS}")
        try:
            text = line.decode()
        except UnicodeDecodeError:
            log.odd("not_utf8", number)
            text = line.decode(errors="replace")
        yield number, text + "\n"


def checked_delimiter(delimiter: str, file: InputFile) -> str:
    """The delimiter, if the csv module can split at it."""
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise SourceRefusedError(f"{file.path}: delimiter {delimiter!r} is not one character such as ',', ';' or a tab")
    return delimiter


def fault_of(error: csv.Error) -> str:
    """What the csv module objects to, with the mend."""
    what = str(error).split(" - ")[0]
    mend = "quote a field that holds the delimiter, a quote or a line break, and double the quotes in it"
    return f"no CSV record begins here ({what}): {mend}"


def ragged(record: Record, names: list[str]) -> str:
    """Why a record of the wrong width is rejected."""
    return (
        f"{counted(len(record.fields), 'fields')} where the header has {len(names)}: "
        "quote a field that holds the delimiter, and keep empty ones"
    )


def header_names(header: Record, file: InputFile, columns: Columns, delimiter: str) -> list[str]:
    """The header's column names, folded to lower case, once the required ones are seen to be there, and once each."""
    where = f"{file.path}:{header.line}"
    if header.fault:
        raise SourceRefusedError(f"{where}: the header is no CSV line: {header.fault}")
    if not any(map(str.strip, header.fields)):
        raise SourceRefusedError(f"{where}: is empty: its first line must name {', '.join(columns.required)}")
    names = [field.strip().casefold() for field in header.fields]
    for name in names:
        if name in columns.known and names.count(name) > 1:
            raise SourceRefusedError(f"{where}: the header has the column {name!r} twice: rename one of them")
    for name in columns.required:
        if name not in names:
            raise SourceRefusedError(f"{where}: no column {name!r}{hint(name, names, columns, delimiter)}")
    return names


def hint(name: str, names: list[str], columns: Columns, delimiter: str) -> str:
    """What the missing column may be: the header's nearest, or all of it split at another delimiter."""
    others = [shown for mark, shown in OTHER_DELIMITERS.items() if mark != delimiter and mark in names[0]]
    if len(names) == 1 and others:
        return f': the header is one column; set delimiter = "{others[0]}" in this source\'s entry'
    unknown = [other for other in names if other not in columns.known]
    near = difflib.get_close_matches(name, unknown, n=1)
    return f": did you mean {near[0]!r}? Rename it" if near else f" among {shown_names(names)}: add it"


def shown_names(names: list[str]) -> str:
    """Some of a header's names, each cut where it is long."""
    return ", ".join(map(shown, names[:_NAMES_SHOWN])) + (", ..." if len(names) > _NAMES_SHOWN else "")


def log_unknown(names: list[str], columns: Columns, line: int, log: ReadLog) -> None:
    """Counts the header's columns that the format does not know."""
    unknown = sum(name not in columns.known for name in names)
    if unknown:
        log.odd("unknown_column", line, unknown)
