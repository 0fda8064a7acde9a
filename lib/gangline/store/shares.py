"""Files cut into shares that are read by themselves: a whole file, or whole lines of a long one.

How a file is cut depends on the file alone, so that its parts are the same however many processes read it. A file is
fetched once: its hash is taken of what a share is about to read.
"""

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from gangline.sources import prometheus
from gangline.sources.files import CHUNK_BYTES, InputFile, numbered_lines, stretch
from gangline.sources.prometheus_judging import SERIES_MAX_BYTES
from gangline.sources.read_log import SourceOptions

SHARE_BYTES = 160 << 20  # at most, of text; its samples are about one filling of the sink
PLAIN_MIN_BYTES = 64 << 20  # of a file that is worth cutting
UNPACKED_SHARE_BYTES = 64 << 20  # these stand in memory
PACKED_MIN_BYTES = 40 << 20
HAS_MEMORY_FILES = hasattr(os, "memfd_create")


@dataclass(frozen=True)
class Share:
    """What one process reads at a time.

    Attributes
    ----------
    text
        Where its bytes lie: the file itself, or memory that unpacked lines were put into.
    start, end
        Where its lines begin and end in `text`; a null end means the whole file, whatever its format.
    read_bytes
        How much of the file, as it lies on disk, is read with it.
    sha256
        Of the file; null until its last share, or the reading of the whole file, gives it.
    problem
        Why the file could not be fetched to its end.
    """

    path: Path
    options: SourceOptions
    telemetry: Path
    text: Path
    start: int = 0
    end: int | None = None
    is_last: bool = True
    read_bytes: int = 0
    handle: int | None = None
    sha256: str | None = None
    damage: tuple[str, ...] = ()
    problem: OSError | None = None

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Its lines, counted from 1 at its start."""
        assert self.end is not None
        with self.text.open("rb", buffering=0) as raw:
            raw.seek(self.start)
            yield from numbered_lines(stretch(raw, self.end - self.start), SERIES_MAX_BYTES)

    def let_go(self) -> None:
        """Frees the memory that its lines were put into."""
        if self.handle is not None:
            os.close(self.handle)


def shares_of(path: Path, options: SourceOptions, telemetry: Path, sha256: str | None = None) -> Iterator[Share]:
    """The shares of a file in its order; more than one only of VictoriaMetrics lines, which stand for themselves."""
    whole = Share(path, options, telemetry, path, sha256=sha256)
    try:
        whole = replace(whole, read_bytes=path.stat().st_size)
        yield from _cut(whole)
    except OSError as error:
        yield replace(whole, problem=error)


def is_cut(file: InputFile, size_bytes: int) -> bool:
    """True where a file has several shares: it is long, and its lines stand for themselves."""
    return _is_long(file, size_bytes) and prometheus.has_export_lines(file)


def _is_long(file: InputFile, size_bytes: int) -> bool:
    if file.is_packed():
        return HAS_MEMORY_FILES and size_bytes >= PACKED_MIN_BYTES
    return size_bytes >= PLAIN_MIN_BYTES


def _cut(whole: Share) -> Iterator[Share]:
    file = InputFile(whole.path)
    if not is_cut(file, whole.read_bytes):
        yield whole
    elif file.is_packed():
        yield from _unpacked(whole, file)
    else:
        yield from _plain(whole)


def _plain(whole: Share) -> Iterator[Share]:
    size_bytes, start, digest = whole.read_bytes, 0, hashlib.sha256()
    share_bytes = -(-size_bytes // max(4, -(-size_bytes // SHARE_BYTES)))
    with whole.path.open("rb", buffering=0) as stream:
        while start < size_bytes:
            end = _line_end(stream, min(start + share_bytes, size_bytes), size_bytes)
            sha256 = whole.sha256
            if sha256 is None:
                _hash(stream, start, end, digest)
                sha256 = digest.hexdigest() if end == size_bytes else None
            is_last = end == size_bytes
            yield replace(whole, start=start, end=end, is_last=is_last, read_bytes=end, sha256=sha256)
            start = end


def _line_end(stream: BinaryIO, position: int, size_bytes: int) -> int:
    """Where the line that a position stands in ends."""
    stream.seek(position)
    while position < size_bytes and (chunk := stream.read(CHUNK_BYTES)):
        place = chunk.find(b"\n")
        if place >= 0:
            return min(position + place + 1, size_bytes)
        position += len(chunk)
    return size_bytes


def _hash(stream: BinaryIO, start: int, end: int, digest: "hashlib._Hash") -> None:
    stream.seek(start)
    while start < end and (chunk := stream.read(min(CHUNK_BYTES, end - start))):
        digest.update(chunk)
        start += len(chunk)


def _unpacked(whole: Share, file: InputFile) -> Iterator[Share]:
    """Lines put into memory by whoever asks for the next share, while the one before is read."""
    with ThreadPoolExecutor(1, thread_name_prefix="digest") as pool, file.open() as stream:
        digest = pool.submit(file.digest) if whole.sha256 is None else None
        rest, is_last = b"", False
        while not is_last:
            handle = os.memfd_create("gangline-lines")
            rest = _fetch(stream, handle, rest)
            is_last = not rest and not stream.peek(1)  # type: ignore[attr-defined]
            yield replace(
                whole,
                text=Path(f"/proc/{os.getpid()}/fd/{handle}"),
                end=os.fstat(handle).st_size,
                is_last=is_last,
                read_bytes=file.position(),
                handle=handle,
                sha256=digest.result() if digest and is_last else whole.sha256,
                damage=tuple(file.damage),
            )


def _fetch(stream: BinaryIO, handle: int, rest: bytes) -> bytes:
    """Fills memory with whole lines; gives the beginning of the line after them.

    Of a line that is longer than any series may be, only so much is put there that it is seen to be too long.
    """
    written = os.write(handle, rest)
    of_line = written
    while chunk := stream.read(CHUNK_BYTES):
        place = chunk.rfind(b"\n") + 1
        if place and written + place >= UNPACKED_SHARE_BYTES:
            os.write(handle, chunk[:place])
            return chunk[place:]
        if place or of_line <= SERIES_MAX_BYTES:
            written += os.write(handle, chunk)
        of_line = len(chunk) - place if place else of_line + len(chunk)
    return b""
