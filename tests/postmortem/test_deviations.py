"""The node against its peers at the event."""

import duckdb
import pytest

from gangline.config import Config
from gangline.postmortem import find
from gangline.postmortem.deviations import NO_SPREAD, NOT_SAMPLED, deviations, outliers
from tests.postmortem.conftest import FAULTY


def test_the_metric_that_left_the_peers_stands_first(con: duckdb.DuckDBPyConnection, lynx: Config) -> None:
    rows = deviations(con, lynx, find(con, "UTC", session="a"))
    first = rows.row(0, named=True)
    assert (first["role"], first["node"], first["peers"]) == ("runnable", FAULTY, 10)
    # The mean of two minutes of 40.5 and eight of 0; only this node moved: 32.4 over 1.2533 of the mean of ten.
    assert (first["value"], first["usual"]) == (8.1, 40.5)
    assert first["z"] == pytest.approx(-32.4 / (1.2533 * 3.24), rel=1e-4)
    assert outliers(rows)["role"].to_list() == ["runnable"]
    dirty = rows.filter(rows["role"] == "dirty").row(0, named=True)
    assert (dirty["z"], dirty["reason"]) == (None, NO_SPREAD)


def test_a_step_that_is_not_over_at_the_event_does_not_count(con: duckdb.DuckDBPyConnection, lynx: Config) -> None:
    rows = deviations(con, lynx, find(con, "UTC", node=FAULTY, at="2026-03-01T09:52:30Z"))
    assert rows.filter(rows["role"] == "runnable")["value"].to_list() == [40.5]


def test_a_node_without_samples_says_so(con: duckdb.DuckDBPyConnection, lynx: Config) -> None:
    rows = deviations(con, lynx, find(con, "UTC", node="n12", at="2026-03-01T10:00"))
    assert set(rows["reason"]) == {NOT_SAMPLED}


def test_a_time_without_telemetry_has_no_rows(con: duckdb.DuckDBPyConnection, lynx: Config) -> None:
    assert deviations(con, lynx, find(con, "UTC", incident="node:8")).is_empty()
