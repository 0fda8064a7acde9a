"""The framing of a `.wandb` file: checksummed records in blocks, read up to the first damage.

A 7-byte file header (`:W&B`, 0xBEE1, a version byte) stands inside the first of the 32 KiB blocks of LevelDB's log
format. Each fragment has a 7-byte header: CRC-32 of type and data (IEEE, unmasked), length, type. A block's last
bytes, if fewer than 7, are padding. Read off files of wandb 0.15.12 and 0.31.0.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import BinaryIO

FILE_HEADER = b":W&B\xe1\xbe\x00"
BLOCK_BYTES = 32_768
FRAGMENT_HEADER = struct.Struct("<IHB")
ZERO_HEADER = bytes(FRAGMENT_HEADER.size)
MAX_RECORD_BYTES = 1 << 28  # a manifest of 100,000 files has 30 MB; fragments without end must not fill the memory


class Fragment(IntEnum):
    """Where in its record a fragment stands."""

    FULL = 1
    FIRST = 2
    MIDDLE = 3
    LAST = 4


@dataclass(frozen=True)
class Damage:
    """Where the readable records end before the file does; `kind` is `truncated`, `corrupt` or `zero_padded`."""

    kind: str
    at_byte: int
    bytes_unread: int
    what: str


class DamageFoundError(Exception):
    """Nothing from here on can be trusted."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(what)
        self.kind, self.what = kind, what


class LogRecords:
    """Iterates once over the records of a log, holding one; afterwards `damage` tells what was left, if anything.

    Parameters
    ----------
    stream
        The file's bytes from its beginning.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.damage: Damage | None = None
        self._stream = stream
        self._block = b""
        self._block_at = 0
        self._position = len(FILE_HEADER)
        self._record_at = 0
        self._parts: list[bytes] = []

    def header_fault(self) -> str | None:
        """Why the file is no log that this version reads, with the mend; null where it is one, or is cut in its header.

        Examples
        --------
        >>> import io
        >>> LogRecords(io.BytesIO(FILE_HEADER)).header_fault() is None
        True
        """
        self._next_block()
        head = self._block[: len(FILE_HEADER)]
        if head == FILE_HEADER[: len(head)]:
            return None
        if head[:-1] == FILE_HEADER[:-1]:
            return f"a W&B log of format {head[-1]}, this version reads format 0: export the run's history instead"
        return "no W&B log (it does not begin with ':W&B'): copy it again, or take it out of this source's path"

    def __iter__(self) -> Iterator[bytes]:
        try:
            if 0 < len(self._block) < len(FILE_HEADER):
                self._position = 0
                raise DamageFoundError("truncated", "the log ends inside the file's header")
            while self._block or self._next_block():
                for kind, data in self._fragments():
                    if (record := self._joined(kind, data)) is not None:
                        yield record
                self._block_at += len(self._block)
                self._block, self._position = b"", 0
            if self._parts:
                raise DamageFoundError("truncated", "the log ends inside a record")
        except DamageFoundError as found:
            self.damage = self._measured(found)

    def _next_block(self) -> bool:
        self._block = self._stream.read(BLOCK_BYTES)
        return bool(self._block)

    def _fragments(self) -> Iterator[tuple[int, bytes]]:
        """The block's fragments; `_position` stands at each one's header until it is consumed."""
        while len(self._block) - self._position >= FRAGMENT_HEADER.size:
            crc, length, kind = FRAGMENT_HEADER.unpack_from(self._block, self._position)
            start = self._position + FRAGMENT_HEADER.size
            self._check(crc, start, start + length)
            if not self._parts:
                self._record_at = self._block_at + self._position
            yield kind, self._block[start : start + length]
            self._position = start + length
        if len(self._block) < BLOCK_BYTES and self._position < len(self._block):
            raise DamageFoundError("truncated", "the log ends inside a record's header")

    def _check(self, crc: int, start: int, end: int) -> None:
        if self._block[start - FRAGMENT_HEADER.size : start] == ZERO_HEADER:
            raise DamageFoundError("corrupt", "zeros where a record should begin")
        if end > BLOCK_BYTES:
            raise DamageFoundError("corrupt", "a record longer than its block")
        if end > len(self._block):
            raise DamageFoundError("truncated", "the log ends inside a record")
        # The type byte is the header's last, so that what the checksum covers is one piece.
        if zlib.crc32(self._block[start - 1 : end]) != crc:
            raise DamageFoundError("corrupt", "a record's checksum is wrong")

    def _joined(self, kind: int, data: bytes) -> bytes | None:
        """The whole record, once its last fragment is here."""
        if (kind in (Fragment.MIDDLE, Fragment.LAST)) != bool(
            self._parts
        ) or not Fragment.FULL <= kind <= Fragment.LAST:
            raise DamageFoundError("corrupt", "a record's parts are out of order")
        if kind == Fragment.FULL:
            return data
        self._parts.append(data)
        if sum(map(len, self._parts)) > MAX_RECORD_BYTES:
            raise DamageFoundError("corrupt", "a record without end")
        if kind != Fragment.LAST:
            return None
        record = b"".join(self._parts)
        self._parts.clear()
        return record

    def _measured(self, found: DamageFoundError) -> Damage:
        """Reads to the file's end to say how much is left, counted from the first record that was not given."""
        here = self._block_at + min(self._position, len(self._block))
        left, is_zeros = len(self._block) - self._position, not self._block[self._position :].strip(b"\0")
        while chunk := self._stream.read(BLOCK_BYTES):
            left, is_zeros = left + len(chunk), is_zeros and not chunk.strip(b"\0")
        start = self._record_at if self._parts else here
        kind, what = found.kind, found.what
        if is_zeros and left:
            kind, what = ("truncated" if self._parts else "zero_padded"), "zeros to the file's end"
        return Damage(kind, start, here + left - start, what)
