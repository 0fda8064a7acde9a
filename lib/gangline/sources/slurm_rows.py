"""Slurm's job records, from text or JSON, as session rows: what of their times and nodes is to be believed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

import polars as pl

from gangline.sources.records import INSTANT, SCHEMAS, SESSION_RECORDS, Batch, ReadLog
from gangline.sources.slurm_fields import OPEN_STATES, REQUEUING_STATES, Gpus, RecordError, Times

BATCH_ROWS = 20_000
NEVER_STARTED_STATES = frozenset({"PENDING", "RESV_DEL_HOLD"})
INSTANT_COLUMNS = ("created_at", "started_at", "ended_at")


class SlurmJob(NamedTuple):
    """One row of the accounting: one run of a job, an array task, or a component of a heterogeneous job."""

    line: int
    cluster: str | None
    raw_id: str
    bare_id: str
    name: str | None
    owner: str | None
    partition: str | None
    nodes: tuple[str, ...]
    excluded_nodes: tuple[str, ...] | None
    gpus: Gpus | None
    times: Times
    limit_min: float | None
    state_text: str
    state_key: str
    attempt: int | None


class SessionRow(NamedTuple):
    """The columns of `session_records` that Slurm fills; instants in epoch seconds."""

    line: int
    cluster_source: str | None
    session_id: str
    bare_id: str
    job_name: str | None
    owner: str | None
    partition: str | None
    gpu_model: str | None
    nodes: tuple[str, ...]
    excluded_nodes: tuple[str, ...] | None
    gpu_count: float | None
    created_at: int | None
    started_at: int | None
    ended_at: int | None
    time_limit_min: float | None
    source_state: str
    state_key: str
    end_source: str | None
    attempt_key: str
    attempt: int | None


@dataclass
class SessionRows:
    """Collects rows into batches and keeps what only the whole file can tell."""

    log: ReadLog
    rows: list[SessionRow] = field(default_factory=list)
    attempts: dict[str, dict[int, int]] = field(default_factory=dict)
    has_gpus: bool = False

    def add(self, job: SlurmJob) -> None:
        """Judges one job record.

        Raises
        ------
        RecordError
            If it cannot be a session; nothing is added then.
        """
        row = session_row(job, self.log)
        self.has_gpus = self.has_gpus or bool(row.gpu_count)
        if job.attempt is not None and (job.attempt > 0 or job.state_key in REQUEUING_STATES):
            self.attempts.setdefault(row.attempt_key, {}).setdefault(job.attempt, job.line)
        if job.times.is_ambiguous:
            self.log.odd("ambiguous_local_time", job.line)
        self.rows.append(row)

    def full(self) -> Iterator[Batch]:
        """A batch as soon as there is one."""
        if len(self.rows) >= BATCH_ROWS:
            yield self._batch()

    def rest(self) -> Iterator[Batch]:
        """The last batch; what the whole file tells goes to the log."""
        for attempts in self.attempts.values():
            last = max(attempts)
            if len(attempts) <= last:
                self.log.odd("requeued_without_duplicates", attempts[last])
        if self.log.loaded + len(self.rows) and not self.has_gpus:
            self.log.odd("no_gpu_tres")
        if self.rows:
            yield self._batch()

    def _batch(self) -> Batch:
        frame = frame_of_rows(self.rows)
        self.log.load(len(self.rows))
        for column in INSTANT_COLUMNS:
            self.log.saw(*(_instant(at) for at in _ends([getattr(row, column) for row in self.rows])))
        self.rows = []
        return Batch(SESSION_RECORDS, frame)


def session_row(job: SlurmJob, log: ReadLog) -> SessionRow:
    """A session row of a job record; where its times contradict its state, an oddity says which was believed.

    Raises
    ------
    RecordError
        If it has no submit time, or ends before it starts.
    """
    submitted, started, ended = _believed_times(job, log)
    attempt_key = f"{job.cluster}:{job.raw_id}" if job.cluster else job.raw_id
    gpus = job.gpus if started is not None or job.gpus is None else Gpus(0.0, None)
    return SessionRow(
        line=job.line,
        cluster_source=job.cluster,
        session_id=f"{attempt_key}:{submitted}",
        bare_id=job.bare_id,
        job_name=(job.name or "").strip() or None,
        owner=job.owner,
        partition=job.partition,
        gpu_model=gpus.model if gpus else None,
        nodes=job.nodes if started is not None else (),
        excluded_nodes=job.excluded_nodes,
        gpu_count=gpus.total if gpus else None,
        created_at=submitted,
        started_at=started,
        ended_at=ended,
        time_limit_min=job.limit_min,
        source_state=job.state_text,
        state_key=job.state_key,
        end_source="session" if ended is not None else None,
        attempt_key=attempt_key,
        attempt=job.attempt,
    )


def _believed_times(job: SlurmJob, log: ReadLog) -> tuple[int, int | None, int | None]:
    submitted, started, ended, _ = job.times
    if submitted is None:
        raise RecordError("no Submit time, which is part of a session's key")
    if started is not None and ended is not None and ended < started:
        raise RecordError("End is before Start")
    ended = _believed_end(job, ended, log)
    started = _believed_start(job, started, ended, log)
    if started is not None and started < submitted:
        log.odd("started_before_submitted", job.line)
    return submitted, started, ended


def _believed_end(job: SlurmJob, ended: int | None, log: ReadLog) -> int | None:
    if job.state_key in OPEN_STATES:
        if ended is not None:  # sacct --truncate writes the window's end
            log.odd("open_with_end_time", job.line)
        return None
    if ended is None:
        log.odd("ended_without_time", job.line)
    return ended


def _believed_start(job: SlurmJob, started: int | None, ended: int | None, log: ReadLog) -> int | None:
    if started is None or job.nodes:
        return None if job.state_key in NEVER_STARTED_STATES else started
    if job.state_key in NEVER_STARTED_STATES or started == ended:  # old Slurm: cancelled while pending
        log.odd("start_without_nodes", job.line)
        return None
    log.odd("started_without_nodes", job.line)
    return started


def frame_of_rows(rows: list[SessionRow]) -> pl.DataFrame:
    """The rows in the schema of `session_records`; columns that Slurm does not tell are null."""
    schema = SCHEMAS[SESSION_RECORDS]
    columns: dict[str, list[object]] = dict(zip(SessionRow._fields, map(list, zip(*rows, strict=True)), strict=True))
    series = [_series(name, columns.get(name), dtype, len(rows)) for name, dtype in schema.items()]
    return pl.DataFrame(series)


def _series(name: str, values: list[object] | None, dtype: pl.DataType, length: int) -> pl.Series:
    if values is None:
        return pl.Series(name, [None], dtype=dtype).new_from_index(0, length)
    if name in INSTANT_COLUMNS:
        return (pl.Series(name, values, dtype=pl.Int64) * 1_000_000).cast(INSTANT)
    if name == "nodes":
        return _lists(name, values, dtype)
    return pl.Series(name, values, dtype=dtype)


def _lists(name: str, values: list[object], dtype: pl.DataType) -> pl.Series:
    """A column of lists, each distinct list converted once."""
    places: dict[object, int] = {}
    chosen = [places.setdefault(value, len(places)) for value in values]
    return pl.Series(name, list(places), dtype=dtype).gather(chosen)


def _ends(seconds: list[int | None]) -> list[int]:
    known = [at for at in seconds if at is not None]
    return [min(known), max(known)] if known else []


def _instant(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
