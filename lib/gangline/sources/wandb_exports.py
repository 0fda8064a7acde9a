"""W&B exports in JSON and Parquet: history rows, and runs as the API gives them."""

from collections.abc import Iterator
from typing import Any

import pyarrow
import pyarrow.parquet

from gangline.sources.files import UTF8_BOM, InputFile
from gangline.sources.json_buffer import JsonBuffer
from gangline.sources.json_items import JsonDamage, JsonItem, buffered_items
from gangline.sources.records import Batch, ReadLog, SourceRefusedError
from gangline.sources.wandb_names import run_id_in
from gangline.sources.wandb_runs import API_ZONE, RunBook, is_api_run, take_api_run
from gangline.sources.wandb_steps import RUNTIME, STEP, TIMESTAMP
from gangline.sources.wandb_tables import RUN_COLUMNS
from gangline.sources.wandb_values import UnreadableValue, parsed_us, safe, value_of

PARQUET_ROWS = 5_000
FIRST_LINE_BYTES = 1 << 20
ROW_KEYS = {STEP, TIMESTAMP, RUNTIME, "step"}
PARQUET_DAMAGE = (pyarrow.ArrowException, OSError, ValueError, OverflowError)
NO_JSON = "no JSON on this line: a line that was cut or mixed with another; export the history again"
RUN_ARRAYS = (
    ("runs",),
    ("edges",),
    ("runs", "edges"),
    ("project", "runs", "edges"),
    ("data", "project", "runs", "edges"),
)
NEITHER = "neither a history row (with _step) nor a run (with state and name): take it out of this source's path"


def read_json(file: InputFile, log: ReadLog) -> Iterator[Batch]:
    """Reads history rows or runs, one a line, in an array, or in a page of the API; bare NaN is read as NaN."""
    book = RunBook(log)
    taker = JsonTaker(file, book)
    for item in line_items(file, log) if is_record_a_line(file) else document_items(file, log):
        taker.take(item)
        yield from book.steps.batches()
    yield from book.batches()


def is_record_a_line(file: InputFile) -> bool:
    """True where the first line is a run or a history row by itself."""
    with file.open() as stream:
        first = stream.readline(FIRST_LINE_BYTES)
    value = line_item(1, first.removeprefix(UTF8_BOM).decode(errors="replace")).value
    return isinstance(value, dict) and (is_api_run(value) or bool(value.keys() & ROW_KEYS))


def line_items(file: InputFile, log: ReadLog) -> Iterator[JsonItem | JsonDamage]:
    """A record a line, so that a broken one, whatever it leaves open, costs only itself."""
    for number, line in file.lines():
        text = line.decode(errors="replace")
        if "\ufffd" in text and "\ufffd".encode() not in line:
            log.odd("not_utf8", number)
        if text.strip():
            item = line_item(number, text)
            yield JsonDamage(number, NO_JSON, text) if isinstance(item.value, UnreadableValue) else item


def line_item(number: int, text: str) -> JsonItem:
    """What a line holds; broken JSON is an unreadable value."""
    return JsonItem(number, number, (), value_of(text.encode()))


def document_items(file: InputFile, log: ReadLog) -> Iterator[JsonItem | JsonDamage]:
    """The records of one document, or of several."""
    with file.open() as stream:
        buffer = JsonBuffer(stream)
        yield from buffered_items(buffer, RUN_ARRAYS)
    if buffer.replaced_count:
        log.odd("not_utf8", None, buffer.replaced_count)


class JsonTaker:
    """Judges each item of a JSON file."""

    def __init__(self, file: InputFile, book: RunBook) -> None:
        self.book, self.log = book, book.log
        self.file_run_id = run_id_in(file.path)
        self.has_elements = False

    def take(self, item: JsonItem | JsonDamage) -> None:
        """Takes a run or a history row; the rest of a page whose runs were read is no record."""
        if isinstance(item, JsonItem) and not item.path and self.has_elements:
            self.has_elements = False
            return
        self.log.split()
        if isinstance(item, JsonDamage):
            self.log.reject(item.line, item.reason, item.text)
            return
        self.has_elements = bool(item.path)
        line = item.ordinal if item.path else item.line
        if self._is_taken(item.value, line):
            self.log.load()
        else:
            self.log.reject(line, NEITHER, shown(item.value))

    def _is_taken(self, value: object, line: int) -> bool:
        if not isinstance(value, dict):
            return False
        # an edge of the API holds its run in `node`, which may as well be the name of a metric
        node = value.get("node")
        record = node if isinstance(node, dict) and not value.keys() & ROW_KEYS else value
        if is_api_run(record):
            return take_api_run(self.book, record, line)
        if not record.keys() & ROW_KEYS:
            return False
        add_row(self.book, line, record, self.file_run_id)
        return True


def shown(value: object) -> str:
    """A value as the reject quotes it."""
    try:
        return safe(repr(value))
    except RecursionError:
        return "(nested too deep to be shown)"


def add_row(book: RunBook, line: int, row: dict[str, Any], file_run_id: str) -> None:
    """Adds a history row to the run that one of its columns names, else to that of the file's name."""
    column = next((name for name in RUN_COLUMNS if isinstance(row.get(name), str) and row[name].strip()), None)
    run_id = str(row[column]).strip() if column else file_run_id
    run = book.run(run_id, "column" if column else "file_name", line)
    step_key = STEP if STEP in row else "step"
    values = {name: value for name, value in row.items() if name not in (column, step_key)}
    book.steps.add(run, line, {STEP: row.get(step_key), **values})


def read_parquet(file: InputFile, log: ReadLog) -> Iterator[Batch]:
    """Reads a history in Parquet, whose nulls are absent values.

    Raises
    ------
    SourceRefusedError
        If the file is damaged, or has no step column.
    """
    try:
        yield from _parquet_batches(file, log)
    except SourceRefusedError:
        raise
    except PARQUET_DAMAGE as error:
        first_line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SourceRefusedError(f"{file.path}: no readable Parquet ({first_line}): copy or export it again") from error


def _parquet_batches(file: InputFile, log: ReadLog) -> Iterator[Batch]:
    table = pyarrow.parquet.ParquetFile(file.path)
    if not {STEP, "step"} & set(table.schema_arrow.names):
        raise SourceRefusedError(
            f"{file.path}: no W&B history: it has no column _step among {table.schema_arrow.names[:8]}"
        )
    book, file_run_id, line = RunBook(log), run_id_in(file.path), 0
    for batch in table.iter_batches(batch_size=PARQUET_ROWS):
        for row in batch.to_pylist():
            line += 1
            log.split()
            add_row(book, line, _present(row), file_run_id)
            log.load()
        yield from book.steps.batches()
    yield from book.batches()


def _present(row: dict[str, Any]) -> dict[str, Any]:
    """The row without nulls and pandas' index; a typed timestamp as seconds."""
    present = {
        name: value for name, value in row.items() if value is not None and not name.startswith("__index_level_")
    }
    if TIMESTAMP in present and (at_us := parsed_us(present[TIMESTAMP], API_ZONE)) is not None:
        present[TIMESTAMP] = at_us / 1e6
    return present
