"""What the warehouse's ledger knows of files: by place, size and time of change, and by content."""

import errno
import os
import stat

import duckdb

from gangline.ingest.finding import FoundFile


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


def digest_of(con: duckdb.DuckDBPyConnection, file: FoundFile) -> str:
    """The content's hash; taken from the ledger where path, size and time of change are as they were.

    Raises
    ------
    OSError
        Where the file is gone, may not be read, or is none.
    """
    status = regular_status(file)
    row = con.execute(
        "select sha256 from meta.files where kind = ? and path = ? and size_bytes = ? and modified_ns = ?",
        [file.kind, file.shown_path, status.st_size, status.st_mtime_ns],
    ).fetchone()
    return str(row[0]) if row else file.input.digest()


def has_size(con: duckdb.DuckDBPyConnection, file: FoundFile, size_bytes: int) -> bool:
    """True where the ledger has a file of that kind and length, so that this one may be known."""
    row = con.execute("select 1 from meta.files where kind = ? and size_bytes = ?", [file.kind, size_bytes]).fetchone()
    return row is not None


def is_loaded(con: duckdb.DuckDBPyConnection, file: FoundFile, file_id: str) -> bool:
    """True where that content was read with the options and the reader of today."""
    row = con.execute("select options_hash, reader_version from meta.files where file_id = ?", [file_id]).fetchone()
    return row == (file.options_hash(), file.reader.VERSION)


def note_place(con: duckdb.DuckDBPyConnection, file: FoundFile, file_id: str) -> None:
    """Notes where a known content lies now."""
    status = file.path.stat()
    con.execute(
        "update meta.files set source_id = ?, path = ?, modified_ns = ? where file_id = ?",
        [file.source_id, file.shown_path, status.st_mtime_ns, file_id],
    )
