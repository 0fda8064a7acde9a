"""One run as one file shows it: its facts, what its rows span, and how it ended in W&B's own words.

The words clash: what an offline log calls a crash (exit code 1) is `failed` online, and a log without an exit record
is `crashed` online. The online words are used for both.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from gangline.sources.records import RUN_RECORDS, Batch, ReadLog, frame_of
from gangline.sources.wandb_values import instant, json_text

SAMPLED_ROWS = 500  # what run.history() gives unless asked for more


class RunState(StrEnum):
    """How a run stands, in the words of W&B's API."""

    FINISHED = "finished"
    FAILED = "failed"
    CRASHED = "crashed"
    KILLED = "killed"
    PREEMPTED = "preempted"
    RUNNING = "running"
    PENDING = "pending"
    UNKNOWN = "unknown"


ENDED = (RunState.FINISHED, RunState.FAILED, RunState.CRASHED, RunState.KILLED, RunState.PREEMPTED)
API_STATES = {**{str(state): state for state in RunState}, "preempting": RunState.RUNNING}


def state_of(source_state: str | None, log: ReadLog, line: int) -> RunState | None:
    """The state that an export's text means; a text not known is `unknown` and counted.

    Examples
    --------
    >>> log = ReadLog()
    >>> state_of("Finished", log, 1), state_of("zombie", log, 2), log.oddities
    (<RunState.FINISHED: 'finished'>, <RunState.UNKNOWN: 'unknown'>, {'unknown_state': (1, 2)})
    """
    if source_state is None:
        return None
    state = API_STATES.get(source_state.strip().casefold())
    if state is None:
        log.odd("unknown_state", line)
    return state or RunState.UNKNOWN


def exit_state(code: int, is_preempting: bool) -> RunState:
    """The state that an exit record means."""
    if code == 0:
        return RunState.FINISHED
    return RunState.PREEMPTED if is_preempting else RunState.FAILED


@dataclass
class Run:
    """A run's row in the making; `facts` are columns of the table, texts and numbers ready to be stored."""

    run_id: str
    run_id_evidence: str
    line: int = 1
    facts: dict[str, object] = field(default_factory=dict)
    config: dict[str, object] = field(default_factory=dict)
    summary: dict[str, object] = field(default_factory=dict)
    metadata: dict[str, object] = field(default_factory=dict)
    rows: int = 0
    first_us: int | None = None
    latest_us: int | None = None
    first_step: int | None = None
    last_step: int | None = None

    def learn(self, **facts: object) -> None:
        """Takes facts, later ones over earlier ones; empty texts, lists and nulls say nothing."""
        self.facts.update({name: value for name, value in facts.items() if value is not None and value not in ("", [])})

    def see(self, *instants_us: int | None) -> None:
        """Widens the span of instants that the file holds for the run."""
        for us in instants_us:
            if us is not None:
                self.first_us = us if self.first_us is None else min(self.first_us, us)
                self.latest_us = us if self.latest_us is None else max(self.latest_us, us)

    def count_row(self, step: int | None, at_us: int | None) -> None:
        """Counts one history row."""
        self.rows += 1
        self.see(at_us)
        if step is not None:
            self.first_step = step if self.first_step is None else min(self.first_step, step)
            self.last_step = step if self.last_step is None else max(self.last_step, step)

    def is_sampled(self) -> bool:
        """True where rows are surely or very likely missing: fewer than the source counts, or a default sample.

        A sample is told by its 500 rows, unless they are steps without a gap. A run of exactly 500 rows at every
        tenth step is taken for one too: better a history not used than a wrong one.
        """
        expected = self.facts.get("expected_rows")
        if isinstance(expected, int):
            return 0 < self.rows < expected
        has_gaps = self.first_step is None or self.last_step is None or self.last_step - self.first_step >= self.rows
        return self.rows == SAMPLED_ROWS and has_gaps

    def row(self) -> dict[str, object]:
        """The run's row in the raw table."""
        return {
            "is_sampled": self.is_sampled(),
            **self.facts,
            "line": self.line,
            "run_id": self.run_id,
            "run_id_evidence": self.run_id_evidence,
            "first_at": instant(self.first_us),
            "latest_at": instant(self.latest_us),
            "config": json_text(self.config),
            "summary": json_text(self.summary),
            "metadata": json_text(self.metadata),
            "history_rows": self.rows,
            "last_step": self.last_step,
        }


def run_batch(runs: list[Run], log: ReadLog) -> Batch:
    """The rows of some runs; their instants widen the file's span."""
    for run in runs:
        log.saw(instant(run.first_us), instant(run.latest_us))
    return Batch(RUN_RECORDS, frame_of(RUN_RECORDS, [run.row() for run in runs]))
