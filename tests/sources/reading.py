"""Reading a whole file with a source, as the ingest does, for the tests of sources."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from gangline.sources.files import InputFile
from gangline.sources.records import SCHEMAS, ReadLog, Source, SourceOptions


@dataclass(frozen=True)
class Reading:
    """What a source made of a file."""

    frames: dict[str, pl.DataFrame]
    log: ReadLog

    def rows(self, table: str) -> list[dict[str, object]]:
        """The rows of one raw table."""
        return self.frames[table].to_dicts()

    def row(self, table: str) -> dict[str, object]:
        """The one row of one raw table."""
        (row,) = self.rows(table)
        return row


def read_file(source: Source, path: Path, **options: str) -> Reading:
    """Reads a file, with the schemas of its batches and the balance of its log checked."""
    log = ReadLog()
    frames = {table: [pl.DataFrame(schema=schema)] for table, schema in SCHEMAS.items()}
    chosen = SourceOptions(source.KIND, **options)  # type: ignore[arg-type]
    for batch in source.read(InputFile(path), chosen, log):
        assert batch.frame.schema == SCHEMAS[batch.table]
        frames[batch.table].append(batch.frame)
    assert log.is_balanced(), log
    return Reading({table: pl.concat(parts) for table, parts in frames.items()}, log)


def reader_of(source: Source, folder: Path, name: str) -> Callable[..., Reading]:
    """A function that writes its text to a file and reads it."""

    def read_text(text: str | bytes, **options: str) -> Reading:
        path = folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_file(source, path, **options)

    return read_text
