"""What was looked at, what came before, and the timeline."""

import duckdb

from gangline.config import Config
from gangline.postmortem import sources, story
from gangline.postmortem.sources import Seen


def test_each_source_says_found_normal_or_no_data(con: duckdb.DuckDBPyConnection, lynx: Config) -> None:
    seen = dict(story(con, lynx, session="a").looked_at.select("source", "seen").iter_rows())
    assert seen["kernel logs of the node"] == Seen.FOUND
    assert seen["metrics against the peers"] == Seen.FOUND
    assert seen["incident files"] == Seen.NORMAL
    assert seen["steps of the run"] == Seen.NO_DATA
    assert seen["XID gauge of the node"] == Seen.NO_DATA


def test_similar_incidents_came_before(con: duckdb.DuckDBPyConnection, lynx: Config) -> None:
    rows = story(con, lynx, session="a").similar
    assert rows.select("incident_id", "likeness").rows() == [("node:7", "same node and kind")]


def test_the_timeline_is_in_order_with_file_and_line(con: duckdb.DuckDBPyConnection, lynx: Config) -> None:
    rows = story(con, lynx, session="a").timeline
    assert rows["at"].is_sorted()
    xid = rows.filter(rows["kind"] == "xid").row(0, named=True)
    assert (xid["node"], xid["file"], xid["line"]) == ("n07", "kernel.log", 1)
    assert "p" not in {name.rpartition(":")[2] for name in rows["session_id"].drop_nulls()}


def test_the_action_that_was_called_for(con: duckdb.DuckDBPyConnection, lynx: Config) -> None:
    (row,) = sources.audit(con, story(con, lynx, session="a").subject).rows(named=True)
    assert (row["kind"], row["keep_node"], row["next_kept_node"], row["action_taken"]) == (
        "xid_79",
        False,
        True,
        "not taken",
    )
