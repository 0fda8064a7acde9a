"""W&B logs of one process each, as wandb 0.31 writes them offline: framed, checksummed protobuf records (formats 4)."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from gangline.sources.wandb_log import BLOCK_BYTES, FILE_HEADER, FRAGMENT_HEADER, Fragment
from gangline.sources.wandb_messages import record_class

WRITER_VERSION = "0.31.0"
STREAM_CODES = {"stderr": 0, "stdout": 1}
HEADER_BYTES = FRAGMENT_HEADER.size


@dataclass(frozen=True)
class HistoryRow:
    """What one step logged: its number, its instant (epoch seconds), its metrics."""

    step: int
    at_s: float
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class ConsoleLine:
    """A line of the program's output; `stream` is `stdout` or `stderr`."""

    at_s: float
    text: str
    stream: str = "stdout"


@dataclass(frozen=True)
class RunLog:
    """One process of a run.

    Attributes
    ----------
    starting_step
        The step it resumed from; null for a run from scratch.
    exit_code
        Null where the process was killed: then there is no exit record, and the last row is lost.
    """

    run_id: str
    display_name: str
    entity: str
    project: str
    group: str
    host: str
    username: str
    started_at: datetime
    ended_at: datetime
    config: Mapping[str, object]
    starting_step: int | None
    exit_code: int | None
    history: Iterable[HistoryRow] = ()
    console: Iterable[ConsoleLine] = ()
    tags: tuple[str, ...] = ()


def write_run(folder: Path, run: RunLog, zone: ZoneInfo) -> Path:
    """Writes a run's folder with its log; the folder's name holds the start in the zone of the host's clock."""
    stamp = run.started_at.astimezone(zone).strftime("%Y%m%d_%H%M%S")
    path = folder / f"offline-run-{stamp}-{run.run_id}" / f"run-{run.run_id}.wandb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(framed(record.SerializeToString(deterministic=True) for record in records(run)))
    return path


def framed(payloads: Iterable[bytes]) -> bytes:
    """A log of these records: split where a 32 KiB block ends, zeros where it has no room for a header.

    Examples
    --------
    >>> framed([b"a"]).hex(" ")
    '3a 57 26 42 e1 be 00 70 72 77 62 01 00 01 61'
    """
    log = bytearray(FILE_HEADER)
    for payload in payloads:
        first = True
        while first or payload:
            room = BLOCK_BYTES - len(log) % BLOCK_BYTES
            if room < HEADER_BYTES:
                log += bytes(room)
                continue
            part, payload = payload[: room - HEADER_BYTES], payload[room - HEADER_BYTES :]
            log += _fragment(_kind(first, bool(payload)), part)
            first = False
    return bytes(log)


def _kind(is_first: bool, is_more: bool) -> Fragment:
    if is_first:
        return Fragment.FIRST if is_more else Fragment.FULL
    return Fragment.MIDDLE if is_more else Fragment.LAST


def _fragment(kind: Fragment, data: bytes) -> bytes:
    return FRAGMENT_HEADER.pack(zlib.crc32(bytes([kind]) + data), len(data), kind) + data


def records(run: RunLog) -> Iterator[Any]:
    """The log's records: who and what, then rows and output by time, then how it ended."""
    yield _header()
    yield _run(run)
    yield _environment(run)
    timed = [(row.at_s, 0, _history(run, row)) for row in run.history]
    timed += [(line.at_s, 1, _output(line)) for line in run.console]
    yield from (record for _, _, record in sorted(timed, key=lambda entry: entry[:2]))
    yield _stats(run.ended_at)
    if run.exit_code is not None:
        yield _exit(run)


@cache
def _record_class() -> Any:
    return record_class()


def _header() -> Any:
    record = _record_class()()
    record.header.version_info.producer = WRITER_VERSION.encode()
    return record


def _run(run: RunLog) -> Any:
    record = _record_class()()
    texts = {
        "run_id": run.run_id,
        "display_name": run.display_name,
        "entity": run.entity,
        "project": run.project,
        "run_group": run.group,
        "host": run.host,
    }
    for name, text in texts.items():
        setattr(record.run, name, text.encode())
    record.run.tags.extend(tag.encode() for tag in run.tags)
    _set_instant(record.run.start_time, run.started_at.timestamp())
    for key, value in run.config.items():
        _add_item(record.run.config.update, key, value)
    if run.starting_step is not None:
        record.run.starting_step, record.run.resumed = run.starting_step, True
    return record


def _environment(run: RunLog) -> Any:
    record = _record_class()()
    _set_instant(record.environment.started_at, run.started_at.timestamp())
    record.environment.host, record.environment.username = run.host.encode(), run.username.encode()
    record.environment.program = b"pretrain.py"
    return record


def _history(run: RunLog, row: HistoryRow) -> Any:
    record = _record_class()()
    own = {"_step": row.step, "_timestamp": row.at_s, "_runtime": round(row.at_s - run.started_at.timestamp(), 3)}
    for key, value in {**row.metrics, **own}.items():
        _add_item(record.history.item, key, value)
    record.history.step.num = row.step
    return record


def _output(line: ConsoleLine) -> Any:
    record = _record_class()()
    record.output_raw.output_type = STREAM_CODES[line.stream]
    _set_instant(record.output_raw.timestamp, line.at_s)
    record.output_raw.line = (line.text + "\n").encode()
    return record


def _stats(at: datetime) -> Any:
    """The host's own numbers, logged until the process ends: the latest instant of a log that is cut off."""
    record = _record_class()()
    _set_instant(record.stats.timestamp, at.timestamp())
    return record


def _exit(run: RunLog) -> Any:
    record = _record_class()()
    record.exit.SetInParent()
    if run.exit_code:
        record.exit.exit_code = run.exit_code
    record.exit.runtime = int((run.ended_at - run.started_at) / timedelta(seconds=1))
    return record


def _add_item(items: Any, key: str, value: object) -> None:
    item = items.add()
    item.key, item.value_json = key.encode(), json.dumps(value).encode()


def _set_instant(instant: Any, at_s: float) -> None:
    instant.seconds, micros = divmod(round(at_s * 1e6), 1_000_000)
    instant.nanos = micros * 1000
