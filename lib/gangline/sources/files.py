"""Input files as byte streams: plain, gzip or zstd told by content, never by name."""

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
UTF8_BOM = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
CHUNK_BYTES = 1 << 20
DAMAGE = (EOFError, OSError, zlib.error, zstandard.ZstdError)


@dataclass(frozen=True)
class InputFile:
    """One export on disk. A compressed file that breaks off reads as if it ended there, and says so in `damage`."""

    path: Path
    damage: list[str] = field(default_factory=list, compare=False)
    _at_work: list[io.FileIO] = field(default_factory=list, compare=False, repr=False)

    def open(self) -> BinaryIO:
        """The decompressed bytes, to be read once and closed."""
        with self.path.open("rb") as raw:
            magic = raw.read(4)
        raw_file = io.FileIO(self.path)
        self._at_work[:] = [raw_file]
        stored = io.BufferedReader(raw_file, CHUNK_BYTES)
        if magic.startswith(GZIP_MAGIC):
            packed = cast(BinaryIO, _GzipOver(stored))
        elif magic.startswith(ZSTD_MAGIC):
            packed = cast(BinaryIO, io.BufferedReader(_ZstdFrames(cast(BinaryIO, stored)), CHUNK_BYTES))
        else:
            return cast(BinaryIO, stored)
        return cast(BinaryIO, io.BufferedReader(_UpToDamage(packed, self.damage), CHUNK_BYTES))

    def position(self) -> int:
        """How many bytes, as they lie on disk, the stream that was opened last has fetched; 0 where it is closed."""
        return next((raw_file.tell() for raw_file in self._at_work if not raw_file.closed), 0)

    def is_packed(self) -> bool:
        """True where it is gzip or zstd."""
        with self.path.open("rb") as raw:
            return raw.read(4).startswith((GZIP_MAGIC, ZSTD_MAGIC))

    def is_utf16(self) -> bool:
        """True where the text begins with a UTF-16 mark, as a shell's `>` writes it on Windows."""
        with self.open() as stream:
            return stream.read(2) in UTF16_MARKS

    def lines(self, max_bytes: int = -1) -> Iterator[tuple[int, bytes]]:
        """Physical lines from 1 without their newline (and without a leading byte-order mark).

        A line of more than `max_bytes` comes as its first `max_bytes + 1`; the rest of it is passed over.
        """
        with self.open() as stream:
            for number, line in numbered_lines(stream, max_bytes):
                yield number, line.removeprefix(UTF8_BOM) if number == 1 else line

    def whole_lines(self, max_bytes: int) -> Iterator[tuple[int, bytes, bool]]:
        """The same, and whether a newline ended the line: where none did, the file may have been cut there."""
        with self.open() as stream:
            for number, line in enumerate(_capped(stream, max_bytes), start=1):
                text = line.removeprefix(UTF8_BOM) if number == 1 else line
                yield number, text.removesuffix(b"\n"), line.endswith(b"\n")

    def digest(self) -> str:
        """SHA-256 of the file as it lies on disk, in hex."""
        with self.path.open("rb") as raw:
            return hashlib.file_digest(raw, "sha256").hexdigest()


def numbered_lines(stream: BinaryIO, max_bytes: int = -1) -> Iterator[tuple[int, bytes]]:
    """Lines of a stream from 1 without their newline; a longer one comes as its first `max_bytes + 1`."""
    for number, line in enumerate(_capped(stream, max_bytes), start=1):
        yield number, line[:-1] if line.endswith(b"\n") else line


def stretch(raw: io.FileIO, length: int) -> BinaryIO:
    """The next bytes of a file, as a stream that ends with them."""
    return cast(BinaryIO, io.BufferedReader(_Stretch(raw, length), CHUNK_BYTES))


def _capped(stream: BinaryIO, max_bytes: int) -> Iterator[bytes]:
    if max_bytes < 0:
        yield from stream
    while line := _behind_hole(stream, max_bytes + 1):
        yield line
        while len(line) > max_bytes and not line.endswith(b"\n"):
            line = stream.readline(max_bytes + 1) or b"\n"


def _behind_hole(stream: BinaryIO, size: int) -> bytes:
    """The next line; NULs before it, as a truncated log or a power cut leaves them by the gigabyte, are no text."""
    line = stream.readline(size)
    while line.startswith(b"\0"):
        line = line.lstrip(b"\0")
        line += b"" if line.endswith(b"\n") else stream.readline(size - len(line))
    return line


class _GzipOver(gzip.GzipFile):
    """Closes the file below it too, which `gzip.GzipFile` leaves to whoever opened it."""

    def __init__(self, below: "io.BufferedReader[io.FileIO]") -> None:
        super().__init__(fileobj=below, mode="rb")
        self._below = below

    def close(self) -> None:
        super().close()
        self._below.close()


class _UpToDamage(io.RawIOBase):
    """Ends where the decompressor fails, and notes why."""

    def __init__(self, packed: BinaryIO, damage: list[str]) -> None:
        self._packed = packed
        self._damage = damage
        damage.clear()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        if self._damage:
            return 0
        try:
            got = self._packed.read1(len(buffer))  # type: ignore[attr-defined]
        except DAMAGE as error:
            self._damage.append(str(error) or type(error).__name__)
            return 0
        buffer[: len(got)] = got
        return len(got)

    def close(self) -> None:
        self._packed.close()
        super().close()


class _Stretch(io.RawIOBase):
    def __init__(self, raw: io.FileIO, length: int) -> None:
        self._raw, self._left = raw, length

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        got = self._raw.readinto(memoryview(buffer)[: self._left])
        self._left -= got or 0
        return got or 0


class _ZstdFrames(io.RawIOBase):
    """Zstd frames one after the other; unlike the library's own reader, an unfinished last frame is an error."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._input = b""
        self._output = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._output and self._advance():
            pass
        got, self._output = self._output[: len(buffer)], self._output[len(buffer) :]
        buffer[: len(got)] = got
        return len(got)

    def _advance(self) -> bool:
        self._input = self._input or self._packed.read(1 << 16)
        if not self._input:
            if self._frame is not None:
                raise EOFError("the last zstd frame is cut off")
            return False
        self._frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
        self._output = self._frame.decompress(self._input)
        self._input = self._frame.unused_data if self._frame.eof else b""
        if self._frame.eof:
            self._frame = None
        return True

    def close(self) -> None:
        self._packed.close()
        super().close()
