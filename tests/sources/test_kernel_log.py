"""Kernel logs in every envelope: the same events, with the times that the envelope has."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gangline.sources import kernel_log
from gangline.sources.records import SourceRefusedError
from tests.sources.kernel_logs import ANCHORED, BOOT_AT, BOOT_ID, EVENTS, LOGS, NODE, TIMELESS, at_uptime
from tests.sources.reading import Reading, read_file, reader_of

EXPORTED_AT = datetime(2027, 1, 2, tzinfo=UTC)
EVENT_TABLE, LOG_TABLE = "kernel_event_records", "kernel_log_records"
Read = Callable[..., Reading]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    return reader_of(kernel_log, tmp_path, "kern.log")


def told(reading: Reading) -> list[tuple[object, ...]]:
    columns = ("kind", "code", "pci_bus_id", "gpu_uuid", "pid", "process")
    return [tuple(row[name] for name in columns) for row in reading.rows(EVENT_TABLE)]


def times(reading: Reading) -> list[object]:
    return [row["at"] for row in reading.rows(EVENT_TABLE)]


class TestEveryEnvelope:
    @pytest.mark.parametrize("name", LOGS)
    def test_tells_the_same_events(self, read: Read, name: str) -> None:
        reading = read(LOGS[name], node=NODE, boot_at=BOOT_AT, exported_at=EXPORTED_AT)
        assert told(reading) == [event[1:] for event in EVENTS]
        assert {row["node"] for row in reading.rows(EVENT_TABLE)} == {NODE}
        assert (reading.log.rejected, reading.row(LOG_TABLE)["events"], reading.row(LOG_TABLE)["lines"]) == (0, 4, 7)

    @pytest.mark.parametrize("name", [name for name in LOGS if name not in TIMELESS])
    def test_tells_when_to_the_second(self, read: Read, name: str) -> None:
        reading = read(LOGS[name], node=NODE, boot_at=BOOT_AT, exported_at=EXPORTED_AT)
        wanted = [at_uptime(event[0]) for event in EVENTS]
        for got, at in zip(times(reading), wanted, strict=True):
            assert isinstance(got, datetime)
            assert timedelta(0) <= at - got < timedelta(seconds=1)
        covered = reading.row(LOG_TABLE)
        assert [covered[name] for name in ("first_at", "latest_at")] == [BOOT_AT, wanted[-1]]

    @pytest.mark.parametrize("name", [*TIMELESS, *ANCHORED])
    def test_without_an_anchor_a_relative_time_is_none(self, read: Read, name: str) -> None:
        reading = read(LOGS[name], node=NODE)
        assert set(times(reading)) == {None}
        assert {row["time_quality"] for row in reading.rows(EVENT_TABLE)} == {"none"}
        assert reading.log.first_at is None

    @pytest.mark.parametrize(
        ("name", "quality", "envelope"),
        [
            ("dmesg", "uptime", "dmesg"),
            ("dmesg_T", "uptime", "dmesg_ctime"),
            ("dmesg_x_iso", "uptime", "dmesg_iso"),
            ("dmesg_J", "uptime", "dmesg_json"),
            ("kmsg", "uptime", "kmsg"),
            ("dmesg_t", "none", "bare"),
            ("dmesg_d", "none", "dmesg_delta"),
            ("pdsh_dmesg", "uptime", "pdsh_dmesg"),
            ("pdsh_dmesg_T", "uptime", "pdsh_dmesg_ctime"),
            ("pdsh_short", "year_inferred", "pdsh_syslog"),
            ("pdsh_monotonic", "uptime", "pdsh_journal_monotonic"),
            ("short", "year_inferred", "syslog"),
            ("rfc3164", "year_inferred", "syslog"),
            ("short_full", "local", "journal_full"),
            ("short_unix", "stamped", "journal_unix"),
            ("short_monotonic", "uptime", "journal_monotonic"),
            ("rsyslog_iso", "stamped", "iso_host"),
            ("rfc5424_data", "stamped", "syslog_5424"),
            ("json_seq", "stamped", "journal_json"),
            ("export", "stamped", "journal_export"),
        ],
    )
    def test_tells_how_good_its_times_are(self, read: Read, name: str, quality: str, envelope: str) -> None:
        reading = read(LOGS[name], node=NODE, boot_at=BOOT_AT, exported_at=EXPORTED_AT)
        assert {row["time_quality"] for row in reading.rows(EVENT_TABLE)} == {quality}
        covered = reading.row(LOG_TABLE)
        assert (covered["time_quality"], covered["envelope"]) == (quality, envelope)

    @pytest.mark.parametrize("name", ["rfc3164", "rsyslog_iso", "rfc5424", "json", "export"])
    def test_a_clock_beside_an_uptime_tells_the_boot(self, read: Read, name: str) -> None:
        covered = read(LOGS[name], exported_at=EXPORTED_AT).row(LOG_TABLE)
        assert covered["boot_at"] == BOOT_AT
        assert covered["boot_id"] == (BOOT_ID if name in ("json", "export") else "boot:1")
        assert (covered["node"], covered["node_evidence"]) == (NODE, "line")


class TestReal:
    @pytest.mark.parametrize(
        ("name", "xids", "oddities"),
        [
            ("handwritten_dmesg.log", 22, {}),
            ("handwritten_dmesg_T.log", 22, {}),
            ("handwritten_dmesg_iso.log", 22, {}),
            ("handwritten_rfc3164.log", 22, {}),
            ("journalctl_json.log", 22, {"message_not_utf8": (1, 35)}),
            ("journalctl_short-iso.log", 21, {"blob_message": (1, 37)}),
        ],
    )
    def test_one_story_in_six_envelopes(
        self, shared_data: Path, name: str, xids: int, oddities: dict[str, object]
    ) -> None:
        folder = shared_data / "real" / "kernel"
        options = {"node": "gpu-node-01", "boot_at": BOOT_AT, "exported_at": EXPORTED_AT}
        reading = read_file(kernel_log, folder / name, **options)
        best = read_file(kernel_log, folder / "journalctl_json.log")
        kinds = [row["kind"] for row in reading.rows(EVENT_TABLE)]
        assert (kinds.count("xid"), kinds.count("bus_loss"), kinds.count("sxid"), len(kinds)) == (xids, 2, 1, xids + 3)
        assert reading.log.oddities == oddities
        assert told(reading) == told(best)[: xids + 3]
        for row, other in zip(reading.rows(EVENT_TABLE), best.rows(EVENT_TABLE)[: xids + 3], strict=True):
            at, other_at = row["at"], other["at"]
            assert isinstance(at, datetime)
            assert isinstance(other_at, datetime)
            assert other_at.replace(microsecond=0) == at.replace(microsecond=0)

    def test_a_gpu_that_no_longer_answers(self, shared_data: Path) -> None:
        reading = read_file(kernel_log, shared_data / "public" / "kernel_gpud" / "dmesg-with-xid-119.log")
        rows = reading.rows(EVENT_TABLE)
        assert [row["code"] for row in rows] == [119] * 5
        assert {row["gpu_uuid"] for row in rows} == {"GPU-509665ad-b600-ac93-3616-d754b23d636d"}
        assert rows[0]["at"] == datetime(2025, 2, 23, 16, 24, 18, tzinfo=UTC)

    def test_sixteen_lines_of_one_fault(self, shared_data: Path) -> None:
        reading = read_file(kernel_log, shared_data / "public" / "kernel_gpud" / "dmesg.decode.iso.log")
        assert [row["code"] for row in reading.rows(EVENT_TABLE)] == [13] * 16 + [43]
        assert reading.log.ignored == {"no_event": 7}

    def test_a_crash_dump_with_none(self, shared_data: Path) -> None:
        reading = read_file(kernel_log, shared_data / "public" / "kernel_gpud" / "dmesg.txt")
        assert (reading.rows(EVENT_TABLE), reading.log.rejected, reading.row(LOG_TABLE)["lines"]) == ([], 0, 411)
        assert reading.log.ignored == {"no_event": 411, "outside_any_record": 4}


class TestWhatIsNoKernelLog:
    def test_is_refused_in_one_line(self, read: Read) -> None:
        with pytest.raises(SourceRefusedError, match=r"kern\.log:1: no kernel log: .*journalctl -k -o json"):
            read("session_id,job_name\n1,a\n")

    @pytest.mark.parametrize("text", ["", "\n\n", "-- No entries --\n"])
    def test_an_empty_log_is_one(self, read: Read, text: str) -> None:
        assert read(text).frames[LOG_TABLE].height == 0

    def test_json_of_something_else_is_rejected(self, read: Read) -> None:
        reading = read('{"jobs": []}\n{"MESSAGE": "x", "_TRANSPORT": "kernel"}\n[1]\n{"MESSAGE": oops\n')
        assert [(reject.line, reject.reason[:10]) for reject in reading.log.rejects] == [
            (1, "no record "), (3, "no record "), (4, "no JSON: E"),
        ]  # fmt: skip
        assert reading.log.ignored == {"no_event": 1}
