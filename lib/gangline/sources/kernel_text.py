"""Kernel logs of lines: every head is looked at for nodes and boots, and only the few lines that matter are read."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from zoneinfo import ZoneInfo

from gangline.sources.files import InputFile
from gangline.sources.kernel_blocks import Block, Skim, blocks
from gangline.sources.kernel_boots import Boot, Head, NodeLog
from gangline.sources.kernel_clock import KernelClock
from gangline.sources.kernel_envelopes import (
    BARE,
    KERNEL_TAG,
    MARKER,
    MONOTONIC,
    SHELL_NODE,
    Envelope,
    envelope_of,
    first_envelope,
)
from gangline.sources.kernel_lines import CONTINUATION, NO_EVENT, Message
from gangline.sources.kernel_messages import XID_BEGINS
from gangline.sources.kernel_reading import KernelReading
from gangline.sources.kernel_years import Years, limit_of, years_of
from gangline.sources.records import Batch, ReadLog, SourceRefusedError

MESSAGE_LINES = 50
SAMPLE_LINES = 1_000
_XID = re.compile(XID_BEGINS.pattern.encode())
_KMSG_ESCAPE = re.compile(rb"\\x([0-9a-f]{2})")
NO_KERNEL_LOG = (
    "{path}:1: no kernel log: its lines are neither dmesg's nor journalctl's nor syslog's: name its own kind, or "
    "export it again with 'journalctl -k -o json' or 'dmesg --time-format iso'"
)


@dataclass
class _Held:
    """A record that may matter, until its last line has come."""

    line: int
    head: re.Match[bytes]
    year: int
    uptime_s: float | None
    node_log: NodeLog
    boot: Boot
    parts: list[bytes] = field(default_factory=list)


class TextLog:
    """Reads the lines of a file into a `KernelReading`."""

    def __init__(self, file: InputFile, reading: KernelReading) -> None:
        self._file = file
        self._reading = reading
        self._zone = ZoneInfo(reading.options.time_zone)
        self._clock = KernelClock(self._zone, reading.log)
        self._years: Years | None = None
        self._year = 0
        self._envelope: Envelope = BARE
        self._held: _Held | None = None
        self._boot: Boot | None = None
        self._told_boot: str | None = None
        self._passed = 0  # records that need no judging

    def read(self) -> Iterator[Batch]:
        """Yields batches of events while it goes."""
        found = self._first_envelope()
        if found is None:
            return
        self._take_envelope(found)
        with closing(blocks(self._file)) as parts:
            for block in parts:
                self._take_block(block)
                yield from self._reading.batches.full()
        self._end_held()
        self._reading.log.split(self._passed)
        if self._passed:
            self._reading.log.ignore(NO_EVENT, self._passed)
        for node_log in self._reading.nodes.values():
            for boot in node_log.boots.values():
                self._date(boot)

    def _first_envelope(self) -> Envelope | None:
        """The envelope of the log; null where it is empty."""
        with closing(blocks(self._file)) as parts:
            sample = [line for block in islice(parts, 1) for line in block.lines[:SAMPLE_LINES]]
        found = first_envelope(sample)
        if found is None and any(line.strip() and not MARKER.match(line) for line in sample):
            raise SourceRefusedError(NO_KERNEL_LOG.format(path=self._file.path))
        return found

    def _take_envelope(self, envelope: Envelope) -> None:
        if envelope.is_yearless and self._years is None:
            limit = limit_of(self._file.path, self._reading.options.exported_at)
            with closing(blocks(self._file)) as parts:
                self._years = years_of((line for block in parts for line in block.lines), envelope.pattern, limit)
        self._envelope = envelope

    def _take_block(self, block: Block) -> None:
        """Skims over lines that are as the one before, and reads the head of each other."""
        skim, skimmed, latest = None, 0, b""
        for index, line in enumerate(block.lines):
            if (
                skim is not None
                and line[skim.same] == skim.same_text
                and line[skim.other] == skim.other_text
                and line[skim.rising] >= latest[skim.rising]
                and index not in block.hot
            ):
                skimmed, latest = skimmed + 1, line
                continue
            self._take_skimmed(block.first_line + index - 1, latest, skimmed)
            head, skimmed, latest = self._take_line(block.first_line + index, line, index in block.hot), 0, line
            skim = Skim.after(self._envelope, head) if head and self._held is None else None
        self._take_skimmed(block.first_line + len(block.lines) - 1, latest, skimmed)

    def _take_skimmed(self, number: int, line: bytes, count: int) -> None:
        """Accounts for lines that were skimmed over; of all of them only the last is read."""
        if count and self._boot is not None:
            head = self._envelope.pattern.match(line)
            self._boot.lines += count - (head is not None)
            if head is not None:
                self._boot.saw_head((number, head, self._year, self._envelope), self._envelope.uptime_s(head))
        self._passed += count

    def _take_line(self, number: int, line: bytes, is_hot: bool) -> re.Match[bytes] | None:
        head = self._envelope.pattern.match(line)
        if head is None or is_hot:
            head = self._judged_head(number, line, head)
        if head is None:
            return None
        self._end_held()
        self._see(number, head, line, is_hot)
        return head

    def _judged_head(self, number: int, line: bytes, head: re.Match[bytes] | None) -> re.Match[bytes] | None:
        """The head of a line that is none of the usual: of another envelope, a marker, or no record of its own."""
        other = envelope_of(line)
        if other is not None and other is not self._envelope and (head is None or other is MONOTONIC):
            self._end_held()
            self._take_envelope(other)
            return other.pattern.match(line)
        if head is None:
            self._pass_over(number, line)
        return head

    def _pass_over(self, number: int, line: bytes) -> None:
        log, marker = self._reading.log, MARKER.match(line)
        log.split()
        if marker:
            log.ignore("journal_marker")
            self._begin_boot(marker)
        elif self._held is not None and (more := _continuation(self._held.head, line)):
            log.ignore(CONTINUATION)
            if len(self._held.parts) < MESSAGE_LINES:
                self._held.parts.append(more)
        else:
            log.ignore("blank_line" if not line.strip() else "outside_any_record")
            if _XID.search(line):
                log.odd("xid_line_not_understood", number)

    def _begin_boot(self, marker: re.Match[bytes]) -> None:
        self._end_held()
        if marker["boot"]:
            self._told_boot = marker["boot"].decode()
        elif marker["reboot"]:
            for node_log in self._reading.nodes.values():
                node_log.begin(node_log.current.line if node_log.current else 1)

    def _see(self, number: int, head: re.Match[bytes], line: bytes, is_hot: bool) -> None:
        """Counts a record for its node and boot, and holds one that may matter."""
        envelope = self._envelope
        if envelope.is_yearless and self._years is not None:
            self._year = self._years.of(head)
        node_log = self._reading.node_log(head["host"] if envelope.has_host else None, envelope.name)
        uptime_s = envelope.uptime_s(head)
        boot = node_log.boot(number, uptime_s, self._told_boot)
        if is_hot and boot.lines and self._told_boot is None and line.startswith(b"Linux version ", head.end()):
            boot = node_log.begin(number)
        boot.saw_head((number, head, self._year, envelope), uptime_s)
        self._boot = boot
        if is_hot and (not envelope.has_tag or head["tag"] == KERNEL_TAG):
            self._reading.log.split()
            self._held = _Held(number, head, self._year, uptime_s, node_log, boot, [line[head.end() :]])
        else:
            self._passed += 1

    def _end_held(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            at = self._instant(self._clock, (held.line, held.head, held.year, self._envelope))
            message = Message(held.line, self._message(held.parts), at, self._envelope.quality, held.uptime_s)
            self._reading.take(held.node_log, held.boot, message)

    def _message(self, parts: list[bytes]) -> str:
        """The text of a record of one or more lines."""
        if self._envelope.name == "kmsg":
            parts = [_KMSG_ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), parts[0])]
        text = b"\n".join([parts[0].rstrip(b"\r"), *(part.strip() for part in parts[1:])])
        return text.decode("utf-8", "replace").replace("\0", "").replace("#012", "\n").rstrip()

    def _instant(self, clock: KernelClock, seen: Head) -> datetime | None:
        line, head, year, envelope = seen
        stamp = head["stamp"] if envelope.read_stamp else None
        if envelope.read_stamp is None or stamp in (None, b"-"):
            return None
        return clock.of_stamp(envelope.read_stamp, stamp, year, line)

    def _date(self, boot: Boot) -> None:
        """Reads the times of the first and the latest record of a boot, anew from its beginning."""
        clock = KernelClock(self._zone, ReadLog())
        for head in (boot.first_head, boot.latest_head):
            at = self._instant(clock, head) if head else None
            if head and at:
                boot.saw(at)
                boot.quality = head[-1].quality


def _continuation(head: re.Match[bytes], line: bytes) -> bytes:
    """A further line of the record with this head, indented, behind the same node where a shell put one; else empty."""
    node, own = SHELL_NODE.match(line), SHELL_NODE.match(head.string)
    text = line[node.end() :] if node and own and node[0] == own[0] else line
    return text if text[:1] in b" \t" and text.strip() else b""
