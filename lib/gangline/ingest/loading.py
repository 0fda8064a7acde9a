"""One file into the raw tables, in one transaction, with every record of it accounted for."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import polars as pl

from gangline.ingest.finding import IDENTITY_HEX_DIGITS, FoundFile
from gangline.sources.files import InputFile
from gangline.sources.records import SCHEMAS, Batch, ReadLog, Reject, SourceRefusedError
from gangline.sources.samples import SampleBatch
from gangline.store.identity import NodeRule
from gangline.store.recording import record_written
from gangline.store.sink import SampleSink
from gangline.store.tables import forget_samples

Meter = Callable[[int, int], None]
METER_S = 1.0
UNBALANCED = (
    "the reader lost count: {records} records in the file, {loaded} loaded, {ignored} ignored, {rejected} rejected"
)


@dataclass
class FileOutcome:
    """What became of a file."""

    shown_path: str
    kind: str
    log: ReadLog = field(default_factory=ReadLog)
    refusal: str | None = None
    first_reject: Reject | None = None

    @property
    def is_clean(self) -> bool:
        """True where every record was read."""
        return self.refusal is None and self.log.rejected == 0


def load_file(
    con: duckdb.DuckDBPyConnection,
    found: FoundFile,
    sha256: str,
    is_strict: bool,
    telemetry: Path,
    meter: Meter = lambda done, total: None,
) -> FileOutcome:
    """Reads a file into the warehouse; in strict mode a file with a reject leaves no trace but its outcome.

    Samples go to the store in the folder `telemetry`, and count from the same commit on as the file's rows. `meter` is
    told, about once a second, how many bytes of the file are read and how many it has.
    """
    outcome = FileOutcome(found.shown_path, found.kind)
    file_id = file_id_of(sha256, found.kind)
    con.execute("begin")
    try:
        forget_file(con, file_id)
        _read_into(con, found, file_id, outcome, telemetry, meter)
        if is_strict and not outcome.is_clean:
            con.execute("rollback")
            return outcome
        _record(con, found, file_id, sha256, outcome)
        con.execute("commit")
    except BaseException:
        with suppress(duckdb.TransactionException):  # a commit that fails on a full disk has ended it already
            con.execute("rollback")
        raise
    return outcome


def try_file(found: FoundFile) -> FileOutcome:
    """Reads a file and keeps nothing of it."""
    outcome = FileOutcome(found.shown_path, found.kind)
    file = found.input
    try:
        for _ in _batches(found, file, outcome.log):
            _drain(outcome)
        _judge_balance(outcome)
    except SourceRefusedError as error:
        outcome.refusal = _refusal(error, outcome, file)
    _note_damage(outcome, file)
    _drain(outcome)
    return outcome


def unreadable(found: FoundFile, error: OSError) -> FileOutcome:
    """What becomes of a file that cannot even be opened; it is tried again at the next ingest."""
    mend = "mend it, or name another path in the config"
    return FileOutcome(found.shown_path, found.kind, refusal=f"{found.path}: cannot be read ({error.strerror}): {mend}")


def file_id_of(sha256: str, kind: str) -> str:
    """A file's name in the warehouse: by content and kind, so the same file twice is one."""
    return f"{sha256[:IDENTITY_HEX_DIGITS]}-{kind}"


def forget_file(con: duckdb.DuckDBPyConnection, file_id: str) -> None:
    """Removes all that was read from a file."""
    for table in [f"raw.{name}" for name in SCHEMAS] + ["meta.rejects", "meta.oddities", "meta.files"]:
        con.execute(f"delete from {table} where file_id = ?", [file_id])  # noqa: S608
    forget_samples(con, file_id)


def _read_into(
    con: duckdb.DuckDBPyConnection,
    found: FoundFile,
    file_id: str,
    outcome: FileOutcome,
    telemetry: Path,
    meter: Meter,
) -> None:
    """A file refused as a whole keeps the rows that were read before it broke."""
    file = found.input
    sink = SampleSink(telemetry, NodeRule(found.options.node_labels, found.options.node_strip))
    with closing(sink):
        try:
            for batch in _metered(_batches(found, file, outcome.log), file, meter):
                _keep(con, sink, batch, file_id)
                _insert_rejects(con, file_id, _drain(outcome))
            _judge_balance(outcome)
        except SourceRefusedError as error:
            outcome.refusal = _refusal(error, outcome, file)
            outcome.log.split()
            outcome.log.reject(None, outcome.refusal)
        _keep_samples(con, sink, file_id, outcome.log)
    _note_damage(outcome, file)
    _insert_rejects(con, file_id, _drain(outcome))
    for kind, (count, line) in sorted(outcome.log.oddities.items()):
        con.execute("insert into meta.oddities values (?, ?, ?, ?)", [file_id, kind, count, line])


def _batches(found: FoundFile, file: InputFile, log: ReadLog) -> Iterator[Batch | SampleBatch]:
    if file.is_utf16():
        raise SourceRefusedError(f"{file.path}:1: this is UTF-16 text: save the file as UTF-8")
    yield from found.reader.read(file, found.options, log)


def _metered(batches: Iterator[Batch | SampleBatch], file: InputFile, meter: Meter) -> Iterator[Batch | SampleBatch]:
    """The same batches; the meter is told about once a second how far they have come."""
    size_bytes, told_s = file.path.stat().st_size, time.monotonic()
    for batch in batches:
        if time.monotonic() - told_s >= METER_S:
            told_s = time.monotonic()
            meter(file.position(), size_bytes)
        yield batch


def _refusal(error: SourceRefusedError, outcome: FileOutcome, file: InputFile) -> str:
    """Why a file is refused; one that cannot be decompressed is not empty, and says so."""
    if file.damage:
        return f"{outcome.shown_path}: cannot be decompressed ({'; '.join(file.damage)}): copy or export it again"
    return str(error)


def _keep(con: duckdb.DuckDBPyConnection, sink: SampleSink, batch: Batch | SampleBatch, file_id: str) -> None:
    if isinstance(batch, SampleBatch):
        sink.take(batch)
    else:
        _insert(con, batch, file_id)


def _keep_samples(con: duckdb.DuckDBPyConnection, sink: SampleSink, file_id: str, log: ReadLog) -> None:
    written = sink.finish()
    record_written(con, file_id, written)
    for kind, count in (("repeated_samples", written.repeats), ("conflicting_samples", written.conflicts)):
        if count:
            log.odd(kind, None, count)


def _judge_balance(outcome: FileOutcome) -> None:
    log = outcome.log
    if not log.is_balanced():
        counts = {"records": log.records, "loaded": log.loaded, "rejected": log.rejected}
        raise SourceRefusedError(
            f"{outcome.shown_path}: {UNBALANCED.format(ignored=sum(log.ignored.values()), **counts)}"
        )


def _note_damage(outcome: FileOutcome, file: InputFile) -> None:
    for what in file.damage:
        outcome.log.split()
        outcome.log.reject(None, f"the file breaks off ({what}): what comes before was read; export or copy it again")


def _drain(outcome: FileOutcome) -> list[Reject]:
    rejects, outcome.log.rejects = outcome.log.rejects, []
    if rejects and outcome.first_reject is None:
        outcome.first_reject = rejects[0]
    return rejects


def _insert(con: duckdb.DuckDBPyConnection, batch: Batch, file_id: str) -> None:
    con.register("batch", batch.frame.with_columns(file_id=pl.lit(file_id)).to_arrow())
    con.execute(f"insert into raw.{batch.table} by name select * from batch")  # noqa: S608
    con.unregister("batch")


def _insert_rejects(con: duckdb.DuckDBPyConnection, file_id: str, rejects: list[Reject]) -> None:
    if rejects:
        rows = pl.DataFrame(
            [(file_id, reject.line, reject.reason, reject.text) for reject in rejects],
            schema={"file_id": pl.String, "line": pl.Int64, "reason": pl.String, "text": pl.String},
            orient="row",
        )
        con.register("batch", rows.to_arrow())
        con.execute("insert into meta.rejects by name select * from batch")
        con.unregister("batch")


def _record(con: duckdb.DuckDBPyConnection, found: FoundFile, file_id: str, sha256: str, outcome: FileOutcome) -> None:
    log, status = outcome.log, found.path.stat()
    row = {
        "file_id": file_id,
        "source_id": found.source_id,
        "kind": found.kind,
        "path": found.shown_path,
        "sha256": sha256,
        "size_bytes": status.st_size,
        "modified_ns": status.st_mtime_ns,
        "options_hash": found.options_hash(),
        "reader_version": found.reader.VERSION,
        "records": log.records,
        "loaded": log.loaded,
        "ignored": sum(log.ignored.values()),
        "rejected": log.rejected,
        "ignored_kinds": json.dumps(log.ignored, sort_keys=True),
        "first_at": log.first_at,
        "latest_at": log.latest_at,
        "loaded_at": datetime.now(UTC),
    }
    marks = ", ".join("?" for _ in row)
    con.execute(f"insert into meta.files ({', '.join(row)}) values ({marks})", list(row.values()))  # noqa: S608
