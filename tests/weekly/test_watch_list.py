"""Nodes to act on, each with its evidence."""

from datetime import UTC, datetime, timedelta

import duckdb
import polars as pl

from gangline.warehouse.querying import query
from gangline.weekly import watch_list
from gangline.weekly.watch_list import DRAIN, RETURN, RULES, WATCH
from gangline.windows import Window
from tests.weekly.conftest import WEEK
from tests.weekly.test_lost_hours_once import pair  # noqa: F401 - a fixture


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
    assert found["n4"] == (WATCH, "fan")
    assert found["n5"] == (
        RETURN,
        "left out by 100 % of gangs; out now: left out by the latest gang; no sign of a fault for 14 days",
    )
    assert "n3" not in found


def test_an_incident_is_a_sign_until_it_ends(con: duckdb.DuckDBPyConnection) -> None:
    # n4's incident began more than 14 days before the end, and ended less than 14 days before it.
    found = _advice(con, Window.between("2026-03-10", "2026-03-17T05:00", "UTC"))
    assert found["n4"][0] == WATCH
    assert "no sign" not in found["n4"][1]


def test_a_gang_that_began_before_the_window_leaves_nodes_out(con: duckdb.DuckDBPyConnection) -> None:
    found = _advice(con, Window.between("2026-03-10T01:00", "2026-03-10T09:00", "UTC"))
    assert found["n5"] == (RETURN, "out now: left out by the latest gang; no sign of a fault for 14 days")


def test_a_node_in_another_gang_is_not_out(pair: duckdb.DuckDBPyConnection) -> None:  # noqa: F811
    for hour in range(9, 24 * 4, 13):
        end = datetime(2026, 3, 2, tzinfo=UTC) + timedelta(hours=hour)
        window = Window.between("2026-03-02", f"{end:%Y-%m-%dT%H:%M}", "UTC")
        listed = watch_list.watch_list(pair, window).filter(pl.col("reason").str.contains("latest gang"))
        ran = query(pair, _IN_GANGS, at=window.end - timedelta(seconds=1))["node"]
        assert not set(listed["node"]) & set(ran)


_IN_GANGS = """
    select nodes.node from marts.session_nodes as nodes join marts.sessions as sessions using (session_id)
    where sessions.is_gang and sessions.started_at <= $at and sessions.until_at > $at
        and sessions.started_at >= (select max(started_at) from marts.sessions where is_gang and started_at <= $at)
"""


def test_nothing_later_than_the_windows_end_is_used(con: duckdb.DuckDBPyConnection) -> None:
    found = _advice(con, Window.between("2026-03-02", "2026-03-09", "UTC"))
    assert "n1" not in found
    assert "n2" not in found


def test_the_list_in_a_sentence(con: duckdb.DuckDBPyConnection) -> None:
    listed = pl.DataFrame({"advice": [DRAIN, DRAIN, RETURN]})
    assert watch_list.sentence(listed) == "Nodes: 2 to drain, 1 to return."
    assert watch_list.sentence(listed.clear()) == "No node needs a decision."
    assert all(rule in watch_list.RULED for rule in RULES.values())
