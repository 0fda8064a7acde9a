"""Files of a session's output: whose they are, when their lines were printed, what a terminal would show."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gangline.sources import console_log
from gangline.sources.console_log import session_in_path
from tests.sources.reading import Reading, reader_of

Read = Callable[..., Reading]
TABLE = "console_records"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    return reader_of(console_log, tmp_path, "slurm-1234.out")


@pytest.mark.parametrize(
    ("path", "session_id"),
    [
        ("slurm-1234.out", "1234"),
        ("slurm-1234_7.out", "1234_7"),
        ("slurm-1234.out.gz", "1234"),
        ("llama-70b-4821.err", "4821"),
        ("job_4821_gpu071.log", "4821"),
        ("4821.log", "4821"),
        ("4821/gpu071.log", "4821"),
        ("7f3c0a9d-5e7b-4a11-a2b3-c4d5e6f70819.log", "7f3c0a9d-5e7b-4a11-a2b3-c4d5e6f70819"),
        ("logs/7f3c0a9d-5e7b-4a11-a2b3-c4d5e6f70819/main1.txt", "7f3c0a9d-5e7b-4a11-a2b3-c4d5e6f70819"),
        ("train-20260302-4821.log", "4821"),
        ("train_2026-03-02.log", None),
        ("train_20260302_101500.log", None),
        ("stdout.log", None),
    ],
)
def test_the_name_tells_the_session(path: str, session_id: str | None) -> None:
    assert session_in_path(Path("/data") / path) == session_id


def test_a_line_is_what_a_terminal_shows(read: Read) -> None:
    reading = read("\x1b[31mred\x1b[0m \n\n 10%\r 50%\r100%\r\n한글\ttab\x07\n" + "x" * 5_000 + "\nlast")
    rows = reading.rows(TABLE)
    assert [(row["line"], str(row["text"])[:10], len(str(row["text"]))) for row in rows] == [
        (1, "red", 3), (3, "100%", 4), (4, "한글\ttab", 6), (5, "x" * 10, 4_000), (6, "last", 4),
    ]  # fmt: skip
    assert {row["session_id"] for row in rows} == {"1234"}
    assert (reading.log.records, reading.log.loaded, reading.log.ignored) == (6, 5, {"blank_line": 1})


def test_a_time_is_the_lines_own_else_the_latest_before_it(read: Read) -> None:
    reading = read(
        "start\n[rank0]: 2026-03-02 10:00:00,500 INFO a\nb\n2026-03-02T01:00:01.25Z c\n[2026-03-02T10:00:02+0900] d\n",
        time_zone="Asia/Seoul",
    )
    day = datetime(2026, 3, 2, 1, tzinfo=UTC)
    assert [row["at"] for row in reading.rows(TABLE)] == [
        None, day.replace(microsecond=500_000), day.replace(microsecond=500_000),
        day.replace(second=1, microsecond=250_000), day.replace(second=2),
    ]  # fmt: skip
    assert (reading.log.first_at, reading.log.latest_at) == (day.replace(microsecond=500_000), day.replace(second=2))


def test_on_the_day_of_a_clock_change_the_order_decides(read: Read) -> None:
    text = "".join(f"2026-11-01 {clock}:00 x\n" for clock in ("00:30", "01:40", "01:10", "02:00"))
    reading = read(text, time_zone="America/New_York")
    assert [row["at"].strftime("%H:%M") for row in reading.rows(TABLE)] == ["04:30", "05:40", "06:10", "07:00"]


def test_what_is_no_time_leaves_the_one_before(read: Read) -> None:
    reading = read("2026-03-02 10:00:00 a\n2026-02-31 10:00:00 b\n2026-03-02 25:00:00 c\n1970-01-01 00:00:00 d\n")
    assert {row["at"] for row in reading.rows(TABLE)} == {datetime(2026, 3, 2, 10, tzinfo=UTC)}
    assert reading.log.oddities == {"impossible_time": (2, 2), "clock_not_set": (1, 4)}


@pytest.mark.parametrize(
    ("name", "stream"), [("slurm-7.err", "stderr"), ("7.stderr.log", "stderr"), ("7.out", "stdout")]
)
def test_the_name_tells_the_stream(tmp_path: Path, name: str, stream: str) -> None:
    assert reader_of(console_log, tmp_path, name)("x\n").row(TABLE)["stream"] == stream


def test_a_file_of_nobody_is_read_and_counted(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    reading = reader_of(console_log, tmp_path / "logs", "stdout.log")("x\n", node="gpu071")
    assert (reading.row(TABLE)["session_id"], reading.row(TABLE)["node"]) == (None, "gpu071")
    assert reading.log.oddities == {"session_unknown": (1, None)}


@pytest.mark.parametrize(
    "hole", [1, 100, console_log.LINE_BYTES - 5, console_log.LINE_BYTES, 3 * console_log.LINE_BYTES + 7]
)
def test_a_hole_of_nuls_hides_neither_a_line_nor_its_time(read: Read, hole: int) -> None:
    """As `> slurm-1234.out` leaves it while the program writes on."""
    reading = read("\0" * hole + "2026-03-02T01:00:00Z CUDA out of memory\nb\n" + "\0" * hole)
    texts = [(row["line"], row["text"], str(row["at"])[:16]) for row in reading.rows(TABLE)]
    assert texts == [(1, "2026-03-02T01:00:00Z CUDA out of memory", "2026-03-02 01:00"), (2, "b", "2026-03-02 01:00")]
    assert (reading.log.records, reading.log.loaded) == (2, 2)


def test_no_escape_of_a_terminal_is_left(read: Read) -> None:
    reading = read("\x1b]0;title\x07a\n\x9b31mb\n\x1bc\n")
    assert [row["text"] for row in reading.rows(TABLE)] == ["]0;titlea", "31mb", "c"]
