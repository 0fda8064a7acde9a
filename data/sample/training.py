"""The training runs of the sample's gang sessions, as W&B exports them: a history of steps, and the runs table.

A run resumes from the last checkpoint, so steps come twice after a failure: what was lost is done again. All times of
the runs are UTC; steps are logged hourly.
"""

import csv
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from io import StringIO
from typing import Protocol

import story

ID_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
HISTORY_COLUMNS = ("run_id", "_step", "_timestamp", "train/loss", "train/tokens_per_s", "perf/step_s")
RUN_COLUMNS = (
    *("Name", "State", "Notes", "User", "Tags", "Created", "Runtime", "ID", "Hostname"),
    *("slurm_job_id", "stage", "_step"),
)
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001
END_STATES = {"COMPLETED": "finished", "FAILED": "failed", "RUNNING": "running", "CANCELLED": "killed"}


class Job(Protocol):
    """What a run needs to know of its session; times are local."""

    @property
    def name(self) -> str: ...
    @property
    def owner(self) -> str: ...
    @property
    def nodes(self) -> tuple[int, ...]: ...
    @property
    def start(self) -> datetime | None: ...
    @property
    def end(self) -> datetime | None: ...
    @property
    def state(self) -> str: ...


@dataclass(frozen=True)
class Row:
    """A history row; a loss of None was NaN."""

    step: int
    at: datetime
    loss: float | None
    tokens_per_s: int
    step_s: float


@dataclass(frozen=True)
class Run:
    """A run with what it logged; `job_id` None where nobody wrote it into the run's config."""

    run_id: str
    name: str
    owner: str
    host: str
    job_id: int | None
    stage: str
    state: str
    created_at: datetime
    ended_at: datetime
    rows: tuple[Row, ...]
    notes: str = ""
    tags: str = ""


def runs_of(gangs: Sequence[Job], job_ids: dict[int, int], dice: random.Random) -> list[Run]:
    """The run of each gang session that the script gives one, and one from a workstation that no session fits."""
    saved: dict[str, int] = {}
    runs = []
    for position, plan in story.RUNS.items():
        job = gangs[position]
        job_id = job_ids[position] if plan.is_linked else None
        run = run_of(job, plan, job_id, saved.get(stage_of(job), 0), dice)
        if run.rows:
            saved[stage_of(job)] = run.rows[-1].step // story.SAVE_STEPS * story.SAVE_STEPS
        runs.append(run)
    return [*runs, workstation_run(dice)]


def run_of(job: Job, plan: story.RunPlan, job_id: int | None, resumed: int, dice: random.Random) -> Run:
    """The run of one session, from the checkpoint that it resumes."""
    assert job.start is not None
    begin, end = utc(job.start), utc(job.end or story.END)
    rows = list(stretch(begin + story.LOADING, end, resumed, stage_of(job), dice)) if plan.trains else []
    if plan.restart_after_h is not None:
        rows = restarted(rows, plan.restart_after_h, end, stage_of(job), dice)
    rows = [replace(row, loss=None) if number == plan.nan_row else row for number, row in enumerate(rows)]
    state = END_STATES.get(job.state.split()[0], "crashed")
    if state == "killed" and rows:  # it was at work when a person stopped it
        last_at = end - timedelta(minutes=2)
        steps = int((last_at - rows[-1].at).total_seconds() / story.STEP_S)
        rows.append(row_at(last_at, rows[-1].step + steps, stage_of(job), 1.0, dice))
    host = f"gpu{min(job.nodes):03d}"
    name, stage = plan.name or job.name, stage_of(job)
    return Run(
        run_id(dice),
        name,
        job.owner,
        host,
        job_id,
        stage,
        state,
        begin + story.LOADING / 3,
        end,
        tuple(rows),
        plan.notes,
    )


def stretch(first: datetime, end: datetime, resumed: int, stage: str, dice: random.Random) -> Iterator[Row]:
    """Rows between two instants, counting on from the resumed step: two at once, then hourly; some hours are slower."""
    at, step = first + timedelta(seconds=dice.randint(20, 90)), resumed
    for early in (1, 10):
        yield row_at(at + timedelta(seconds=early * story.STEP_S), step + early, stage, 1.0, dice)
    while True:
        slow = dice.choice(story.SLOWNESS)
        at += timedelta(seconds=story.LOG_STEPS * story.STEP_S * slow)
        step += story.LOG_STEPS
        if at >= end:
            return
        yield row_at(at, step, stage, slow, dice)


def restarted(rows: list[Row], after_h: float, end: datetime, stage: str, dice: random.Random) -> list[Row]:
    """The run's launcher restarts it within its session: it goes on from its last checkpoint."""
    kept = [row for row in rows if row.at < rows[0].at + timedelta(hours=after_h)]
    resumed = kept[-1].step // story.SAVE_STEPS * story.SAVE_STEPS
    return kept + list(stretch(kept[-1].at + 2 * story.LOADING, end, resumed, stage, dice))


def row_at(at: datetime, step: int, stage: str, slow: float, dice: random.Random) -> Row:
    """What is logged at a step."""
    level, scale = story.LOSSES[stage]
    loss = level + scale * math.exp(-step / story.LOSS_STEPS) + dice.gauss(0, 0.012)
    step_s = story.STEP_S * slow * dice.uniform(0.985, 1.02)
    return Row(step, at.replace(microsecond=0), round(loss, 3), round(story.TOKENS_A_STEP / step_s), round(step_s, 2))


def workstation_run(dice: random.Random) -> Run:
    """A short run on a machine outside of the cluster."""
    begin = utc(story.WORKSTATION_AT)
    rows = [row_at(begin + timedelta(minutes=5 * turn), 10 * turn, "pretrain", 0.1, dice) for turn in range(1, 7)]
    rows = [replace(row, tokens_per_s=row.tokens_per_s // 100) for row in rows]
    end = rows[-1].at + timedelta(minutes=2)
    return Run(
        run_id(dice),
        "smoke <b>test</b>",
        "eli",
        "ws-3",
        None,
        "debug",
        "finished",
        begin,
        end,
        tuple(rows),
        tags="debug,workstation",
    )


def stage_of(job: Job) -> str:
    """The stage that a job's name tells."""
    return "sft" if job.name.startswith("sft") else "pretrain"


def run_id(dice: random.Random) -> str:
    """Eight letters and digits, as W&B makes them."""
    return "".join(dice.choices(ID_LETTERS, k=8))


def utc(local: datetime) -> datetime:
    """A local time of the cluster as UTC, without its zone."""
    return local - story.ZONE


def history_text(runs: Sequence[Run]) -> str:
    """All history rows, run after run, with the index column that pandas writes."""
    lines = [
        (run.run_id, row.step, seconds(row.at), "NaN" if row.loss is None else row.loss, row.tokens_per_s, row.step_s)
        for run in runs
        for row in run.rows
    ]
    return table([("", *HISTORY_COLUMNS), *((number, *line) for number, line in enumerate(lines))])


def runs_text(runs: Sequence[Run]) -> str:
    """The runs table as the web page saves it, newest first."""
    lines = [
        (
            *(run.name, run.state, run.notes, run.owner, run.tags, f"{run.created_at.isoformat(timespec='seconds')}Z"),
            *(seconds(run.ended_at) - seconds(run.created_at), run.run_id, run.host, run.job_id or "", run.stage),
            run.rows[-1].step if run.rows else "",
        )
        for run in reversed(runs)
    ]
    return table([RUN_COLUMNS, *lines])


def seconds(at: datetime) -> int:
    """Seconds since 1970."""
    return int((at - EPOCH).total_seconds())


def table(lines: Sequence[Sequence[object]]) -> str:
    """Lines as CSV."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
