"""Cells of Backend.AI exports: ids, instants, arrays, slots."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from gangline.sources.backendai_values import (
    Cells,
    array_of,
    cells_of,
    decoded,
    folded,
    gpu_count_of,
    node_of,
    nodes_of,
    uuid_of,
)
from gangline.sources.instants import instant_of
from gangline.sources.records import ReadLog
from gangline.sources.table_rows import RowError

SEOUL = ZoneInfo("Asia/Seoul")
NEW_YORK = ZoneInfo("America/New_York")


def gpus(occupied: object, requested: object = None) -> tuple[float | None, dict[str, tuple[int, int | None]]]:
    log = ReadLog()
    return gpu_count_of(occupied, requested, log, 5), log.oddities


class TestSlots:
    @pytest.mark.parametrize(
        ("slots", "count"),
        [
            ('{"cpu": "96", "mem": "1099511627776", "cuda.device": "8"}', 8.0),
            ('"{\\"cuda.device\\": \\"8\\"}"', 8.0),
            ({"cuda.device": "8", "cuda.shares": "1.5", "rocm.device": "2"}, 11.5),
            ({"cuda.shares": "0.25"}, 0.25),
            ({"cpu": "4", "mem": "1", "cuda.mem": "17179869184"}, 0.0),
            ({"atom-plus.device": 4, "cuda.device:1g.5gb-mig": "1"}, 5.0),
            ({}, None),
            ("{}", None),
            (None, None),
            ("", None),
        ],
    )
    def test_accelerators(self, slots: object, count: float | None) -> None:
        assert gpus(slots) == (count, {})

    def test_emptied_after_termination(self) -> None:
        assert gpus("{}", '{"cuda.device": "24"}') == (24.0, {})
        assert gpus({"cuda.device": "16"}, {"cuda.device": "24"}) == (16.0, {})

    @pytest.mark.parametrize("bad", ["eight", "-1", "NaN", "Infinity", "1e300", None, [], "9" * 400])
    def test_unreadable_amounts_are_counted(self, bad: object) -> None:
        assert gpus({"cuda.device": bad, "cuda.shares": "1"}) == (1.0, {"unreadable_slot": (1, 5)})

    def test_unreadable_json(self) -> None:
        assert gpus("{cuda") == (None, {"unreadable_json_cell": (1, 5)})


class TestInstants:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("2026-11-20 03:04:05.123456+00", datetime(2026, 11, 20, 3, 4, 5, 123456, tzinfo=UTC)),
            ("2026-11-20 12:04:05+09", datetime(2026, 11, 20, 3, 4, 5, tzinfo=UTC)),
            ("2026-11-20 08:34:05.5+05:30", datetime(2026, 11, 20, 3, 4, 5, 500000, tzinfo=UTC)),
            ("2026-11-20T03:04:05Z", datetime(2026, 11, 20, 3, 4, 5, tzinfo=UTC)),
            ("2026-11-20T12:04:05", datetime(2026, 11, 20, 3, 4, 5, tzinfo=UTC)),
            ("", None),
            (None, None),
        ],
    )
    def test_forms(self, text: str | None, expected: datetime | None) -> None:
        assert instant_of(text, "created_at", SEOUL) == expected

    def test_clock_changes(self) -> None:
        assert instant_of("2026-11-01 01:30:00", "created_at", NEW_YORK) == datetime(2026, 11, 1, 5, 30, tzinfo=UTC)
        with pytest.raises(RowError, match="created_at is '2026-03-08 02:30:00'"):
            instant_of("2026-03-08 02:30:00", "created_at", NEW_YORK)

    @pytest.mark.parametrize(
        "bad",
        [
            "infinity",
            "soon",
            "0001-01-01 00:00:00+00",
            "1970-01-01T00:00:00Z",
            1795972352,
            {},
            "9999-12-31T23:59:59-12:00",
        ],
    )
    def test_no_time(self, bad: object) -> None:
        with pytest.raises(RowError, match=r"starts_at is .*: expected a time such as 2026-11-20T03:04:05"):
            instant_of(bad, "starts_at", SEOUL)


class TestNames:
    def test_uuids(self) -> None:
        plain = "9531985d-5d9d-49f8-9818-e811892f902b"
        for text in (plain, plain.upper(), f" {plain} ", plain.replace("-", "")):
            assert uuid_of(text, "id") == plain

    @pytest.mark.parametrize("bad", [None, "", "42", 42, "x" * 36, "QUJD", "<script>alert(1)</script>", ["a"]])
    def test_no_uuid(self, bad: object) -> None:
        with pytest.raises(RowError, match=r"the session's id is .*: expected a session's uuid"):
            uuid_of(bad, "the session's id")

    @pytest.mark.parametrize(
        ("value", "items"),
        [
            ("{i-a,i-b}", ["i-a", "i-b"]),
            ("{}", []),
            ('{"i-a,b","say \\"hi\\"",NULL}', ["i-a,b", 'say "hi"']),
            ('["i-a", null, "i-b"]', ["i-a", "i-b"]),
            (["i-a", "", 3], ["i-a"]),
            ("i-a", ["i-a"]),
            (None, []),
            ("[broken", ["[broken"]),
        ],
    )
    def test_arrays(self, value: object, items: list[str]) -> None:
        assert array_of(value) == items

    def test_nodes(self) -> None:
        assert nodes_of(["i-gpu2", "i-gpu10", "i-gpu2", "host", "i-"]) == ["gpu10", "gpu2", "host"]
        assert node_of("i-i-nested") == "i-nested"  # one prefix, once

    def test_columns(self) -> None:
        assert [folded(name) for name in ("Status Info", " status_info", "ID")] == ["status_info", "status_info", "id"]
        cells = cells_of({"Name": "", "session_name": "run", "n": 7})
        assert cells.text("name", "session_name") == "run"
        assert (cells.text("n"), cells.first("absent")) == ("7", None)
        assert Cells({}).text("name") is None


def test_text_that_is_no_json_is_counted_not_raised() -> None:
    log = ReadLog()
    assert decoded("[" * 100_000, log, 9) is None
    assert decoded('"plain"', log, 9) is None  # a text in a text that is no JSON itself
    assert log.oddities == {"unreadable_json_cell": (2, 9)}
