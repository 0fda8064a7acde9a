"""Runs of real logs over all their copies and exports, and a long history in little memory."""

import shutil
from pathlib import Path

import duckdb
import pytest

from gangline.build import build
from gangline.config import load
from gangline.ingest import ingest
from gangline.warehouse import connect
from tests.configs import cluster_head, source_entry
from tests.sql.given import warehouse_of

CONFIG = cluster_head("orion") + source_entry("wandb", "wandb*/**/*.wandb") + source_entry("wandb", "wandb/exports/*")
ROWS = 200_000
METRICS = 4


@pytest.fixture(scope="module")
def real_runs(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    folder = tmp_path_factory.mktemp("runs")
    for name in ("wandb", "wandb-0.15"):
        shutil.copytree(shared_data / "real" / name, folder / name, symlinks=True)
    (folder / "cluster.toml").write_text(CONFIG)
    config = load(folder / "cluster.toml")
    ingest(config)
    return connect(config)


def test_real_logs_are_runs_with_their_ends(real_runs: duckdb.DuckDBPyConnection) -> None:
    """The finished run has a truncated and a bit-flipped copy beside its log, which change nothing."""
    rows = real_runs.execute(
        "select run_id, state, exit_code, end_evidence, is_censored, files, processes, history_rows, rework_steps"
        " from marts.runs where run_id_evidence = 'log' order by run_id"
    ).fetchall()
    assert rows == [
        ("h2crash01", "failed", 1, "exit_record", False, 1, 1, 25, 0),
        ("h2finish01", "finished", 0, "exit_record", False, 3, 1, 60, 0),
        ("h2kill01", "crashed", None, "no_exit_record", True, 1, 1, 44, 0),
        ("oldfinish01", "finished", 0, "exit_record", False, 1, 1, 40, 0),
    ]


def test_a_missing_exit_record_leaves_the_last_sign_of_life(real_runs: duckdb.DuckDBPyConnection) -> None:
    row = real_runs.execute(
        "select ended_at - last_step_at > interval 20 seconds, nan_steps, infinite_steps"
        " from marts.runs where run_id = 'h2kill01'"
    ).fetchone()
    assert row == (True, 1, 2)


def test_an_export_says_what_the_log_says(real_runs: duckdb.DuckDBPyConnection) -> None:
    """The JSON lines hold the finished run's steps and values; their file's name is no run's."""
    of_run = 'select step, "at", metric, value, value_kind from marts.run_steps where run_id = ? order by all'
    logged = real_runs.execute(of_run, ["h2finish01"]).fetchall()
    assert len(logged) == 321
    assert real_runs.execute(of_run, ["wandb-history_finish"]).fetchall() == logged


def test_a_long_history_is_built_in_little_memory(tmp_path: Path) -> None:
    given = {
        "files": [{"id": f"log{i}", "kind": "wandb", "latest_at": "2026-03-20T00:00:00Z"} for i in range(2)],
        "runs": "file, run_id, run_id_evidence, process_started_at, first_at, latest_at, end_evidence, writer_id\n"
        "log0, r, log, 2026-03-01T00:00Z, 2026-03-01T00:00Z, 2026-03-02T00:00Z, exit_record, w0\n"
        "log1, r, log, 2026-03-03T00:00Z, 2026-03-03T00:00Z, 2026-03-04T00:00Z, exit_record, w1\n",
    }
    with warehouse_of(given) as con:
        con.execute(
            f"""insert into raw.run_step_records by name
            select 'log' || file as file_id, row as line, 'r' as run_id, row + file * {ROWS // 2} as step,
                timestamptz '2026-03-01 00:00+00' + to_hours(48 * file::integer) + to_milliseconds(row * 300) as "at",
                'm' || metric as metric, row as value, 'number' as value_kind
            from range(2) as files(file), range({ROWS // 2}) as rows(row), range({METRICS}) as metrics(metric)"""
        )
        con.execute(f"set memory_limit = '200MB'; set temp_directory = '{tmp_path}'")
        build(con, only=["runs", "run_steps"])
        assert con.execute("select history_rows, steps, rework_steps from marts.runs").fetchall() == [(ROWS, ROWS, 0)]
        assert con.execute("select count(*) from marts.run_steps").fetchone() == (ROWS * METRICS,)
