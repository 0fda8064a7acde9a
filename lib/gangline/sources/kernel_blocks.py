"""A log of lines in blocks, so that the many lines which cannot matter cost next to nothing."""

import re
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass

from gangline.sources.files import UTF8_BOM, InputFile
from gangline.sources.kernel_envelopes import Envelope

BLOCK_BYTES = 1 << 20
LINE_BYTES = 16_384  # of a longer line the rest is passed over
HOLES = re.compile(rb"^\0+", re.MULTILINE)  # a machine that stops at once leaves NULs where lines were to be written
STAMP_DAY_BYTES = 11  # '2026-12-31T' and 'Thu Dec 31 ' alike
# What a line must hold to be an event, or to tell of a boot or a clock.
NEEDLES = (
    *(b"NVRM: ", b"SXid ", b"Linux version ", b"setting system clock", b"type=2000 audit", b"blob data]"),
    *(b"PM: suspend entry", b"-- Boot ", b"-- Reboot"),
)


@dataclass(frozen=True)
class Block:
    """Whole lines of a file, the number of the first, and which of them hold a needle."""

    first_line: int
    lines: list[bytes]
    hot: frozenset[int]


def blocks(file: InputFile) -> Generator[Block, None, None]:
    """The lines of a file, some thousands at a time."""
    number = 1
    with closing(file.open()) as stream:
        carried = b""
        while chunk := stream.read(BLOCK_BYTES):
            if len(carried) >= LINE_BYTES:
                _, mark, chunk = chunk.partition(b"\n")
                chunk = mark + chunk
            whole, mark, rest = (carried + chunk).rpartition(b"\n")
            carried = rest.lstrip(b"\0")[:LINE_BYTES]
            if mark:
                block = _block(number, whole.removeprefix(UTF8_BOM) if number == 1 else whole)
                number += len(block.lines)
                yield block
    if carried:
        yield _block(number, carried)


def _block(number: int, text: bytes) -> Block:
    if b"\0" in text:
        text = HOLES.sub(b"", text)
    return Block(number, [line[:LINE_BYTES] for line in text.split(b"\n")], frozenset(_hot(text)))


def _hot(text: bytes) -> Iterator[int]:
    for needle in NEEDLES:
        line, counted, found = 0, 0, text.find(needle)
        while found >= 0:
            line += text.count(b"\n", counted, found)
            yield line
            counted, found = found, text.find(b"\n", found)
            found = text.find(needle, found) if found >= 0 else -1


@dataclass(frozen=True)
class Skim:
    """What makes a line a plain successor of the one before: same node and month, or the same boot's later uptime."""

    same: slice
    same_text: bytes
    other: slice
    other_text: bytes
    rising: slice

    @classmethod
    def after(cls, envelope: Envelope, head: re.Match[bytes]) -> "Skim | None":
        """What to expect after a line with this head; null where each head must be read."""
        line, groups = head.string, head.re.groupindex
        if envelope.read_stamp and envelope.has_tag:
            same = slice(head.start("host"), head.end("tag") + 1)
            other = slice(*head.span("month")) if "month" in groups else slice(0, 0)
            return cls(same, line[same], other, line[other], slice(0, 0))
        if envelope.read_stamp:
            same = slice(0, head.start("stamp") + STAMP_DAY_BYTES)
            return cls(same, line[same], slice(0, 0), b"", slice(0, 0))
        if envelope.name in ("dmesg", "pdsh_dmesg"):
            same, rising = slice(0, head.start("uptime")), slice(*head.span("uptime"))
            return cls(same, line[same], slice(rising.stop, rising.stop + 1), b"]", rising)
        return None
