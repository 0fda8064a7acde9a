"""Nodes against chance: what chance gives is not named, what it hardly gives is; signs that nobody tells are null."""

import duckdb
import polars as pl
import pytest
from scipy import stats

from gangline import lemon_nodes
from gangline.build import build
from gangline.warehouse import connect
from tests import failing
from tests.fleets import LATEST_H, SESSION_HEAD, at, days, session
from tests.sql.given import warehouse_of

LOG_HEAD = "file, line, node, first_at, latest_at, lines, events, time_quality"
EVENT_HEAD = "file, line, node, at, time_quality, kind, code, pci_bus_id, text"


def fleet(incidents: dict[str, int], failed: dict[str, int]) -> duckdb.DuckDBPyConnection:
    """Twenty nodes with logs of ten days, so many XIDs 31 an hour apart, and ten single-node sessions each."""
    nodes = [f"n{place:02d}" for place in range(1, 21)]
    logs = [f"log, {place}, {node}, {at(0)}, {at(LATEST_H)}, 1, 0, stamped" for place, node in enumerate(nodes)]
    events = [
        f"log, {100 * place + each}, {node}, {at(each)}, stamped, xid, 31, 0000:1b:00, a"
        for place, (node, count) in enumerate(incidents.items(), 1)
        for each in range(count)
    ]
    sessions = [
        session(f"{node}-{each}", node, 10 * each, 5, "failed" if each < failed.get(node, 0) else "completed")
        for node in nodes
        for each in range(10)
    ]
    con = warehouse_of(
        {
            "files": [
                {"id": "jobs", "kind": "sessions_csv", "latest_at": at(LATEST_H)},
                {"id": "log", "kind": "kernel_log", "latest_at": at(LATEST_H)},
            ],
            "sessions": "\n".join([SESSION_HEAD, *sessions]),
            "kernel_logs": "\n".join([LOG_HEAD, *logs]),
            "kernel_events": "\n".join([EVENT_HEAD, *events]),
        }
    )
    build(con)
    return con


def test_a_node_that_fails_again_and_again_is_named() -> None:
    with fleet({"n01": 1, "n02": 8, "n03": 1}, {"n04": 6, "n05": 1}) as con:
        found = lemon_nodes.lemons(con, days(1, 11))
    assert found.case == "found"
    assert found.names == ["n02", "n04"]
    assert found.tested == 40  # two signs of twenty nodes
    first = found.nodes.row(0, named=True)
    assert (first["node"], first["incidents"], first["xid_events"], first["sign"]) == ("n02", 8, 8, "incidents")
    assert first["filed_incidents"] is None  # no incident file was read: nobody knows, and it is not 0
    row = found.tests.filter((pl.col("node") == "n02") & (pl.col("sign") == "incidents")).row(0, named=True)
    assert row["expected"] == pytest.approx(10 / 20)
    assert row["p"] == pytest.approx(stats.binom.sf(7, 10, 1 / 20))
    assert row["p_adjusted"] == pytest.approx(40 * row["p"])
    alone = found.tests.filter((pl.col("node") == "n04") & (pl.col("sign") == "single_node_failures"))
    assert alone["p"][0] == pytest.approx(stats.hypergeom.sf(5, 200, 7, 10))


def test_what_chance_gives_is_not_named() -> None:
    with fleet(dict.fromkeys(("n01", "n02", "n03", "n07"), 1) | {"n09": 2}, {"n01": 1, "n11": 1}) as con:
        found = lemon_nodes.lemons(con, days(1, 11))
    assert found.case == "none"
    spread = lemon_nodes.spread(found)
    assert spread["nodes"].to_list() == [15, 4, 1, 0]
    assert spread["expected_nodes"].sum() == pytest.approx(20, abs=0.1)
    assert spread["expected_nodes"][0] == pytest.approx(20 * 0.95**6)


def test_without_an_event_nothing_is_tested() -> None:
    with fleet({}, {}) as con:
        found = lemon_nodes.lemons(con, days(1, 11))
    assert (found.case, found.tested) == ("untested", 0)
    assert lemon_nodes.spread(found).is_empty()
    assert found.nodes["incidents"].to_list() == [0] * 20


def test_unwatched_nodes_are_not_among_the_tested() -> None:
    with connect(failing.lepus()) as con:
        found = lemon_nodes.lemons(con, failing.window())
    assert found.tests.filter(pl.col("sign") == "incidents")["node"].to_list() == ["n01", "n02", "n03"]
    assert found.case == "none"
