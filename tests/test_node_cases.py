"""A node over its peers: measures by class, changes at the event, marks, and what is said where nothing is known."""

from collections.abc import Iterator
from datetime import timedelta

import duckdb
import polars as pl
import pytest

from gangline import node_cases
from gangline.node_cases import node_case
from gangline.postmortem.subjects import SubjectError
from gangline.roles import RoleError
from gangline.warehouse import connect
from tests import failing, fleets

LOST = "2026-03-01T00:59"


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(failing.lepus()) as opened:
        yield opened


def test_the_latest_incident_is_shown_where_nothing_is_named(con: duckdb.DuckDBPyConnection) -> None:
    case = node_case(con, failing.lepus())
    assert case is not None
    assert (case.node, case.subject.at, case.kind, case.kind_words) == ("n02", failing.minute(59), "xid_79", "XID 79")
    assert (case.class_name, case.case) == ("bus", "found")
    assert case.measures[:2] == ("interrupts", "runnable")
    assert case.missing == ["gpu_util", "gpu_power", "pcie_replays", "link_errors"]
    assert case.window.start == failing.minute(59) - timedelta(hours=2)


def test_a_fall_before_the_peers_is_told(con: duckdb.DuckDBPyConnection) -> None:
    case = node_case(con, failing.lepus(), "n02", LOST, "interrupts runnable")
    assert case is not None
    row = case.changes.filter(pl.col("measure") == "interrupts").row(0, named=True)
    assert row["before"] == pytest.approx(3020)
    assert row["after"] == pytest.approx(700)
    assert row["times"] == pytest.approx(700 / 3020)
    assert row["peers_before"] == pytest.approx(3060)
    assert row["peers_after"] == pytest.approx(3060 / 10 + 700 * 9 / 10)  # they train for a minute more
    assert row["z"] < 0
    runnable = case.changes.filter(pl.col("measure") == "runnable")
    assert runnable.select("before", "after", "peers_after").row(0) == pytest.approx((12.0, 0.0, 1.2))
    assert row["nodes"] == 10
    assert case.sentence() == (
        "runnable went from 12 processes to 0 processes, that of the median node from 12 processes to 1.2 processes"
        " (z = -8.0 among 10 nodes)"
    )


def test_a_node_that_went_as_its_peers_did_is_said_to(con: duckdb.DuckDBPyConnection) -> None:
    """Beside another node's failure: its own job ends, and of all measures one is always furthest."""
    case = node_case(con, failing.lepus(), "n03", LOST, "interrupts runnable")
    assert case is not None
    assert case.sentence() == (
        "nothing changed beyond the peers': of 2 measures, held against 9 other nodes, none has a z beyond 3.5"
        " (furthest, at 0.9: interrupts went from 3,030 interrupts/s to 933 interrupts/s, that of the median node"
        " from 3,060 interrupts/s to 936 interrupts/s)"
    )
    quiet = node_case(con, failing.lepus(), "n03", "2026-03-01T00:20", "runnable")
    assert quiet is not None
    assert quiet.sentence() == (
        "nothing changed beyond the peers': of 1 measure, held against 9 other nodes, none has a z beyond 3.5,"
        " as all nodes changed alike"
    )


def test_an_answer_that_comes_late_is_the_time_over_the_count(con: duckdb.DuckDBPyConnection) -> None:
    case = node_case(con, failing.lepus(), "n06", LOST, "getattr_response")
    assert case is not None
    assert (case.kind, case.case) == (None, "quiet")
    assert case.layers["layer"].unique().to_list() == ["getattr_response (ms)"]
    row = case.changes.row(0, named=True)
    assert (row["before"], row["peers_after"]) == pytest.approx((0.5, 0.5))
    assert row["after"] == pytest.approx(20.5)
    assert case.sentence() == (
        "getattr_response went from 0.5 ms to 20.5 ms, that of the median node at 0.5 ms (z = 8.0 among 10 nodes)"
    )


def test_rare_counters_are_shown_as_what_has_come(con: duckdb.DuckDBPyConnection) -> None:
    case = node_case(con, failing.lepus(), "n04", "2026-03-01T01:30", "remapped_rows", before_h=1)
    assert case is not None
    values = case.layers["value"].drop_nulls()
    assert values.min() == 0
    assert values.max() == pytest.approx(19)
    assert case.layers["layer"][0] == "remapped_rows (rows)"


def test_a_node_that_falls_silent_is_told(con: duckdb.DuckDBPyConnection) -> None:
    case = node_case(con, failing.lepus(), "n01", LOST, "runnable")
    assert case is not None
    silent = case.changes.with_columns(after=pl.lit(None, pl.Float64), z=pl.lit(None, pl.Float64))
    case.__dict__["changes"] = silent
    assert case.sentence() == "the node has no samples after it, while its peers have"


def test_marks_that_crowd_share_a_name(con: duckdb.DuckDBPyConnection) -> None:
    case = node_case(con, failing.lepus(), "n02", LOST)
    assert case is not None
    assert case.marks.rows() == [
        (failing.minute(0), "start"),
        (failing.minute(59), "XID 79, end, start"),
        (failing.minute(60), ""),
        (failing.minute(70), ""),
    ]
    assert set(case.timeline["node"].drop_nulls()) == {"n02"}


def test_a_node_that_is_not_known_and_half_a_name(con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(SubjectError, match="no node n2; did you mean n02"):
        node_case(con, failing.lepus(), "n2", LOST)
    with pytest.raises(SubjectError, match="--node and --at go together"):
        node_case(con, failing.lepus(), "n02")
    with pytest.raises(RoleError, match="gpu_utill is no role; did you mean gpu_util"):
        node_case(con, failing.lepus(), "n02", LOST, "interrupts, gpu_utill")
    for hours in (-3.0, 1e9, float("nan")):
        with pytest.raises(SubjectError, match="hours to show before the time, from 0 to 744"):
            node_case(con, failing.lepus(), "n02", LOST, before_h=hours)


def test_without_telemetry_the_case_says_so() -> None:
    with connect(fleets.sample()) as con:
        case = node_case(con, fleets.sample())
        assert case is not None
        assert (case.case, case.class_name, case.changes.is_empty()) == ("no_telemetry", "other", True)
        assert case.sentence() == "no measure can be held against the peers'"
        assert case.timeline.height > 0


def test_without_any_incident_there_is_no_case() -> None:
    toml = '[[sources]]\nkind = "sessions_csv"\npath = "sessions.csv"\n'
    head = ["session_id", "job_name", "owner", "nodes", "started_at", "ended_at", "end_reason"]
    row = ["a", "train", "kim", "n1", "2026-03-01T00:00Z", "2026-03-01T01:00Z", "completed"]
    config = fleets.written("quiet", toml, sessions=[head, row])
    with connect(config) as con:
        assert node_cases.node_case(con, config) is None
