"""Nodes to act on, each with its evidence."""

import duckdb
import polars as pl

from gangline.weekly import watch_list
from gangline.weekly.watch_list import DRAIN, RETURN, RULES, WATCH
from gangline.windows import Window
from tests.weekly.conftest import WEEK


def _advice(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, tuple[str, str]]:
    rows = watch_list.watch_list(con, window)
    return {node: (advice, reason) for node, advice, reason in rows.select("node", "advice", "reason").iter_rows()}


def test_a_node_is_drained_where_an_action_was_not_taken_or_an_incident_is_open(con: duckdb.DuckDBPyConnection) -> None:
    found = _advice(con, WEEK)
    assert found["n1"] == (DRAIN, "1 incident still open; link")
    # An XID 79 asks for the node to leave, and the next attempt ran on it.
    assert found["n2"][0] == DRAIN
    assert "1 incident whose action was not taken; 1 abnormal end put down to it; xid_79" in found["n2"][1]


def test_old_incidents_watch_and_healthy_nodes_that_are_out_return(con: duckdb.DuckDBPyConnection) -> None:
    found = _advice(con, WEEK)
    assert found["n4"] == (WATCH, "fan; no sign of a fault for 14 days") or found["n4"][0] == WATCH
    assert found["n5"] == (
        RETURN,
        "left out by 100 % of gangs; out now: left out by the latest gang; no sign of a fault for 14 days",
    )
    assert "n3" not in found


def test_nothing_later_than_the_windows_end_is_used(con: duckdb.DuckDBPyConnection) -> None:
    found = _advice(con, Window.between("2026-03-02", "2026-03-09", "UTC"))
    assert "n1" not in found
    assert "n2" not in found


def test_the_list_in_a_sentence(con: duckdb.DuckDBPyConnection) -> None:
    listed = pl.DataFrame({"advice": [DRAIN, DRAIN, RETURN]})
    assert watch_list.sentence(listed) == "Nodes: 2 to drain, 1 to return."
    assert watch_list.sentence(listed.clear()) == "No node needs a decision."
    assert all(rule in watch_list.RULED for rule in RULES.values())
