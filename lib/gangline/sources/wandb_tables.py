"""W&B's CSV files: a run's history, the runs table of the web page, and the curves of one of its panels."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol
from zoneinfo import ZoneInfo

from gangline.sources.files import InputFile
from gangline.sources.records import Batch, ReadLog, SourceOptions, SourceRefusedError
from gangline.sources.tables_csv import Record, ragged, records
from gangline.sources.wandb_names import run_id_in
from gangline.sources.wandb_runs import END_BEFORE_START, RunBook, cell_value, learn_state, learn_times, tags_of
from gangline.sources.wandb_steps import RUNTIME, STEP, TIMESTAMP
from gangline.sources.wandb_values import finite, parsed_us, safe, whole

RUN_COLUMNS = ("run_id", "_run_id", "run id", "run", "run_name", "run name", "name")
INDEX_COLUMNS = ("", "unnamed: 0")  # what pandas' to_csv writes unless it is told not to
CURVE_MARK = " - "
EDGE_MARKS = ("__MIN", "__MAX")
PANEL_X = {
    "step": STEP,
    "_step": STEP,
    "wall time": TIMESTAMP,
    "_timestamp": TIMESTAMP,
    "relative time (process)": RUNTIME,
    "relative time (wall)": RUNTIME,
    "_runtime": RUNTIME,
}
TABLE_TEXTS = {
    "notes": "notes",
    "user": "owner",
    "group": "run_group",
    "job type": "job_type",
    "sweep": "sweep",
    "hostname": "host",
    "host": "host",
    "commit": "git_commit",
    "project": "project",
    "entity": "entity",
}
NAMELESS = "a run without a name and an id: fill in Name, or take the line out"
TABLE_OTHERS = ("name", "id", "run id", "state", "tags", "created", "runtime")


class Table(Protocol):
    """What a kind of CSV file makes of one record."""

    def take(self, book: RunBook, record: Record) -> str | None:
        """Takes a record that is as wide as the header; what it gives back is why it is none of a run."""
        ...


def read_csv(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[Batch]:
    """Reads a CSV file of whichever of the three kinds its header shows.

    Raises
    ------
    SourceRefusedError
        If the header is none of theirs.
    """
    cut = records(file, options.delimiter or ",", log)
    header = next(cut, Record(1, "", [], "the file is empty"))
    table, book = table_of(header, file, options), RunBook(log)
    for record in cut:
        log.split()
        is_whole = not record.fault and len(record.fields) == len(header.fields)
        fault = table.take(book, record) if is_whole else record.fault or ragged(record, header.fields)
        if fault:
            log.reject(record.line, fault, record.raw)
            continue
        log.load()
        yield from book.steps.batches()
    yield from book.batches()


def table_of(header: Record, file: InputFile, options: SourceOptions) -> Table:
    """The kind of table, by the header's column names in any order and letter case."""
    names = [name.strip() for name in header.fields]
    folded = [name.casefold() for name in names]
    if not header.fault and {"name", "state"} <= set(folded):
        return RunsTable(folded, names, ZoneInfo(options.time_zone))
    if not header.fault and any(CURVE_MARK in name for name in names[1:]) and STEP not in names[1:]:
        return PanelTable(names)
    if not header.fault and (STEP in folded or "step" in folded):
        return HistoryTable(names, folded, run_id_in(file.path))
    found = header.fault or f"has {', '.join(map(repr, names[:8]))}"
    wanted = "a history (_step), a runs table (Name, State) or a panel (Step, 'run - metric')"
    raise SourceRefusedError(f"{file.path}:{header.line}: no W&B table: {found}; expected {wanted}")


@dataclass(frozen=True)
class HistoryTable:
    """One history row a line. An empty cell is absent; pandas writes NaN as empty too: the two are one."""

    names: list[str]
    folded: list[str]
    file_run_id: str
    run_column: int | None = field(init=False)
    keys: list[str | None] = field(init=False)

    def __post_init__(self) -> None:
        found = next((self.folded.index(name) for name in RUN_COLUMNS if name in self.folded), None)
        object.__setattr__(self, "run_column", found)
        step = self.folded.index(STEP if STEP in self.folded else "step")
        keys = [None if folded in INDEX_COLUMNS else name for name, folded in zip(self.names, self.folded, strict=True)]
        keys[step] = STEP
        if found is not None:
            keys[found] = None
        object.__setattr__(self, "keys", keys)

    def take(self, book: RunBook, record: Record) -> None:
        """Adds the row to its run: that of its run column, else that of the file's name."""
        run_id = record.fields[self.run_column].strip() if self.run_column is not None else ""
        run = book.run(run_id or self.file_run_id, "column" if run_id else "file_name", record.line)
        cells = zip(self.keys, record.fields, strict=True)
        book.steps.add(run, record.line, {key: cell_value(cell) for key, cell in cells if key is not None and cell})


@dataclass(frozen=True)
class PanelTable:
    """A column of points a curve, with its minimum and maximum beside it. What is drawn is a sample, and flagged so."""

    names: list[str]

    def take(self, book: RunBook, record: Record) -> None:
        """Adds the point of each curve to its run, known by its display name only."""
        for name, cell in zip(self.names[1:], record.fields[1:], strict=True):
            if not cell.strip() or name.endswith(EDGE_MARKS) or CURVE_MARK not in name:
                continue
            display_name, _, metric = name.rpartition(CURVE_MARK)
            run = book.run(display_name, "display_name", record.line)
            run.learn(display_name=safe(display_name), is_sampled=True)
            book.steps.add(run, record.line, {**self._place(record.fields[0]), metric: cell_value(cell)})

    def _place(self, cell: str) -> dict[str, object]:
        """Where on the x axis a point stands; an axis of one's own counts as steps."""
        key = PANEL_X.get(self.names[0].casefold(), STEP)
        if key != TIMESTAMP:
            return {key: cell_value(cell)}
        at_us = parsed_us(cell, ZoneInfo("UTC"))
        return {key: None if at_us is None else at_us / 1e6}


@dataclass(frozen=True)
class RunsTable:
    """A run a line; which columns there are depends on the page it was saved from."""

    folded: list[str]
    names: list[str]
    zone: ZoneInfo

    def take(self, book: RunBook, record: Record) -> str | None:
        """Takes the run; columns that are none of W&B's own are its config, with W&B's `_` keys as its summary."""
        cells = dict(zip(self.folded, record.fields, strict=True))
        run_id = (cells.get("id") or cells.get("run id") or "").strip()
        name = cells["name"].strip()
        if not run_id and not name:
            return NAMELESS
        run = book.run(run_id or name, "column" if run_id else "display_name", record.line)
        run.learn(display_name=safe(name), tags=tags_of(cells.get("tags")))
        run.learn(**{column: safe(cells[key].strip()) for key, column in TABLE_TEXTS.items() if key in cells})
        learn_state(run, cells["state"].strip() or None, book.log, record.line)
        for key, folded, cell in zip(self.names, self.folded, record.fields, strict=True):
            if cell.strip() and folded not in TABLE_TEXTS and folded not in TABLE_OTHERS:
                (run.summary if key.startswith("_") else run.config)[key] = cell_value(cell)
        if not learn_times(run, parsed_us(cells.get("created"), self.zone), None, finite(cells.get("runtime"))):
            book.log.odd(END_BEFORE_START, record.line)
        run.last_step = whole(run.summary.get(STEP))
        return None
