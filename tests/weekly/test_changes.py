"""What is otherwise than in the week before."""

import duckdb

from gangline.warehouse import export_span
from gangline.weekly.changes import changes
from gangline.windows import Window
from tests.weekly.conftest import WEEK


def test_changes_of_a_week(con: duckdb.DuckDBPyConnection) -> None:
    found = [(change, subject.rpartition(":")[2]) for change, subject, _ in changes(con, WEEK).iter_rows()]
    assert found == [
        ("newly left out", "n5"),
        ("taken again", "n4"),
        ("new kind of fault", "xid_79"),
        ("new kind of fault", "link"),
        ("longest downtime", "b"),
    ]


def test_a_kind_of_fault_is_new_once(con: duckdb.DuckDBPyConnection) -> None:
    later = changes(con, Window.week("2026-W12", "UTC"))
    assert "new kind of fault" not in later["change"].to_list()


def test_the_whole_export_has_nothing_to_compare_with(con: duckdb.DuckDBPyConnection) -> None:
    assert changes(con, Window.whole(*export_span(con), "UTC")).is_empty()
