"""Writes valid `.wandb` logs of its own: wire format, checksums, records split over blocks.

Field numbers are written out here and not taken from the reader, so that a wrong one there shows.
"""

import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from gangline.sources import wandb
from gangline.sources.files import InputFile
from gangline.sources.records import Batch, ReadLog, SourceOptions

HEADER = b":W&B\xe1\xbe\x00"
BLOCK = 32_768
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
BASE_S = 1_780_000_000
Row = Mapping[str, object]


def varint(value: int) -> bytes:
    """A base-128 number, two's complement where negative."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number: int, value: int | float | str | bytes) -> bytes:
    """One protobuf field; 0 and empty are written too, as proto3 writers would not."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    body = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(body)) + body


def timestamp(seconds: float) -> bytes:
    whole = int(seconds)
    return field(1, whole) + field(2, round((seconds - whole) * 1e9))


def item(key: str | tuple[str, ...], value_json: str) -> bytes:
    keys = field(1, key) if isinstance(key, str) else b"".join(field(2, part) for part in key)
    return field(1, keys + field(16, value_json))


def items(row: Row) -> bytes:
    return b"".join(item(key, json.dumps(value)) for key, value in row.items())


def record(number: int, body: bytes) -> bytes:
    return field(1, 7) + field(number, body)


def history(step: int | None = None, at: float | None = None, **metrics: object) -> bytes:
    own = {"_step": step, "_timestamp": at, "_runtime": None if at is None else at - BASE_S}
    return record(2, items({**metrics, **{key: value for key, value in own.items() if value is not None}}))


def run(run_id: str = "k3x", **texts: object) -> bytes:
    """A run record; other arguments are `config` (a dict), `start` (seconds), `starting_step`, `resumed`, `name`."""
    body = field(1, run_id) + field(2, "lab") + field(3, "llm") + field(8, str(texts.get("name", "llama")))
    body += field(4, items(texts.get("config", {})))  # type: ignore[arg-type]
    body += field(17, timestamp(float(texts.get("start", BASE_S))))  # type: ignore[arg-type]
    if "starting_step" in texts:
        body += field(14, int(texts["starting_step"]))  # type: ignore[call-overload]
    return record(17, body + (field(18, 1) if texts.get("resumed") else b""))


def output(text: str, at: float = BASE_S, stream: int = 1) -> bytes:
    return record(13, field(1, stream) + field(2, timestamp(at)) + field(3, text))


def exit_record(code: int, runtime: int = 60) -> bytes:
    body = b"" if code == 0 else field(1, code)
    return record(18, body + field(2, runtime))


def fragment(kind: int, data: bytes) -> bytes:
    return struct.pack("<IHB", zlib.crc32(bytes([kind]) + data), len(data), kind) + data


def framed(records: Iterable[bytes]) -> bytes:
    """A log of these records, split where a block ends, with zeros where a block has no room for a header."""
    out = bytearray(HEADER)
    for data in records:
        is_first = True
        while True:
            room = BLOCK - len(out) % BLOCK
            if room < 7:
                out += bytes(room)
                continue
            part, data = data[: room - 7], data[room - 7 :]
            kind = (FULL if not data else FIRST) if is_first else (LAST if not data else MIDDLE)
            out += fragment(kind, part)
            is_first = False
            if not data:
                break
    return bytes(out)


def read_bytes(folder: Path, data: bytes, name: str = "run-k3x.wandb", **options: str) -> tuple[list[Batch], ReadLog]:
    """Reads a file of these bytes, with the accounting checked."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return read_path(path, **options)


def read_path(path: Path, **options: str) -> tuple[list[Batch], ReadLog]:
    log = ReadLog()
    batches = list(wandb.read(InputFile(path), SourceOptions("wandb", **options), log))  # type: ignore[arg-type]
    assert log.is_balanced()
    return batches, log


def rows(batches: list[Batch], table: str) -> list[dict[str, object]]:
    """All rows of one table, without their columns that are null."""
    found = [row for batch in batches if batch.table == table for row in batch.frame.to_dicts()]
    return [{key: value for key, value in row.items() if value is not None} for row in found]


def steps(batches: list[Batch]) -> list[tuple[object, ...]]:
    """Step rows as (step, metric, value, kind)."""
    wanted = ("step", "metric", "value", "value_kind")
    return [tuple(row.get(name) for name in wanted) for row in rows(batches, "run_step_records")]


def only_run(batches: list[Batch]) -> dict[str, object]:
    """The one run that the file holds."""
    (found,) = rows(batches, "run_records")
    return found
