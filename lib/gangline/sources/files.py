"""Input files as byte streams: plain, gzip or zstd told by content, never by name."""

import gzip
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
UTF8_BOM = b"\xef\xbb\xbf"
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class InputFile:
    """One export on disk."""

    path: Path

    def open(self) -> BinaryIO:
        """The decompressed bytes, to be read once and closed."""
        with self.path.open("rb") as raw:
            magic = raw.read(4)
        if magic.startswith(GZIP_MAGIC):
            return cast(BinaryIO, gzip.open(self.path, "rb"))
        if magic.startswith(ZSTD_MAGIC):
            reader = zstandard.ZstdDecompressor().stream_reader(
                self.path.open("rb"), read_across_frames=True, closefd=True
            )
            return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, reader), CHUNK_BYTES))
        return self.path.open("rb", buffering=CHUNK_BYTES)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Physical lines from 1 without their newline (and without a leading byte-order mark)."""
        with self.open() as stream:
            for number, line in enumerate(stream, start=1):
                body = line[:-1] if line.endswith(b"\n") else line
                yield number, body.removeprefix(UTF8_BOM) if number == 1 else body

    def digest(self) -> str:
        """SHA-256 of the file as it lies on disk, in hex."""
        with self.path.open("rb") as raw:
            return hashlib.file_digest(raw, "sha256").hexdigest()
