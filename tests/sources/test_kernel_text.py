"""Traps of kernel logs that are lines: years, boots, nodes, records of several lines, clocks that change."""

import gzip
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import zstandard

from gangline.sources import kernel_blocks, kernel_log
from tests.sources.kernel_logs import LOGS
from tests.sources.reading import Reading, read_file, reader_of

EVENT_TABLE, LOG_TABLE = "kernel_event_records", "kernel_log_records"
XID = "NVRM: Xid (PCI:0000:05:00): 79, GPU has fallen off the bus."
Read = Callable[..., Reading]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def read(tmp_path: Path) -> Read:
    return reader_of(kernel_log, tmp_path, "kern.log")


def times(reading: Reading) -> list[object]:
    return [row["at"] for row in reading.rows(EVENT_TABLE)]


def syslog(*stamps: str, message: str = XID) -> str:
    return "".join(f"{stamp} gpu071 kernel: {message}\n" for stamp in stamps)


class TestYears:
    def test_a_new_year_or_two_lie_behind(self, read: Read) -> None:
        text = syslog("Nov 30 10:00:00", "Jan 20 10:00:00", "Dec 31 23:59:59", "Jan  1 00:00:01")
        assert times(read(text, exported_at=at("2027-03-01"))) == [
            at("2025-11-30T10:00:00"), at("2026-01-20T10:00:00"), at("2026-12-31T23:59:59"), at("2027-01-01T00:00:01"),
        ]  # fmt: skip

    def test_a_late_line_of_the_old_year_is_of_the_old_year(self, read: Read) -> None:
        text = syslog("Dec 31 23:59:59", "Jan  1 00:00:01", "Dec 31 23:59:58", "Jan  1 00:00:02")
        assert [found.year for found in times(read(text, exported_at=at("2027-01-02")))] == [2026, 2027, 2026, 2027]

    def test_the_kernels_own_clock_decides(self, read: Read) -> None:
        rtc = "rtc_cmos rtc_cmos: setting system clock to 2023-12-31T21:00:03 UTC (1704056403)"
        text = syslog("Jan  1 06:00:03", message=rtc) + syslog("Jan  1 07:00:00", "Feb 29 01:00:00")
        found = times(read(text, exported_at=at("2027-01-02"), time_zone="Asia/Seoul"))
        assert found == [at("2023-12-31T22:00:00"), at("2024-02-28T16:00:00")]

    @pytest.mark.parametrize(
        ("name", "year"), [("kern.log-20250110", 2025), ("kern-2025-01-10.log.1", 2025), ("kern.log", 2024)]
    )
    def test_else_the_day_in_the_name_else_the_files_time(self, tmp_path: Path, name: str, year: int) -> None:
        path = tmp_path / name
        path.write_text(syslog("Jan  9 10:00:00"), encoding="utf-8")
        os.utime(path, (at("2024-06-01").timestamp(),) * 2)
        assert times(read_file(kernel_log, path)) == [datetime(year, 1, 9, 10, tzinfo=UTC)]

    def test_logs_of_nodes_one_behind_the_other_are_counted_each_by_itself(self, read: Read) -> None:
        stamps = ("Oct  3 10:00:00", "Jan 20 10:00:00")
        text = "".join(syslog(*stamps).replace("gpu071", node) for node in ("gpu001", "gpu002", "gpu003"))
        assert (
            times(read(text, exported_at=at("2027-02-01")))
            == [at("2026-10-03T10:00:00"), at("2027-01-20T10:00:00")] * 3
        )

    def test_nodes_that_write_by_turns_are_counted_together(self, read: Read) -> None:
        lines = [("gpu001", "Mar  5"), ("gpu002", "Aug  3"), ("gpu001", "Jan 20"), ("gpu003", "Jan 21")]
        text = "".join(f"{day} 10:00:00 {node} kernel: {XID}\n" for node, day in lines)
        for found in (
            read(text, exported_at=at("2027-04-01")),
            read(text.replace("gpu001", "gpu004", 1), exported_at=at("2027-04-01")),
        ):
            assert [f"{time:%Y-%m}" for time in times(found)] == ["2026-03", "2026-08", "2027-01", "2027-01"]

    def test_the_last_day_of_february_is_of_a_leap_year(self, read: Read) -> None:
        assert times(read(syslog("Feb 29 10:00:00"), exported_at=at("2027-01-02"))) == [at("2024-02-29T10:00:00")]

    def test_a_day_that_is_none_costs_the_time_alone(self, read: Read) -> None:
        reading = read(syslog("Feb 31 10:00:00"), exported_at=at("2027-01-02"))
        assert (times(reading), reading.log.oddities["impossible_time"]) == ([None], (1, 1))


class TestBoots:
    def test_an_uptime_that_falls_is_a_new_boot(self, read: Read) -> None:
        text = (
            f"[  100.000000] a\n[ 5000.000000] {XID}\n[ 4995.000000] late\n[   50.000000] {XID}\n[ 6000.000000] {XID}\n"
        )
        reading = read(text, node="gpu071", boot_at=at("2026-03-01T00:00:00"))
        assert [row["boot_id"] for row in reading.rows(EVENT_TABLE)] == ["boot:1", "boot:2", "boot:2"]
        assert times(reading) == [at("2026-03-01T01:23:20"), None, None]
        assert [(row["lines"], row["events"]) for row in reading.rows(LOG_TABLE)] == [(3, 1), (2, 2)]

    def test_a_boot_line_with_the_time_anchors_what_follows(self, read: Read) -> None:
        clock = "rtc_cmos rtc_cmos: setting system clock to 2026-03-01T00:00:02 UTC (1772323202)"
        reading = read(f"[    2.000000] {clock}\n[   12.500000] {XID}\n", node="gpu071")
        row = reading.row(EVENT_TABLE)
        assert (row["at"], row["time_quality"]) == (at("2026-03-01T00:00:12.500000"), "uptime")
        assert reading.row(LOG_TABLE)["boot_at"] == at("2026-03-01T00:00:00")

    def test_journalctl_marks_boots(self, read: Read) -> None:
        first, second = "a" * 32, "b" * 32
        stamp = "2026-03-01T10:00:00+00:00 gpu071 kernel: "
        text = f"-- Boot {first} --\n{stamp}{XID}\n-- Boot {second} --\n{stamp}x\n{stamp}{XID}\n"
        reading = read(text)
        assert [row["boot_id"] for row in reading.rows(EVENT_TABLE)] == [first, second]
        assert reading.log.ignored == {"journal_marker": 2, "no_event": 1}

    def test_the_kernels_first_line_begins_a_boot(self, read: Read) -> None:
        stamp = "2026-03-01T10:00:0{}+00:00 gpu071 kernel: "
        text = f"{stamp.format(0)}x\n{stamp.format(1)}Linux version 6.8.0\n{stamp.format(2)}{XID}\n"
        assert [row["lines"] for row in read(text).rows(LOG_TABLE)] == [1, 2]

    def test_a_gpu_is_known_by_its_uuid_until_the_next_boot(self, read: Read) -> None:
        named = "NVRM: GPU at PCI:0000:05:00: GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52"
        text = f"[   10.000000] {named}\n[   50.000000] {XID}\n[    5.000000] Linux version 6\n[   50.000000] {XID}\n"
        uuids = [row["gpu_uuid"] for row in read(text, node="gpu071").rows(EVENT_TABLE)]
        assert uuids == ["GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52", None]


class TestNodes:
    def test_one_file_of_many_nodes(self, read: Read) -> None:
        stamp = "2026-03-01T10:00:00+00:00"
        text = "".join(f"{stamp} gpu{number:03d} kernel: {XID}\n" for number in (1, 2, 1, 3))
        reading = read(text)
        assert [row["node"] for row in reading.rows(EVENT_TABLE)] == ["gpu001", "gpu002", "gpu001", "gpu003"]
        assert [(row["node"], row["lines"]) for row in reading.rows(LOG_TABLE)] == [
            ("gpu001", 2), ("gpu002", 1), ("gpu003", 1),
        ]  # fmt: skip

    def test_a_shell_that_asks_many_nodes_names_each_line(self, read: Read) -> None:
        """Lines of nodes come mixed; what goes on behind another node's line is no part of it."""
        lost = "NVRM: The NVIDIA GPU 0000:b3:00.0"
        text = (
            f"gpu001: [  100.000000] Linux version 6.8\ngpu002: [    5.000000] {XID}\ngpu001: [  101.000000] {lost}\n"
            "gpu002:                 NVRM: (PCI ID: 10de:26b5) installed in this system has\n"
            f"gpu001: [  102.000000] {XID}\ngpu002: ssh exited with exit code 255\n"
        )
        reading = read(text)
        assert [row["node"] for row in reading.rows(EVENT_TABLE)] == ["gpu002", "gpu001"]
        assert [(row["node"], row["lines"], row["node_evidence"]) for row in reading.rows(LOG_TABLE)] == [
            ("gpu001", 3, "line"), ("gpu002", 1, "line"),
        ]  # fmt: skip
        assert reading.log.ignored["outside_any_record"] == 2

    @pytest.mark.parametrize(
        ("name", "node", "evidence"),
        [
            ("gpu071.dmesg.log", "gpu071", "file_name"),
            ("dmesg-gpu-node-01-20260301.txt.gz", "gpu-node-01", "file_name"),
            ("dmesg.log", None, "none"),
            ("dmesg-with-xid-119.log", None, "none"),
            ("gpu071_gpu072.log", None, "none"),
            ("dmesg2.part1.txt", None, "none"),
            ("gpu071/kern.log", "gpu071", "file_name"),
            ("gpu-node-01/messages.1", "gpu-node-01", "file_name"),
            ("week41/kern.log", None, "none"),
            ("tmp4f7a/kern.log", None, "none"),
        ],
    )
    def test_else_the_file_names_it(self, tmp_path: Path, name: str, node: str | None, evidence: str) -> None:
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True)
        reading = reader_of(kernel_log, path.parent, path.name)(f"[   10.000000] {XID}\n")
        row = reading.row(LOG_TABLE)
        assert (row["node"], row["node_evidence"], reading.row(EVENT_TABLE)["node"]) == (node, evidence, node)
        assert ("node_unknown" in reading.log.oddities) == (node is None)

    def test_the_config_names_it_before_the_file(self, read: Read) -> None:
        assert read(f"[   10.000000] {XID}\n", node="gpu062").row(EVENT_TABLE)["node"] == "gpu062"

    def test_a_name_is_cut_as_telemetrys_are(self, read: Read) -> None:
        text = f"2026-03-01T10:00:00+00:00 i-gpu071 kernel: {XID}\n"
        assert read(text, node_strip=(r"^i-",)).row(EVENT_TABLE)["node"] == "gpu071"


class TestLines:
    def test_syslog_parts_a_lost_gpu_into_records(self, read: Read) -> None:
        head = "Mar  1 10:00:00 {} kernel: "
        parts = ["NVRM: The NVIDIA GPU 0000:b3:00.0", "NVRM: (PCI ID: 10de:26b5) installed in this system has",
                 "NVRM: fallen off the bus and is not responding to commands."]  # fmt: skip
        text = "".join(head.format(node) + part + "\n" for part in parts for node in ("gpu071", "gpu072"))
        reading = read(text, exported_at=at("2026-03-02"))
        found = [(row["node"], row["kind"], row["pci_bus_id"], row["line"]) for row in reading.rows(EVENT_TABLE)]
        assert sorted(found) == [("gpu071", "bus_loss", "0000:b3:00", 1), ("gpu072", "bus_loss", "0000:b3:00", 2)]
        assert reading.log.ignored == {"continuation_line": 4}

    def test_a_gpu_that_is_not_lost_is_no_event(self, read: Read) -> None:
        head = "Mar  1 10:00:00 gpu071 kernel: "
        text = f"{head}NVRM: The NVIDIA GPU 0000:b3:00.0\n{head}NVRM: loading the driver\n{head}{XID}\n"
        assert [row["kind"] for row in read(text, exported_at=at("2026-03-02")).rows(EVENT_TABLE)] == ["xid"]

    def test_only_the_kernel_is_believed(self, read: Read) -> None:
        stamp = "2026-03-01T10:00:00+00:00 gpu071 "
        reading = read(f"{stamp}logger[12]: {XID}\n{stamp}kernel: {XID}\n{stamp}sudo: [9B blob data]\n")
        assert (len(times(reading)), reading.log.oddities) == (1, {})

    def test_a_repeated_message_is_read_within(self, read: Read) -> None:
        reading = read(f"Mar  1 10:00:00 gpu071 kernel: message repeated 3 times: [ [  5.100000] {XID}]\n")
        assert reading.row(EVENT_TABLE)["text"] == XID

    def test_an_xid_that_is_not_understood_is_counted(self, read: Read) -> None:
        reading = read("[   10.000000] NVRM: Xid (PCI:0000): 79, what\n", node="gpu071")
        assert reading.log.oddities == {"xid_line_not_understood": (1, 1)}

    def test_formats_may_change_within_a_file(self, read: Read) -> None:
        text = (
            syslog("Mar  1 10:00:00") + f"2026-03-02T10:00:00+00:00 gpu071 kernel: {XID}\n" + syslog("Mar  3 10:00:00")
        )
        days = [found.day for found in times(read(text, exported_at=at("2026-03-04")))]
        assert days == [1, 2, 3]

    def test_a_line_longer_than_a_block_costs_itself_alone(self, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(kernel_blocks, "BLOCK_BYTES", 64)
        monkeypatch.setattr(kernel_blocks, "LINE_BYTES", 200)
        text = f"[    1.000000] {'x' * 5_000}\n[    2.000000] {XID}\n[    3.000000] {'y' * 900}"
        reading = read(text, node="gpu071")
        assert [row["line"] for row in reading.rows(EVENT_TABLE)] == [2]
        assert (reading.row(LOG_TABLE)["lines"], reading.log.records) == (3, 3)

    @pytest.mark.parametrize("block_bytes", [1, 7, 64, 1 << 20])
    def test_where_blocks_are_cut_changes_nothing(
        self, read: Read, monkeypatch: pytest.MonkeyPatch, block_bytes: int
    ) -> None:
        monkeypatch.setattr(kernel_blocks, "BLOCK_BYTES", block_bytes)
        reading = read(LOGS["dmesg_iso"], node="gpu071")
        assert [row["line"] for row in reading.rows(EVENT_TABLE)] == [3, 5, 6, 9]
        assert reading.log.records == 9

    def test_compressed_logs_are_read_as_they_are(self, read: Read) -> None:
        text = f"[   10.000000] {XID}\n".encode()
        for packed in (gzip.compress(text), zstandard.compress(text)):
            assert len(read(packed, node="gpu071").rows(EVENT_TABLE)) == 1

    def test_some_daemons_write_no_space_behind_the_tag(self, read: Read) -> None:
        head = "2026-03-01T10:00:00+00:00 gpu071 kernel:"
        reading = read(f"{head}{XID}\n{head}[   12.500000] {XID}\n")
        assert [(row["code"], row["uptime_s"]) for row in reading.rows(EVENT_TABLE)] == [(79, None), (79, 12.5)]


class TestClocks:
    def test_an_hour_that_comes_twice_keeps_the_order_of_lines(self, read: Read) -> None:
        text = "".join(f"[Sun Nov  1 {clock}:00 2026] {XID}\n" for clock in ("00:50", "01:40", "01:10", "02:05"))
        reading = read(text, node="gpu071", time_zone="America/New_York")
        hours = [(found.hour, found.minute) for found in times(reading)]
        assert hours == [(4, 50), (5, 40), (6, 10), (7, 5)]
        assert reading.log.oddities == {"ambiguous_local_time": (2, 2)}

    def test_an_hour_that_never_was_is_counted(self, read: Read) -> None:
        reading = read(f"[Sun Mar  8 02:30:00 2026] {XID}\n", node="gpu071", time_zone="America/New_York")
        assert (times(reading), reading.log.oddities) == (
            [at("2026-03-08T07:30:00")], {"impossible_local_time": (1, 1)},
        )  # fmt: skip

    def test_a_clock_that_was_not_set_tells_no_time(self, read: Read) -> None:
        reading = read(f"1970-01-01T00:00:09+00:00 gpu071 kernel: {XID}\n")
        assert (times(reading), reading.row(EVENT_TABLE)["time_quality"]) == ([None], "none")
        assert reading.log.oddities["clock_not_set"] == (1, 1)


def test_a_flood_is_as_many_rows_as_lines(read: Read) -> None:
    """13,104 lines of one clean-up are 13,104 records; that they are one failure is judged later."""
    line = "NVRM: Xid (PCI:0000:05:00): 45, pid=1, name=python3, Ch {:08x} caused by previous Xid 149"
    text = "".join(f"[ {100 + number / 1000:11.6f}] {line.format(number)}\n" for number in range(13_104))
    reading = read(text, node="gpu071", boot_at=at("2026-03-01"))
    rows = reading.rows(EVENT_TABLE)
    assert (len(rows), {row["cause_code"] for row in rows}) == (13_104, {149})
    assert rows[-1]["at"] == at("2026-03-01") + timedelta(seconds=113.103)

    @pytest.mark.parametrize(
        ("zone", "shown", "counted"),
        [
            ("KST", "2026-03-01T01:00:00", {}),
            ("+08", "2026-03-01T02:00:00", {}),
            ("-0330", "2026-03-01T13:30:00", {}),
            ("UTC", "2026-03-01T10:00:00", {}),
            ("EST", "2026-03-01T01:00:00", {"other_time_zone": (1, 1)}),
        ],
    )
    def test_a_zone_is_its_offset_else_the_configs(
        self, read: Read, zone: str, shown: str, counted: dict[str, object]
    ) -> None:
        reading = read(f"Sun 2026-03-01 10:00:00 {zone} gpu071 kernel: {XID}\n", time_zone="Asia/Seoul")
        assert (times(reading), reading.log.oddities) == ([at(shown)], counted)


class TestDamage:
    def test_a_hole_of_nuls_hides_no_line(self, read: Read) -> None:
        """As a power cut leaves it, over more than a block and a line's length."""
        iso = "2026-03-01T10:00:{:02d}+00:00 gpu071 kernel: "
        holes = ["\0" * 4_096, "\0" * (kernel_blocks.BLOCK_BYTES + 7), ""]
        reading = read("".join(f"{hole}{iso.format(second)}{XID}\n" for second, hole in enumerate(holes)))
        assert times(reading) == [at(f"2026-03-01T10:00:0{second}") for second in range(3)]
        assert (reading.log.records, reading.log.loaded, reading.log.ignored, reading.log.oddities) == (3, 3, {}, {})

    @pytest.mark.parametrize(
        "line",
        [
            f"gpu072| [Sun Mar  1 10:00:00 2026] {XID}",
            f"kernel: [  300.000000] {XID}",
            f"/var/log/kern.log:Mar  1 10:00:00 gpu071 kernel: {XID}",
            f'{{"_TRANSPORT":"kernel","MESSAGE":"{XID}"}}',
            "nvidia-nvswitch0: SXid (PCI:0000:00:00.0): 11001, Fatal",
        ],
    )
    def test_an_xid_without_a_head_is_counted_with_its_line(self, read: Read, line: str) -> None:
        reading = read(f"{syslog('Mar  1 10:00:00')}{line}\n", exported_at=at("2026-03-02"))
        assert (reading.log.loaded, reading.log.ignored["outside_any_record"]) == (1, 1)
        assert reading.log.oddities["xid_line_not_understood"] == (1, 2)

    def test_a_code_that_was_cut_short_is_no_other_code(self, read: Read) -> None:
        whole = syslog("Mar  1 10:00:00", "Mar  1 10:05:00")
        reading = read(whole[: whole.rindex("79") + 1], exported_at=at("2026-03-02"))
        assert [row["code"] for row in reading.rows(EVENT_TABLE)] == [79]
        assert reading.log.oddities["xid_line_not_understood"] == (1, 2)

    def test_a_damaged_switch_error_is_counted_too(self, read: Read) -> None:
        reading = read(
            syslog("Mar  1 10:00:00", message="nvidia-nvswitch0: SXid (PCI:0000:00"), exported_at=at("2026-03-02")
        )
        assert (reading.log.loaded, reading.log.oddities["xid_line_not_understood"]) == (0, (1, 1))

    def test_an_uptime_that_no_boot_reaches_gives_no_time(self, read: Read) -> None:
        reading = read(f"[    1.0] {XID}\n[9999999999.0] {XID}\n", boot_at=at("2026-01-01"))
        assert times(reading) == [at("2026-01-01T00:00:01"), None]
        assert reading.log.oddities["impossible_time"] == (1, 2)
        assert reading.log.latest_at == at("2026-01-01T00:00:01")

    def test_a_clock_chip_that_was_not_set_anchors_nothing(self, read: Read) -> None:
        rtc = "rtc_cmos rtc_cmos: setting system clock to 1970-01-01T00:00:02 UTC (0000000002)"
        assert times(read(f"[    1.0] {rtc}\n[   10.0] {XID}\n")) == [None]
