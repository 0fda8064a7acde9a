"""Remarks of people: in the windows that their time meets, or that of what they are about."""

from collections.abc import Iterator
from datetime import datetime

import duckdb
import pytest

from gangline import annotations
from gangline.warehouse import connect
from tests.fleets import at, days, written

SESSIONS = [
    ["session_id", "job_name", "owner", "nodes", "created_at", "started_at", "ended_at", "end_reason"],
    ["a", "train", "ana", "n[1-8]", at(20), at(20), at(28), "failed"],
    ["open", "train", "ana", "n[1-8]", at(30), at(30), "", "running"],
    ["last", "train", "ana", "n9", at(240), at(240), at(240), "completed"],
]
INCIDENTS = [
    ["incident_id", "node", "started_at", "ended_at", "kind"],
    ["T1", "n3", at(47), at(48), "GPU"],
]
REMARKS = [
    ["target", "from", "to", "cause", "planned", "note"],
    ["a", "", "", "loss", "no", "<b>stopped</b>"],
    ["open", "", "", "", "", "still there"],
    ["T1", "", "", "riser", "no", "=1+1"],
    ["n9", "", "", "set aside", "yes", "always"],
    ["n1", at(24), at(48), "fan", "", "a day"],
    ["nobody", at(0), "", "gone", "", "of nothing"],
]
TOML = "\n".join(
    f'[[sources]]\nkind = "{kind}"\npath = "{name}.csv"'
    for kind, name in (("sessions_csv", "sessions"), ("incidents", "incidents"), ("annotations_csv", "annotations"))
)


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(written("remarks", TOML, sessions=SESSIONS, incidents=INCIDENTS, annotations=REMARKS)) as opened:
        yield opened


def told(con: duckdb.DuckDBPyConnection, first: int, after: int) -> list[str]:
    return annotations.table(annotations.within(con, days(first, after)))["meaning"].to_list()


def test_each_is_where_its_target_is(con: duckdb.DuckDBPyConnection) -> None:
    assert told(con, 1, 2) == ["always", "<b>stopped</b>"]
    assert told(con, 2, 3) == ["always", "<b>stopped</b>", "a day", "still there", "=1+1"]
    assert told(con, 3, 4) == ["always", "still there"]


def test_a_row_says_what_it_is_about(con: duckdb.DuckDBPyConnection) -> None:
    rows = annotations.within(con, days(2, 3))
    assert rows.drop("meaning").rows() == [
        ("node", None, None, "n9", None, None, "set aside", True),
        ("session", rows["session_id"][1], None, None, _at(20), _at(28), "loss", False),
        ("node", None, None, "n1", _at(24), _at(48), "fan", None),
        ("session", rows["session_id"][3], None, None, _at(30), None, None, None),
        ("incident", None, "node:T1", "n3", _at(47), _at(48), "riser", False),
    ]
    assert [str(name).rsplit(":", 1)[-1] for name in rows["session_id"].drop_nulls()] == ["a", "open"]


def test_a_table_names_the_node_beside_incidents_only(con: duckdb.DuckDBPyConnection) -> None:
    notes = annotations.within(con, days(2, 3))
    shown = annotations.table(notes)
    assert shown["node"].to_list() == [None, None, None, None, "n3"]
    assert [name.rsplit(":", 1)[-1] for name in shown["target"]] == ["n9", "a", "n1", "open", "T1"]
    assert "node" not in annotations.table(annotations.about(notes, "session", "node")).columns
    assert annotations.table(notes.clear()).is_empty()


def test_those_about_some_sessions_and_kinds(con: duckdb.DuckDBPyConnection) -> None:
    notes = annotations.within(con, days(2, 3))
    failed = notes["session_id"][1]
    assert annotations.on_sessions(notes, [failed, None])["meaning"].to_list() == ["<b>stopped</b>"]
    assert annotations.on_sessions(notes, []).is_empty()
    assert annotations.about(notes, "incident", "node")["meaning"].to_list() == ["always", "a day", "=1+1"]
    sessions = con.sql("select session_id from marts.sessions order by started_at").pl()
    assert annotations.marked(sessions, notes)["is_noted"].to_list() == [True, True, False]
    assert annotations.marked(sessions, notes.clear())["is_noted"].to_list() == [False] * 3


def _at(hour: float) -> datetime:
    return datetime.fromisoformat(at(hour))
