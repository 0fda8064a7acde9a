"""Times in cells: offsets, the source's zone, clock changes, zero times, and order."""

from datetime import UTC, datetime

import pytest

from gangline.sources.records import ReadLog, SourceOptions
from gangline.sources.table_rows import Row, RowError
from gangline.sources.table_times import iso_time, ordered_instants

COLUMNS = ("created_at", "started_at", "ended_at")


def instants(*cells: str, zone: str = "America/New_York", log: ReadLog | None = None) -> list[str | None]:
    row = Row(7, "", dict(zip(COLUMNS, cells, strict=False)))
    options = SourceOptions("sessions_csv", time_zone=zone)
    found = ordered_instants(row, COLUMNS[: len(cells)], options, log or ReadLog())
    return [at and at.isoformat() for at in found]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("2026-03-02T14:05:00+09:00", "2026-03-02T05:05:00+00:00"),
        ("2026-03-02T14:05:00Z", "2026-03-02T14:05:00+00:00"),
        ("2026-03-02 14:05:00.25-03:30", "2026-03-02T17:35:00.250000+00:00"),
        ("2026-03-02T14:05", "2026-03-02T19:05:00+00:00"),
        ("20260302T140500Z", "2026-03-02T14:05:00+00:00"),
        ("2026-07-02", "2026-07-02T04:00:00+00:00"),
        ("", None),
    ],
)
def test_offsets_and_the_zone(cell: str, expected: str | None) -> None:
    assert instants(cell) == [expected]


def test_the_same_text_is_another_instant_in_another_zone() -> None:
    assert instants("2026-03-02T14:05", zone="Asia/Seoul") == ["2026-03-02T05:05:00+00:00"]


def test_a_repeated_hour_takes_the_reading_that_keeps_the_order() -> None:
    log = ReadLog()
    times = instants("2026-11-01T00:50", "2026-11-01T01:40", "2026-11-01T01:10", log=log)
    assert times == ["2026-11-01T04:50:00+00:00", "2026-11-01T05:40:00+00:00", "2026-11-01T06:10:00+00:00"]
    assert log.oddities == {"ambiguous_local_time": (1, 7)}


def test_a_repeated_hour_that_nothing_decides_takes_the_earlier_reading() -> None:
    assert instants("2026-11-01T01:30") == ["2026-11-01T05:30:00+00:00"]


def test_an_hour_that_the_clocks_skipped_is_refused() -> None:
    with pytest.raises(RowError, match=r"2026-03-08T02:30:00 never was in America/New_York.*give it with its offset"):
        instants("2026-03-08T02:30")


@pytest.mark.parametrize("cell", ["0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1970-01-01T09:00:00", "9999-12-31"])
def test_zero_times_are_refused(cell: str) -> None:
    with pytest.raises(RowError, match="a zero time or none of ours"):
        instants(cell)


@pytest.mark.parametrize(
    "cell",
    ["1710101012345", "1772400000", "Unknown", "02/03/2026 14:05", "2026-03-02T24:00", "2026-02-30", "2026-W10-1"],
)
def test_what_is_no_iso_time_is_refused(cell: str) -> None:
    assert iso_time(cell) is None
    with pytest.raises(RowError, match="write it as 2026-03-02T14:05:00"):
        instants(cell)


def test_an_end_before_its_start_is_refused_with_both_texts() -> None:
    with pytest.raises(RowError) as refused:
        instants("", "2026-03-02T14:05Z", "2026-03-02T14:04Z")
    assert str(refused.value) == (
        "ended_at 2026-03-02T14:04Z is before started_at 2026-03-02T14:05Z: "
        "correct one of them, or leave ended_at empty"
    )


def test_equal_times_and_a_late_creation_are_read() -> None:
    same = datetime(2026, 3, 2, 14, 5, tzinfo=UTC).isoformat()
    assert instants("2026-03-02T15:00Z", "2026-03-02T14:05Z", "2026-03-02T14:05Z")[1:] == [same, same]
