"""NFS requests, bytes and memory around saves and loads through the whole ingest, against sums by plain loops."""

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl
import pytest

from gangline.config import Config
from gangline.warehouse import connect
from gangline.warehouse.querying import query
from tests import mountstats
from tests.fleets import ingested
from tests.mountstats import COUNTED, LOAD, MB, MEMBERS, PER_REQUEST, SAVES, STEP_S

CLUSTER = mountstats.story()


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return mountstats.ingested(tmp_path_factory.mktemp("norma"), CLUSTER.lines)


@pytest.fixture
def con(config: Config) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(config) as opened:
        yield opened


def seconds(con: duckdb.DuckDBPyConnection, mart: str) -> dict[str, tuple[float, float]]:
    """Start and end of each save or load in seconds of the story."""
    rows = con.execute(f"select {mart}_id, started_at, ended_at from marts.checkpoint_{mart}s order by 2").fetchall()
    zero = mountstats.START
    return {name: ((start - zero).total_seconds(), (end - zero).total_seconds()) for name, start, end in rows}


def test_the_story_has_its_saves_and_its_load(con: duckdb.DuckDBPyConnection) -> None:
    assert [round(start / 60) for start, _ in seconds(con, "save").values()] == [save[0] for save in SAVES]
    assert [(round(start / 60), round(end / 60)) for start, end in seconds(con, "load").values()] == [LOAD]


@pytest.mark.parametrize("phase", ["save", "load"])
def test_requests_are_the_true_ones_over_midnight_resets_and_mounts(con: duckdb.DuckDBPyConnection, phase: str) -> None:
    rows = query(con, "from marts.checkpoint_requests where phase = $phase", phase=phase)
    spans = seconds(con, phase)
    assert set(rows["node"]) == set(MEMBERS)
    assert rows.height >= 2 * len(spans) * len(MEMBERS)
    for row in rows.iter_rows(named=True):
        start_s, end_s = spans[row["checkpoint_id"]]
        assert (row["window_s"], row["coverage_ratio"], row["is_covered"]) == (end_s - start_s, 1.0, True)
        for counted in COUNTED:
            wanted = CLUSTER.true_increase(row["node"], counted, row["operation"], start_s, end_s)
            assert row[counted] == pytest.approx(wanted, rel=1e-9, abs=1e-6)


def test_equal_mounts_count_once_and_others_add_up(con: duckdb.DuckDBPyConnection) -> None:
    reads = query(con, "from marts.checkpoint_requests where phase = 'load' and operation = 'READ'")
    requests = dict(reads.select("node", "requests").iter_rows())
    whole = PER_REQUEST["READ"][0] * (LOAD[1] - LOAD[0]) * 60
    assert requests["n1"] == pytest.approx(whole)
    assert requests["n3"] == pytest.approx(whole)
    assert requests["n2"] == pytest.approx(whole, rel=0.03)  # its scrapes come ten seconds later


def test_idle_reads_and_writes_are_rows_other_operations_are_not(con: duckdb.DuckDBPyConnection) -> None:
    rows = query(con, "select distinct phase, operation, requests > 0 as is_used from marts.checkpoint_requests")
    assert set(rows.filter(pl.col("phase") == "load").iter_rows()) >= {("load", "WRITE", False)}
    assert ("load", "COMMIT") not in set(rows.select("phase", "operation").iter_rows())


def test_a_node_that_is_silent_in_part_is_not_covered(tmp_path_factory: pytest.TempPathFactory) -> None:
    lines = [_without(line, 41, 60) if _counts_requests(line, "n3") else line for line in CLUSTER.lines]
    config = mountstats.ingested(tmp_path_factory.mktemp("silent"), lines)
    with connect(config) as con:
        rows = query(con, "from marts.checkpoint_requests where phase = 'save' and operation = 'WRITE'")
    by_node = dict(rows.filter(pl.col("checkpoint_id") == "save:g:1").select("node", "is_covered").iter_rows())
    assert by_node == {"n1": True, "n2": True, "n3": False}


def test_bytes_and_memory_of_each_node(con: duckdb.DuckDBPyConnection) -> None:
    rows = query(con, "from marts.checkpoint_nodes where checkpoint_id = 'save:g:1'")
    found = {(row["node"], row["role"]): row for row in rows.iter_rows(named=True)}
    written = found["n1", "nfs_program_write_bytes"]
    assert (written["inside"], written["around"], written["first_level"]) == (pytest.approx(2400 * MB), 2400 * MB, None)
    assert written["mostly_s"] == pytest.approx(0.95 * 120)
    shared = found["n3", "shm_used"]
    assert (shared["first_level"], shared["peak_level"], shared["last_level"]) == (1e9, 9e9, 1e9)
    assert (shared["inside"], shared["is_covered"]) == (None, None)
    assert "n4" not in {node for node, _ in found}


def test_steps_count_from_the_start_of_each(con: duckdb.DuckDBPyConnection) -> None:
    sql = "select lag_s, node_mean, total, reporting_nodes, is_known from marts.checkpoint_courses where role = $role"
    rows = query(con, f"{sql} and checkpoint_id = 'save:g:2' order by lag_s", role="nfs_write_bytes")
    assert rows["lag_s"].to_list() == [float(STEP_S * step) for step in range(-10, 14)]
    assert set(rows["reporting_nodes"]) == {3}
    assert dict(rows.select("lag_s", "node_mean").iter_rows())[30.0] == pytest.approx(20 * MB)
    dirty = query(con, f"{sql} and checkpoint_id = 'save:g:2' order by lag_s", role="dirty")
    at = dict(dirty.select("lag_s", "node_mean").iter_rows())
    assert (at[-60.0], at[60.0], at[150.0]) == (1e9, 4e9, 1e9)


def test_a_save_over_midnight_is_told_on_both_days(con: duckdb.DuckDBPyConnection) -> None:
    days = query(
        con, """select distinct "at"::date as day from marts.checkpoint_courses where checkpoint_id = 'save:g:2'"""
    )
    assert days.height == 2


def test_what_is_not_exported_is_null(tmp_path_factory: pytest.TempPathFactory) -> None:
    cluster = mountstats.story(["requests", "request_s", "sent_bytes", "received_bytes"])
    with connect(mountstats.ingested(tmp_path_factory.mktemp("few"), cluster.lines)) as con:
        row = query(con, "from marts.checkpoint_requests where operation = 'WRITE' and phase = 'save' limit 1").row(
            0, named=True
        )
    assert (row["queue_s"], row["response_s"], row["transmissions"]) == (None, None, None)
    assert row["requests"] == pytest.approx(2400)


def test_every_save_of_the_truth_has_its_bytes(shared_data: Path) -> None:
    """Known answers made by plain loops: the bytes of each save, over its nodes, resets and a gap."""
    truth = json.loads((shared_data / "truth/telemetry/truth.json").read_text())["saves"]
    with connect(ingested(shared_data / "truth/telemetry/vm", "vm-windows")) as con:
        rows = query(con, _BYTES_OF_SAVES)
    assert rows["started_s"].to_list() == [save["start"] for save in truth]
    assert rows["bytes"].to_list() == pytest.approx([save["bytes"] for save in truth])


_BYTES_OF_SAVES = """
    select epoch(started_at)::bigint as started_s, sum(inside) as bytes
    from marts.checkpoint_nodes join marts.checkpoint_saves on save_id = checkpoint_id
    where role = 'nfs_write_bytes' group by started_at order by started_at
"""


def test_a_save_before_times_are_told_is_not_measured(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The exporter tells times from 23:40 on: requests of the first save are known, what one took is not."""
    lines = [_without(line, 0, 80) if "_time_seconds_total" in line else line for line in CLUSTER.lines]
    config = mountstats.ingested(tmp_path_factory.mktemp("later"), lines)
    with connect(config) as con:
        rows = query(con, "from marts.checkpoint_requests where phase = 'save' and operation = 'WRITE' and node = 'n1'")
    first, second = rows.sort("checkpoint_id").iter_rows(named=True)
    assert (first["coverage_ratio"], first["is_covered"], first["request_s"]) == (1.0, False, None)
    assert first["requests"] == pytest.approx(2400)
    assert (second["is_covered"], second["request_s"]) == (True, pytest.approx(2400 * 2.026))


def test_an_export_of_what_is_needed_alone_is_measured(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Bytes of the way that each operation goes, and times of READ and WRITE only: the simulated cluster's export."""
    lines = [line for line in CLUSTER.lines if not _is_spare(line)]
    assert len(lines) < len(CLUSTER.lines)
    config = mountstats.ingested(tmp_path_factory.mktemp("needed"), lines)
    with connect(config) as con:
        told = query(
            con, "select operation, bool_and(is_covered) as is_covered from marts.checkpoint_requests group by all"
        )
    assert told["is_covered"].to_list() == [True] * told.height
    assert {"READ", "WRITE", "GETATTR"} <= set(told["operation"].to_list())


def _is_spare(line: str) -> bool:
    """Whether the series tells of an operation what only others are asked for."""
    is_data = '"READ"' in line or '"WRITE"' in line
    is_seldom = (
        "transmissions_total" in line or "major_timeouts" in line or ("_time_seconds_total" in line and not is_data)
    )
    wrong_way = ('"WRITE"' in line and "received_bytes" in line) or ('"READ"' in line and "sent_bytes" in line)
    return is_seldom or wrong_way


def _counts_requests(line: str, node: str) -> bool:
    return f'"{node}:9100"' in line and "operations_requests_total" in line


def _without(line: str, first: int, stop: int) -> str:
    told = json.loads(line)
    for name in ("values", "timestamps"):
        del told[name][first:stop]
    return json.dumps(told)
