"""History rows in long form: one row a metric, in columns that are flushed in batches."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

from gangline.sources.records import INSTANT, RUN_STEP_RECORDS, SCHEMAS, Batch, ReadLog
from gangline.sources.wandb_run import Run
from gangline.sources.wandb_values import UNREADABLE, ValueKind, epoch_us, finite, judged, safe, whole

BATCH_ROWS = 20_000
STEP, TIMESTAMP, RUNTIME = "_step", "_timestamp", "_runtime"
MEDIA_MARK = "_type"
COLUMN_TYPES = {**SCHEMAS[RUN_STEP_RECORDS], "at": pl.Int64()}
MAX_KEY_PARTS = 60


@dataclass
class StepBuffer:
    """Collects history rows; `batches(is_over)` gives what is due.

    Dicts become keys with dots, as wandb 0.31 writes them and 0.15 did not. Media (dicts with a `_type`) and lists
    are no metrics: they are counted as oddities and left out.
    """

    log: ReadLog
    columns: dict[str, list[object]] = field(default_factory=lambda: {name: [] for name in COLUMN_TYPES})

    def add(self, run: Run, line: int, row: dict[str, object]) -> None:
        """Adds one history row of a run."""
        step, runtime_s = whole(row.get(STEP)), finite(row.get(RUNTIME))
        at_us = epoch_us(row.get(TIMESTAMP))
        self._check(line, row, step, at_us)
        run.count_row(step, at_us)
        before = len(self.columns["metric"])
        for name, value in self._metrics(line, row):
            kind, number, text = judged(value)
            if kind == ValueKind.UNREADABLE:
                self.log.odd("unreadable_value", line)
            self._append(name, number, kind, text)
        added = len(self.columns["metric"]) - before
        for column, value in (("line", line), ("run_id", run), ("step", step), ("at", at_us), ("runtime_s", runtime_s)):
            self.columns[column].extend([value] * added)

    def batches(self, is_over: bool = False) -> Iterator[Batch]:
        """The rows so far, once they are a batch or the file is over."""
        count = len(self.columns["metric"])
        if count >= BATCH_ROWS or (is_over and count):
            # A log's rows can stand before the record that names their run.
            columns = {**self.columns, "run_id": [run.run_id for run in self.columns["run_id"] if isinstance(run, Run)]}
            frame = pl.DataFrame(columns, schema=COLUMN_TYPES, strict=True)
            yield Batch(RUN_STEP_RECORDS, frame.with_columns(pl.col("at").cast(INSTANT)))
            self.columns = {name: [] for name in COLUMN_TYPES}

    def _append(self, name: str, number: float | None, kind: ValueKind, text: str | None) -> None:
        columns = self.columns
        columns["metric"].append(safe(name))
        columns["value"].append(number)
        columns["value_kind"].append(str(kind))
        columns["text"].append(text)

    def _metrics(self, line: int, row: dict[str, object]) -> Iterator[tuple[str, object]]:
        """The row's values by dotted name, less W&B's own keys, media and lists."""
        flat = list(flattened(row))
        media = {name.removesuffix(MEDIA_MARK) for name, _ in flat if name.endswith("." + MEDIA_MARK)}
        for name, value in flat:
            if name in (STEP, TIMESTAMP, RUNTIME):
                continue
            if media and is_inside(name, media):
                self.log.odd("media_value", line, 1 if name.endswith(MEDIA_MARK) else 0)
            elif isinstance(value, list | dict):
                self.log.odd("list_value", line)
            else:
                yield name, value

    def _check(self, line: int, row: dict[str, object], step: int | None, at_us: int | None) -> None:
        """Counts rows whose step or time is missing or no such thing."""
        if step is None:
            self.log.odd("no_step" if row.get(STEP) is None else "bad_step", line)
        if at_us is None and row.get(TIMESTAMP) is not None:
            self.log.odd("bad_timestamp", line)


def is_inside(name: str, media: set[str]) -> bool:
    """True where a dotted name stands under one of the prefixes."""
    return any(name.startswith(prefix) for prefix in media)


def flattened(row: dict[str, object], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """Values by dotted key; dicts nested beyond reason count as unreadable.

    Examples
    --------
    >>> list(flattened({"loss": 2.5, "eval": {"ppl": 9, "by": {"en": 8}}}))
    [('loss', 2.5), ('eval.ppl', 9), ('eval.by.en', 8)]
    """
    for key, value in row.items():
        if not isinstance(value, dict):
            yield prefix + key, value
        elif depth >= MAX_KEY_PARTS:
            yield prefix + key, UNREADABLE
        else:
            yield from flattened(value, f"{prefix}{key}.", depth + 1)
