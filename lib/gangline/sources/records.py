"""The typed tables that every source fills; with the log of what it could not read, all that a source imports.

A source is a module with `KIND` (a `SourceKind`), `VERSION` (raised when its reading changes, so that files are read
again) and `read(file, options, log)`, a generator of `Batch`. It reads bytes, never executes or unpickles them, holds
a bounded number of records at a time, and accounts for every record of the file in the log.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from gangline.sources.files import InputFile
from gangline.sources.kernel_tables import KERNEL_COLUMNS
from gangline.sources.read_log import ReadLog as ReadLog
from gangline.sources.read_log import Reject as Reject
from gangline.sources.read_log import SourceOptions as SourceOptions
from gangline.sources.read_log import SourceRefusedError as SourceRefusedError
from gangline.sources.samples import SampleBatch

INSTANT = pl.Datetime("us", "UTC")
NAMES = pl.List(pl.String)

SESSION_RECORDS = "session_records"
SESSION_NODE_RECORDS = "session_node_records"
NODE_STATE_RECORDS = "node_state_records"
INCIDENT_RECORDS = "incident_records"
ANNOTATION_RECORDS = "annotation_records"
RUN_RECORDS = "run_records"
RUN_STEP_RECORDS = "run_step_records"
CONSOLE_RECORDS = "console_records"
SESSION_STATUS_RECORDS = "session_status_records"

ColumnTypes = dict[str, pl.DataType | type[pl.DataType]]

_COLUMNS: dict[str, ColumnTypes] = {
    SESSION_RECORDS: {
        "line": pl.Int64,  # where the record begins; its ordinal from 1 in a JSON document
        "cluster_source": pl.String,  # the cluster's name as the source gives it, else null
        "session_id": pl.String,  # unique within (source kind, cluster_source)
        "bare_id": pl.String,  # the id that a person types
        "job_name": pl.String,
        "owner": pl.String,
        "partition": pl.String,
        "gpu_model": pl.String,
        "nodes": NAMES,  # distinct; empty where never started; null where the source does not say
        "excluded_nodes": NAMES,  # asked out by the submit line; null where unknown
        "gpu_count": pl.Float64,
        "created_at": INSTANT,
        "started_at": INSTANT,
        "ended_at": INSTANT,
        "has_started": pl.Boolean,  # it ran, whether or not the time is known; null where the source cannot tell
        "time_limit_min": pl.Float64,
        "source_state": pl.String,  # the source's own text, kept
        "state_key": pl.String,  # what sql/seeds/end_reasons.csv is joined on
        "end_source": pl.String,  # 'session' | 'kernel' | ...: what ended_at was read from
        "attempt_key": pl.String,  # equal for all attempts of one job, where the source counts them
        "attempt": pl.Int64,  # the source's own restart counter, 0 for the first
        "start_kind": pl.String,  # where the source says so itself (StartKind)
        "reached_training": pl.Boolean,
        "training_from": INSTANT,
    },
    SESSION_NODE_RECORDS:  # only where a source knows more than the record's node list
    {
        "line": pl.Int64,
        "cluster_source": pl.String,
        "session_id": pl.String,
        "part_id": pl.String,  # the source's id of this part (kernel, pod), equal in all its exports; null if none
        "node": pl.String,  # null where the part was never placed
        "gpu_count": pl.Float64,
        "started_at": INSTANT,
        "ended_at": INSTANT,
        "source_state": pl.String,  # of the part; with state_key, for sessions whose own row does not say
        "state_key": pl.String,
    },
    SESSION_STATUS_RECORDS:  # every visit to a status that a source has a time for
    {
        "line": pl.Int64,
        "cluster_source": pl.String,
        "session_id": pl.String,
        "part_id": pl.String,  # where it is the status of a part only
        "status": pl.String,
        "at": INSTANT,
    },
    NODE_STATE_RECORDS: {
        "line": pl.Int64,
        "cluster_source": pl.String,
        "node": pl.String,
        "state": pl.String,
        "started_at": INSTANT,
        "ended_at": INSTANT,
        "reason": pl.String,
    },
    INCIDENT_RECORDS: {
        "line": pl.Int64,
        "incident_id": pl.String,
        "node": pl.String,
        "started_at": INSTANT,
        "ended_at": INSTANT,
        "kind": pl.String,
        "class": pl.String,
        "detail": pl.String,
    },
    ANNOTATION_RECORDS: {
        "line": pl.Int64,
        "target": pl.String,  # a session, incident or node id
        "started_at": INSTANT,
        "ended_at": INSTANT,
        "cause": pl.String,
        "is_planned": pl.Boolean,
        "note": pl.String,
    },
    RUN_RECORDS:  # one row a run and file; one W&B log is one process, so a resumed run has several
    {
        "line": pl.Int64,
        "run_id": pl.String,
        "run_id_evidence": pl.String,  # 'log' | 'column' | 'display_name' | 'file_name'
        "display_name": pl.String,
        "project": pl.String,
        "entity": pl.String,
        "owner": pl.String,
        "run_group": pl.String,
        "job_type": pl.String,
        "sweep": pl.String,
        "host": pl.String,
        "tags": NAMES,
        "notes": pl.String,
        "started_at": INSTANT,
        "process_started_at": INSTANT,
        "ended_at": INSTANT,  # null where the source shows no end
        "first_at": INSTANT,  # first and latest instants that the file holds for the run
        "latest_at": INSTANT,
        "runtime_s": pl.Float64,  # of the run as the source says it
        "prior_runtime_s": pl.Float64,  # before this process, where the run was resumed
        "source_state": pl.String,
        "state": pl.String,  # sources.wandb_run.RunState: W&B's online words
        "exit_code": pl.Int64,
        "end_evidence": pl.String,  # 'exit_record' | 'no_exit_record' | 'unread' | 'source_state'
        "is_preempting": pl.Boolean,
        "starting_step": pl.Int64,
        "is_resumed": pl.Boolean,
        "parent_run_id": pl.String,  # the run it was forked from
        "config": pl.String,  # JSON; NaN and infinities as text
        "summary": pl.String,  # JSON, likewise
        "metadata": pl.String,  # JSON: program, arguments, Slurm variables
        "git_commit": pl.String,
        "writer_id": pl.String,
        "writer_version": pl.String,
        "history_rows": pl.Int64,  # in this file
        "expected_rows": pl.Int64,  # as the source counts them; null where it does not
        "last_step": pl.Int64,
        "is_sampled": pl.Boolean,  # some of the run's rows are missing from this file
        "bytes_unread": pl.Int64,
    },
    RUN_STEP_RECORDS:  # one row a history row and metric
    {
        "line": pl.Int64,
        "run_id": pl.String,
        "step": pl.Int64,
        "at": INSTANT,
        "runtime_s": pl.Float64,
        "metric": pl.String,
        "value": pl.Float64,  # finite, else null
        "value_kind": pl.String,  # sources.wandb_values.ValueKind; an absent value has no row
        "text": pl.String,
    },
    CONSOLE_RECORDS: {
        "line": pl.Int64,
        "run_id": pl.String,
        "at": INSTANT,
        "stream": pl.String,  # 'stdout' | 'stderr' | 'log'
        "text": pl.String,
        "ordinal": pl.Int64,  # of the line within the file, from 1
        "session_id": pl.String,  # bare id; where the file is a session's own output
        "node": pl.String,
    },
    **KERNEL_COLUMNS,
}
SCHEMAS: dict[str, pl.Schema] = {table: pl.Schema(columns) for table, columns in _COLUMNS.items()}


@dataclass(frozen=True)
class Batch:
    """Some rows for one raw table, in its schema."""

    table: str
    frame: pl.DataFrame


class Source(Protocol):
    """What the ingest needs of a source module."""

    KIND: str
    VERSION: int

    def read(self, file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[Batch | SampleBatch]:
        """Yields the file's rows in batches, samples by series, accounting for every record in `log`."""
        ...


def frame_of(table: str, rows: list[dict[str, object]]) -> pl.DataFrame:
    """A frame in a raw table's schema from rows by column name; columns left out are null."""
    return pl.DataFrame(rows, schema=SCHEMAS[table], orient="row", strict=True)
