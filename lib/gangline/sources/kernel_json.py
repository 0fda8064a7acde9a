"""Kernel logs of named fields: `journalctl -o json`, `json-seq` and `export`, and `dmesg -J`."""

import struct
from collections.abc import Iterator
from datetime import datetime
from typing import BinaryIO
from zoneinfo import ZoneInfo

from gangline.sources import kernel_stamps as stamps
from gangline.sources.files import InputFile
from gangline.sources.json_items import JsonDamage, JsonItem, json_items
from gangline.sources.kernel_clock import KernelClock
from gangline.sources.kernel_lines import NO_EVENT, Message
from gangline.sources.kernel_reading import KernelReading
from gangline.sources.records import Batch
from gangline.vocabulary import TimeQuality

Fields = dict[str, object]
DMESG_PATH = ("dmesg",)
TEXT_CHARS = 64_000
FIELD_BYTES = 1 << 20
NOT_A_RECORD = "no record of a kernel log: it has no MESSAGE and no time: take it out, or name its own kind"


class FieldLog:
    """Takes records of named fields into a `KernelReading`."""

    def __init__(self, reading: KernelReading) -> None:
        self._reading = reading
        self._clock = KernelClock(ZoneInfo(reading.options.time_zone), reading.log)

    def read_json(self, file: InputFile) -> Iterator[Batch]:
        """Yields batches of events from JSON of either program."""
        with file.open() as stream:
            for item in json_items(stream, [DMESG_PATH]):
                if isinstance(item, JsonDamage):
                    self._reject(item.line, item.reason, item.text)
                else:
                    self._take_item(item)
                yield from self._reading.batches.full()

    def read_export(self, file: InputFile) -> Iterator[Batch]:
        """Yields batches of events from journalctl's export format."""
        with file.open() as stream:
            for line, fields in export_records(stream):
                self._take_journal(line, fields, "journal_export")
                yield from self._reading.batches.full()

    def _take_item(self, item: JsonItem) -> None:
        if not isinstance(item.value, dict):
            self._reject(item.line, NOT_A_RECORD, str(item.value))
        elif item.path == DMESG_PATH:
            self._take_dmesg(item.ordinal, item.value)
        elif "MESSAGE" in item.value or "__REALTIME_TIMESTAMP" in item.value:
            self._take_journal(item.line, item.value, "journal_json")
        elif item.value:  # what is left of dmesg's one document is empty
            self._reject(item.line, NOT_A_RECORD, str(item.value))

    def _reject(self, line: int, reason: str, text: str) -> None:
        self._reading.log.split()
        self._reading.log.reject(line, reason, text)

    def _take_journal(self, line: int, fields: Fields, envelope: str) -> None:
        self._reading.log.split()
        at = self._realtime(fields.get("__REALTIME_TIMESTAMP"), line)
        uptime_us = _number(fields.get("_SOURCE_MONOTONIC_TIMESTAMP"))
        uptime_s = None if uptime_us is None else uptime_us / 1e6
        host = fields.get("_HOSTNAME")
        node_log = self._reading.node_log(host.encode("utf-8", "replace") if isinstance(host, str) else None, envelope)
        boot = node_log.boot(line, None, _text(fields.get("_BOOT_ID")))
        boot.saw_record(at, uptime_s, TimeQuality.STAMPED)
        if "kernel" not in (fields.get("_TRANSPORT"), fields.get("SYSLOG_IDENTIFIER")):
            self._reading.log.ignore("not_of_the_kernel")
            return
        text = self._message(fields.get("MESSAGE"), line)
        self._reading.take(node_log, boot, Message(line, text, at, TimeQuality.STAMPED, uptime_s))

    def _take_dmesg(self, ordinal: int, fields: Fields) -> None:
        self._reading.log.split()
        if not isinstance(fields.get("msg"), str):
            self._reading.log.ignore(NO_EVENT)
            return
        time = fields.get("time")
        uptime_s = float(time) if isinstance(time, int | float) and 0 <= time < 1e10 else None
        at = self._wall(time, ordinal) if isinstance(time, str) else None
        node_log = self._reading.node_log(None, "dmesg_json")
        boot = node_log.boot(ordinal, uptime_s)
        boot.saw_record(at, uptime_s, TimeQuality.UPTIME)
        text = self._message(fields["msg"], ordinal)
        self._reading.take(node_log, boot, Message(ordinal, text, at, TimeQuality.UPTIME, uptime_s))

    def _realtime(self, value: object, line: int) -> datetime | None:
        microseconds = _number(value)
        try:
            return None if microseconds is None else self._clock.instant(stamps.since_epoch(microseconds), line)
        except OverflowError:
            self._reading.log.odd("impossible_time", line)
            return None

    def _wall(self, text: str, line: int) -> datetime | None:
        read = stamps.iso if text[:1].isdigit() else stamps.ctime
        return self._clock.of_stamp(read, text.encode("utf-8", "replace"), 0, line)

    def _message(self, value: object, line: int) -> str:
        """A message as text; journalctl gives one that is no UTF-8 as its bytes, and leaves a huge one out."""
        if value is None:
            self._reading.log.odd("message_too_large", line)
            return ""
        if isinstance(value, list) and all(isinstance(part, int) and 0 <= part < 256 for part in value):
            value = bytes(value)
        if isinstance(value, bytes):
            text = value.decode("utf-8", "replace")
            if "\ufffd" in text:
                self._reading.log.odd("message_not_utf8", line)
        else:
            text = "\n".join(map(str, value)) if isinstance(value, list) else str(value)
        return _clean(text)


def export_records(stream: BinaryIO) -> Iterator[tuple[int, Fields]]:
    r"""The records of journalctl's export format, with the line on which each begins.

    A field is `NAME=text`, or its name alone, then the length of the value in eight bytes and the value itself. Of a
    value above a megabyte the rest is passed over; a file that breaks off gives the fields up to there.

    Examples
    --------
    >>> import io
    >>> list(export_records(io.BytesIO(b"A=1\nMESSAGE\n\x03\0\0\0\0\0\0\0x\ny\n\nA=2\n")))
    [(1, {'A': '1', 'MESSAGE': b'x\ny'}), (6, {'A': '2'})]
    """
    fields: Fields = {}
    begun, number = 1, 0
    while line := stream.readline(FIELD_BYTES):
        number += 1
        name, mark, text = line.rstrip(b"\n").partition(b"=")
        if not name and not mark:
            if fields:
                yield begun, fields
            fields, begun = {}, number + 1
            continue
        value: object = text.decode("utf-8", "replace") if mark else _binary(stream)
        number += 0 if mark else 1 + (value.count(b"\n") if isinstance(value, bytes) else 0)
        fields[name.decode("utf-8", "replace")] = value
    if fields:
        yield begun, fields


def _binary(stream: BinaryIO) -> bytes:
    head = stream.read(8)
    left = struct.unpack("<Q", head)[0] if len(head) == 8 else 0
    value = stream.read(min(left, FIELD_BYTES))
    left -= len(value)
    while left > 0 and (passed := stream.read(min(left, FIELD_BYTES))):
        left -= len(passed)
    stream.read(1)
    return value


def _number(value: object) -> int | None:
    text = _text(value)
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 20 else None


def _text(value: object) -> str | None:
    return str(value) if isinstance(value, str | int) else None


def _clean(text: str) -> str:
    lines = text[:TEXT_CHARS].replace("\0", "").encode("utf-8", "replace").decode().rstrip().split("\n")
    return "\n".join([lines[0], *(line.strip() for line in lines[1:])])
