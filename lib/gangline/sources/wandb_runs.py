"""The runs that one export holds, and what single cells and JSON objects say about them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from gangline.sources.records import Batch, ReadLog
from gangline.sources.wandb_run import ENDED, Run, RunState, run_batch, state_of
from gangline.sources.wandb_steps import STEP, StepBuffer
from gangline.sources.wandb_values import UNREADABLE, finite, instant, parsed_us, possible_us, safe, value_of, whole

BATCH_RUNS = 2_000
END_BEFORE_START = "run_end_before_start"
API_ZONE = ZoneInfo("UTC")  # the API writes UTC, old servers without saying so
CELL_WORDS: dict[str, object] = {"True": True, "False": False}


@dataclass
class RunBook:
    """Runs by id, and the steps read for them."""

    log: ReadLog
    runs: dict[str, Run] = field(default_factory=dict)
    steps: StepBuffer = field(init=False)

    def __post_init__(self) -> None:
        self.steps = StepBuffer(self.log)

    def run(self, run_id: str, evidence: str, line: int) -> Run:
        """The run of this id, new where it has not been met."""
        return self.runs.setdefault(run_id, Run(safe(run_id), evidence, line))

    def batches(self) -> Iterator[Batch]:
        """What is left at the end of the file: steps, then the runs."""
        if not self.log.records:
            self.log.odd("empty_export")
        yield from self.steps.batches(is_over=True)
        runs = list(self.runs.values())
        for start in range(0, len(runs), BATCH_RUNS):
            yield run_batch(runs[start : start + BATCH_RUNS], self.log)


def cell_value(cell: str) -> object:
    """The value that a CSV cell stands for: a number, a flag, JSON, else its text.

    Examples
    --------
    >>> [cell_value(cell) for cell in ("1.5", "True", "IMMUTABLE", "20260301_1015")]
    [1.5, True, 'IMMUTABLE', '20260301_1015']
    """
    if cell in CELL_WORDS:
        return CELL_WORDS[cell]
    value = value_of(cell.encode("utf-8", "replace"))
    return cell if value is UNREADABLE else value


def text_of(record: Mapping[str, object], *names: str) -> str | None:
    """The first of some keys that holds a text or number, or an object that has a name."""
    for name in names:
        value = record.get(name)
        if isinstance(value, dict):
            value = value.get("username") or value.get("name")
        if isinstance(value, str | int | float) and str(value).strip():
            return safe(str(value))
    return None


def tree_of(value: object) -> dict[str, object]:
    """An object, or the object that a JSON text holds, with `{"value": ..., "desc": ...}` unwrapped."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    if not isinstance(value, dict):
        return {}
    return {key: _unwrapped(child) for key, child in value.items()}


def _unwrapped(value: object) -> object:
    return value["value"] if isinstance(value, dict) and "value" in value and set(value) <= {"value", "desc"} else value


def tags_of(value: object) -> list[str]:
    """Tags from a list, a JSON list as text, or a text with commas."""
    value = cell_value(value) if isinstance(value, str) and value.startswith("[") else value
    tags = value if isinstance(value, list) else value.split(",") if isinstance(value, str) else []
    return [safe(str(tag).strip()) for tag in tags if str(tag).strip()]


def learn_state(run: Run, source_state: str | None, log: ReadLog, line: int) -> None:
    """Takes the state as a text of W&B's own words."""
    state = state_of(source_state, log, line)
    if state is not None:
        run.learn(state=str(state), source_state=source_state, end_evidence="source_state")


def learn_times(run: Run, started_us: int | None, heartbeat_us: int | None, runtime_s: float | None) -> bool:
    """Takes start, last sign of life and runtime; an ended run ended at its last sign, else after its runtime.

    False where the end lies before the start: then neither the end nor the runtime is known.
    """
    if (runtime_s or 0.0) < 0 or (started_us is not None and heartbeat_us is not None and heartbeat_us < started_us):
        run.see(started_us)
        run.learn(started_at=instant(started_us))
        return False
    run.see(started_us, heartbeat_us)
    run.learn(started_at=instant(started_us), runtime_s=runtime_s)
    if heartbeat_us is None and started_us is not None and runtime_s is not None:
        heartbeat_us = possible_us(started_us + runtime_s * 1e6)
        run.see(heartbeat_us)
    state = run.facts.get("state")
    if isinstance(state, str) and RunState(state) in ENDED:
        run.learn(ended_at=instant(heartbeat_us))
    return True


def is_api_run(record: Mapping[str, object]) -> bool:
    """True where a JSON object is a run as the API gives it, and no history row."""
    marks = ("summaryMetrics", "historyLineCount", "heartbeatAt", "displayName", "display_name", "summary_metrics")
    has_name = "state" in record and ("name" in record or "id" in record)
    return STEP not in record and (has_name or any(mark in record for mark in marks))


def take_api_run(book: RunBook, record: Mapping[str, object], line: int) -> bool:
    """Takes a run as the API gives it; false where it has no id.

    The GraphQL field `name` is the run's id and `displayName` what people call it; the Python object says `id` and
    `name`. A record that has a display name is of the first kind.
    """
    display_name = text_of(record, "displayName", "display_name")
    id_keys = ("run_id", "name", "id") if display_name else ("run_id", "id", "name")
    run_id = text_of(record, *id_keys)
    if run_id is None:
        return False
    run = book.run(run_id, "column", line)
    run.learn(display_name=display_name or text_of(record, "name"), tags=tags_of(record.get("tags")))
    _learn_texts(run, record)
    run.config.update(tree_of(record.get("config")))
    run.summary.update(tree_of(record.get("summaryMetrics") or record.get("summary_metrics") or record.get("summary")))
    learn_state(run, text_of(record, "state"), book.log, line)
    _learn_counts(book, run, record, line)
    _take_history(book, run, record, line)
    return True


def _learn_texts(run: Run, record: Mapping[str, object]) -> None:
    run.learn(
        project=text_of(record, "project"),
        entity=text_of(record, "entity"),
        owner=text_of(record, "user", "username"),
        run_group=text_of(record, "group"),
        job_type=text_of(record, "jobType", "job_type"),
        sweep=text_of(record, "sweepName", "sweep_name", "sweep"),
        host=text_of(record, "host"),
        notes=text_of(record, "notes"),
        git_commit=text_of(record, "commit"),
    )


def _learn_counts(book: RunBook, run: Run, record: Mapping[str, object], line: int) -> None:
    started_us = parsed_us(record.get("createdAt") or record.get("created_at"), API_ZONE)
    heartbeat_us = parsed_us(record.get("heartbeatAt") or record.get("heartbeat_at"), API_ZONE)
    if not learn_times(run, started_us, heartbeat_us, finite(run.summary.get("_runtime"))):
        book.log.odd(END_BEFORE_START, line)
    run.learn(expected_rows=whole(record.get("historyLineCount")))
    last_steps = whole(record.get("lastHistoryStep")), whole(run.summary.get(STEP))
    run.last_step = next((step for step in last_steps if step is not None), None)


def _take_history(book: RunBook, run: Run, record: Mapping[str, object], line: int) -> None:
    """Takes the rows that stand in the run; rows that are said to exist and are not there are no lack of progress."""
    rows = record.get("history")
    if not isinstance(rows, list):
        return
    if not rows and (run.last_step or run.facts.get("expected_rows")):
        book.log.odd("history_missing", line)
        run.learn(is_sampled=True)
    for row in rows:
        if isinstance(row, dict):
            book.steps.add(run, line, row)
        else:
            book.log.odd("history_row_no_object", line)
