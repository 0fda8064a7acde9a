"""One file into the raw tables, in one transaction, with every record of it accounted for."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import duckdb
import polars as pl

from gangline.ingest.finding import IDENTITY_HEX_DIGITS, FoundFile
from gangline.sources.encodings import refuse_utf16
from gangline.sources.files import InputFile
from gangline.sources.metering import Meter, metered
from gangline.sources.records import SCHEMAS, Batch, ReadLog, Reject, SourceRefusedError
from gangline.sources.samples import SampleBatch
from gangline.store.filling import Filled
from gangline.store.recording import record_written
from gangline.store.tables import forget_samples

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
    meter: Meter = lambda done, total: None,
) -> FileOutcome:
    """Reads a file of rows into the warehouse; in strict mode one with a reject leaves no trace but its outcome.

    `meter` is told, about once a second, how many bytes of the file are read and how many it has.
    """
    outcome, file_id = FileOutcome(found.shown_path, found.kind), file_id_of(sha256, found.kind)
    with _keeping(con, outcome, is_strict):
        forget_file(con, file_id)
        _read_into(con, found, file_id, outcome, meter)
        _record(con, found, file_id, sha256, outcome)
    return outcome


def record_samples(con: duckdb.DuckDBPyConnection, found: FoundFile, filled: Filled, is_strict: bool) -> FileOutcome:
    """Makes the samples that a file left in the store count; in strict mode not where a record of it is rejected."""
    assert filled.sha256 is not None
    outcome, file_id = FileOutcome(found.shown_path, found.kind, filled.log), file_id_of(filled.sha256, found.kind)
    with _keeping(con, outcome, is_strict):
        forget_file(con, file_id)
        if filled.refusal is not None:
            outcome.refusal = _refusal(filled.refusal, outcome, filled.damage)
        _judge_balance(outcome)
        _reject_refused(outcome)
        record_written(con, file_id, filled.written)
        for kind, count in (
            ("repeated_samples", filled.written.repeats),
            ("conflicting_samples", filled.written.conflicts),
        ):
            if count:
                outcome.log.odd(kind, None, count)
        _note_damage(outcome, filled.damage)
        _insert_findings(con, file_id, outcome)
        _record(con, found, file_id, filled.sha256, outcome)
    return outcome


@contextmanager
def _keeping(con: duckdb.DuckDBPyConnection, outcome: FileOutcome, is_strict: bool) -> Iterator[None]:
    """One transaction, kept unless it breaks off or strict mode refuses its outcome."""
    con.execute("begin")
    try:
        yield
        con.execute("rollback" if is_strict and not outcome.is_clean else "commit")
    except BaseException:
        with suppress(duckdb.TransactionException):  # a commit that fails on a full disk has ended it already
            con.execute("rollback")
        raise


def try_file(found: FoundFile) -> FileOutcome:
    """Reads a file and keeps nothing of it."""
    outcome = FileOutcome(found.shown_path, found.kind)
    file = found.input
    try:
        for _ in _batches(found, file, outcome.log):
            _drain(outcome)
    except SourceRefusedError as error:
        outcome.refusal = _refusal(str(error), outcome, tuple(file.damage))
    _judge_balance(outcome)
    _note_damage(outcome, tuple(file.damage))
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
    con: duckdb.DuckDBPyConnection, found: FoundFile, file_id: str, outcome: FileOutcome, meter: Meter
) -> None:
    """A file refused as a whole keeps the rows that were read before it broke."""
    file = found.input
    try:
        for batch in metered(_batches(found, file, outcome.log), file, meter):
            assert isinstance(batch, Batch)
            _insert(con, batch, file_id)
            _insert_rejects(con, file_id, _drain(outcome))
    except SourceRefusedError as error:
        outcome.refusal = _refusal(str(error), outcome, tuple(file.damage))
    _judge_balance(outcome)
    _reject_refused(outcome)
    _note_damage(outcome, tuple(file.damage))
    _insert_findings(con, file_id, outcome)


def _batches(found: FoundFile, file: InputFile, log: ReadLog) -> Iterator[Batch | SampleBatch]:
    refuse_utf16(file)
    yield from found.reader.read(file, found.options, log)


def _refusal(reason: str, outcome: FileOutcome, damage: tuple[str, ...]) -> str:
    """Why a file is refused; one that cannot be decompressed is not empty, and says so."""
    if damage:
        return f"{outcome.shown_path}: cannot be decompressed ({'; '.join(damage)}): copy or export it again"
    return reason


def _judge_balance(outcome: FileOutcome) -> None:
    """Refuses a file whose reader lost count."""
    log = outcome.log
    if outcome.refusal is None and not log.is_balanced():
        counts = {"records": log.records, "loaded": log.loaded, "rejected": log.rejected}
        outcome.refusal = f"{outcome.shown_path}: {UNBALANCED.format(ignored=sum(log.ignored.values()), **counts)}"


def _reject_refused(outcome: FileOutcome) -> None:
    """Keeps a refusal among the rejects."""
    if outcome.refusal is not None:
        outcome.log.split()
        outcome.log.reject(None, outcome.refusal)


def _note_damage(outcome: FileOutcome, damage: tuple[str, ...]) -> None:
    for what in damage:
        outcome.log.split()
        outcome.log.reject(None, f"the file breaks off ({what}): what comes before was read; export or copy it again")


def _insert_findings(con: duckdb.DuckDBPyConnection, file_id: str, outcome: FileOutcome) -> None:
    _insert_rejects(con, file_id, _drain(outcome))
    for kind, (count, line) in sorted(outcome.log.oddities.items()):
        con.execute("insert into meta.oddities values (?, ?, ?, ?)", [file_id, kind, count, line])


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
