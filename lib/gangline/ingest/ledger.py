"""What the warehouse's ledger knows of files: by place, size and time of change, and by content."""

import errno
import os
import stat
from dataclasses import dataclass

import duckdb

from gangline.ingest.finding import FoundFile
from gangline.ingest.loading import file_id_of

Place = tuple[str, str, int, int]
"""A file's kind, path, bytes and time of change (ns)."""


@dataclass
class Ledger:
    """The files that a warehouse holds, read once: each of thousands is asked for several times.

    Attributes
    ----------
    hashes : contents by place; those that are hashed since are added
    readings : options and version of the reader, by file id
    homes : source, path and time of change, by file id
    lengths : kinds and bytes of all
    """

    hashes: dict[Place, str]
    readings: dict[str, tuple[str, int]]
    homes: dict[str, tuple[str, str, int]]
    lengths: set[tuple[str, int]]

    def digest_of(self, file: FoundFile) -> str:
        """The content's hash; as it was noted where path, size and time of change are as they were.

        Raises
        ------
        OSError
            Where the file is gone, may not be read, or is none.
        """
        place = _place_of(file)
        if place not in self.hashes:
            self.hashes[place] = file.input.digest()
        return self.hashes[place]

    def has_size(self, file: FoundFile, size_bytes: int) -> bool:
        """True where there is a file of that kind and length, so that this one may be known."""
        return (file.kind, size_bytes) in self.lengths

    def is_loaded(self, file: FoundFile, file_id: str) -> bool:
        """True where that content was read with the options and the reader of today."""
        return self.readings.get(file_id) == (file.options_hash(), file.reader.VERSION)

    def holds(self, file: FoundFile) -> bool:
        """The same of a file, which is not read where its length tells that it is new.

        Raises
        ------
        OSError
            As `digest_of`.
        """
        if not self.has_size(file, regular_status(file).st_size):
            return False
        return self.is_loaded(file, file_id_of(self.digest_of(file), file.kind))

    def note_place(self, con: duckdb.DuckDBPyConnection, file: FoundFile, file_id: str) -> None:
        """Notes where a known content lies now, if that is elsewhere."""
        home = (file.source_id, file.shown_path, file.path.stat().st_mtime_ns)
        if self.homes[file_id] != home:
            con.execute(
                "update meta.files set source_id = ?, path = ?, modified_ns = ? where file_id = ?", [*home, file_id]
            )


def read_ledger(con: duckdb.DuckDBPyConnection, hashes: dict[Place, str] | None = None) -> Ledger:
    """The ledger of an open warehouse, with `hashes` that were taken before it was opened."""
    rows = con.execute(
        "select kind, path, size_bytes, modified_ns, sha256, file_id, options_hash, reader_version, source_id"
        " from meta.files"
    ).fetchall()
    return Ledger(
        {tuple(row[:4]): row[4] for row in rows} | (hashes or {}),
        {row[5]: (row[6], row[7]) for row in rows},
        {row[5]: (row[8], row[1], row[3]) for row in rows},
        {(row[0], row[2]) for row in rows},
    )


def regular_status(file: FoundFile) -> os.stat_result:
    """Size and times of a file.

    Raises
    ------
    OSError
        Where it is gone, or is none: a pipe, say, which would never end.
    """
    status = file.path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(file.path))
    return status


def _place_of(file: FoundFile) -> Place:
    status = regular_status(file)
    return file.kind, file.shown_path, status.st_size, status.st_mtime_ns
