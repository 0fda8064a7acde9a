"""Kernel logs of named fields: journalctl's JSON and export, dmesg's JSON."""

import io
import json
import struct
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gangline.sources import kernel_json, kernel_log
from gangline.sources.kernel_json import export_records
from tests.sources.reading import Reading, reader_of

EVENT_TABLE, LOG_TABLE = "kernel_event_records", "kernel_log_records"
XID = "NVRM: Xid (PCI:0000:05:00): 79, GPU has fallen off the bus."
Read = Callable[..., Reading]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    return reader_of(kernel_log, tmp_path, "kern.json")


def journal(**fields: object) -> str:
    record = {"_TRANSPORT": "kernel", "_HOSTNAME": "gpu071", "__REALTIME_TIMESTAMP": "1772323202000000"} | fields
    return json.dumps(record) + "\n"


def test_a_message_too_large_to_print_is_counted(read: Read) -> None:
    reading = read(journal(MESSAGE=None) + journal(MESSAGE=XID))
    assert (reading.log.oddities, reading.row(EVENT_TABLE)["line"]) == ({"message_too_large": (1, 1)}, 2)


def test_other_programs_are_ignored_with_a_count(read: Read) -> None:
    reading = read(journal(MESSAGE=XID, _TRANSPORT="syslog", SYSLOG_IDENTIFIER="logger"))
    assert (reading.rows(EVENT_TABLE), reading.log.ignored) == ([], {"not_of_the_kernel": 1})


def test_a_message_of_several_values_is_several_lines(read: Read) -> None:
    assert read(journal(MESSAGE=[XID, "second"])).row(EVENT_TABLE)["text"] == f"{XID}\nsecond"


def test_bytes_that_are_no_utf8_are_read_and_counted(read: Read) -> None:
    reading = read(journal(MESSAGE=[*XID.encode(), 255]))
    assert reading.row(EVENT_TABLE)["text"] == f"{XID}\ufffd"
    assert reading.log.oddities == {"message_not_utf8": (1, 1)}


def test_boots_of_several_nodes_are_told_apart(read: Read) -> None:
    text = "".join(
        journal(MESSAGE=XID, _HOSTNAME=node, _BOOT_ID=boot)
        for node, boot in (("gpu001", "a"), ("gpu002", "b"), ("gpu001", "c"), ("gpu001", "a"))
    )
    rows = [(row["node"], row["boot_id"], row["lines"]) for row in read(text).rows(LOG_TABLE)]
    assert rows == [("gpu001", "a", 2), ("gpu001", "c", 1), ("gpu002", "b", 1)]


def test_dmesg_may_print_json_with_clock_times(read: Read) -> None:
    rows = [{"time": "2026-03-01T00:00:02,000000+09:00", "msg": XID}, {"time": "Sun Mar  1 00:00:03 2026", "msg": XID}]
    reading = read(json.dumps({"dmesg": [*rows, {"time": "soon", "msg": XID}, {"pri": 6}]}), node="gpu071")
    assert [row["at"] for row in reading.rows(EVENT_TABLE)] == [
        datetime(2026, 2, 28, 15, 0, 2, tzinfo=UTC), datetime(2026, 3, 1, 0, 0, 3, tzinfo=UTC), None,
    ]  # fmt: skip
    assert (reading.log.ignored, reading.log.oddities) == ({"no_event": 1}, {"impossible_time": (1, 3)})


def test_a_cut_document_keeps_what_came_before(read: Read) -> None:
    reading = read(journal(MESSAGE=XID) + journal(MESSAGE=XID)[:-9])
    assert (len(reading.rows(EVENT_TABLE)), reading.log.rejected) == (1, 1)


class TestExport:
    def test_a_value_that_breaks_off_ends_the_file(self) -> None:
        found = list(export_records(io.BytesIO(b"__CURSOR=1\nMESSAGE\n" + struct.pack("<Q", 1 << 60) + b"short")))
        assert found == [(1, {"__CURSOR": "1", "MESSAGE": b"short"})]

    def test_of_a_huge_value_the_rest_is_passed_over(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(kernel_json, "FIELD_BYTES", 10)
        stream = io.BytesIO(b"A\n" + struct.pack("<Q", 35) + b"x" * 35 + b"\n\nB=2\n")
        assert list(export_records(stream)) == [(1, {"A": b"x" * 10}), (4, {"B": "2"})]
