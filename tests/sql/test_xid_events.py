"""Floods as nodes really log them: one failure, however many lines; a severity is what the text says."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from gangline.build import build
from tests.sql.given import warehouse_of

GIVEN: dict[str, Any] = {
    "files": [
        {"id": "jobs", "kind": "sessions_csv", "latest_at": "2026-03-31T00:00:00Z"},
        {"id": "log", "kind": "kernel_log", "latest_at": "2026-03-31T00:00:00Z"},
    ],
    "sessions": "session_id, nodes, started_at, ended_at, state_key\n"
    's, "n[1-2]", 2026-03-01T00:00Z, 2026-03-01T10:00:30Z, failed\n',
}
FLOOD = """
insert into raw.kernel_event_records by name
select 'log' as file_id, number + 10 as line, 'n1' as node, 'stamped' as time_quality, 'xid' as kind, 45 as code,
    timestamptz '2026-03-01 10:00:01+00' + to_milliseconds(number * 5) as "at", {cause} as cause_code,
    printf('0000:%02x:00', 16 + number % 8) as pci_bus_id, printf('Ch %08x', number) as detail,
    printf('NVRM: Xid 45, Ch %08x', number) as text
from range(13104) numbers(number)
"""
PRIMARY = """
insert into raw.kernel_event_records by name
select 'log' as file_id, 1 as line, 'n1' as node, 'stamped' as time_quality, 'xid' as kind, 149 as code,
    timestamptz '2026-03-01 10:00:00+00' as "at", '0000:10:00' as pci_bus_id, 'nonfatal' as severity,
    'NETIR Nonfatal XC0' as detail, 'NVRM: Xid 149, NETIR Nonfatal XC0' as text
"""
INCIDENTS = (
    "select kind, event_count, secondary_count, line_count, gpu_count, session_id, action_code from marts.incidents"
)


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with warehouse_of(GIVEN) as connection:
        yield connection


def test_a_flood_after_its_cause_is_one_failure(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(PRIMARY)
    con.execute(FLOOD.format(cause="149"))
    build(con, only=["incidents", "xid_events"])
    assert con.execute(INCIDENTS).fetchall() == [("xid_149", 9, 8, 13105, 8, "s", 149)]
    events = con.execute(
        "select code, is_secondary, count(*), sum(line_count) from marts.xid_events group by all"
    ).fetchall()
    assert sorted(events) == [(45, True, 8, 13104), (149, False, 1, 1)]


def test_a_flood_alone_is_one_failure_of_the_cause_that_it_names(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(FLOOD.format(cause="149"))
    build(con, only=["incidents"])
    assert con.execute(INCIDENTS).fetchall() == [("xid_149", 8, 7, 13104, 8, "s", 149)]


def test_a_flood_that_names_no_cause_is_one_failure(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(FLOOD.format(cause="null::bigint"))
    build(con, only=["incidents"])
    assert con.execute(INCIDENTS).fetchall() == [("xid_45", 8, 7, 13104, 8, "s", 45)]


def test_a_severity_is_that_of_the_text(con: duckdb.DuckDBPyConnection) -> None:
    """An NVLink error that says Nonfatal is not called fatal by its code."""
    con.execute(PRIMARY)
    build(con, only=["xid_events"])
    assert con.execute("select code, severity from marts.xid_events").fetchall() == [(149, "nonfatal")]
