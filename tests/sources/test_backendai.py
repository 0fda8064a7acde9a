"""The same ten sessions in every form of export, and what one form has that another lacks."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from gangline.hostlists import expand
from gangline.sources import backendai
from gangline.sources.records import SESSION_NODE_RECORDS, SESSION_RECORDS, SESSION_STATUS_RECORDS
from tests.sources.reading import Reading, read_file

FIXTURES = Path(__file__).parent / "fixtures" / "backendai"
OWNER = "KEYXQ7H2K5M8N1P4R6T9"
N1, N2, N3 = "gpu-node-01", "gpu-node-02", "gpu-node-03"


def at(text: str) -> datetime:
    """An instant of 20 or 21 November, as `20 03:04:05`; all of them carry the same fraction."""
    day, time = text.split()
    return datetime.fromisoformat(f"2026-11-{day}T{time}.123456").replace(tzinfo=UTC)


def session(
    job_name: str, nodes: list[str], gpus: int, created: str, started: str, ended: str, state: str, key: str
) -> dict[str, Any]:
    return {
        "job_name": job_name,
        "owner": OWNER,
        "partition": "nvidia-H100",
        "nodes": nodes,
        "gpu_count": float(gpus),
        "created_at": at(created),
        "started_at": at(started) if started else None,
        "ended_at": at(ended) if ended else None,
        "has_started": bool(started),
        "source_state": state,
        "state_key": key,
        "end_source": "session" if ended else None,
    }


_PRETRAIN = "llama70b-pretrain-000"
TEN = {
    "9531985d": session(
        _PRETRAIN + "1",
        [N1, N2, N3],
        24,
        "20 03:04:05",
        "20 03:04:57",
        "21 03:05:15",
        "TERMINATED self-terminated",
        "self-terminated",
    ),
    "254b0c4e": session(
        "jupyter-idle", [N2], 1, "20 08:37:25", "20 08:38:17", "20 10:38:20", "TERMINATED idle-timeout", "idle-timeout"
    ),
    "e647cb8f": session(
        "user-cancelled", [], 0, "20 11:24:05", "", "20 11:25:45", "CANCELLED user-requested", "user-requested"
    ),
    "66836886": session(
        "eval-forceterm",
        [N3],
        8,
        "20 14:10:45",
        "20 14:11:37",
        "21 02:40:45",
        "TERMINATED force-terminated",
        "force-terminated",
    ),
    # Preempted and scheduled again: PENDING and RUNNING of its history are the later visits.
    "5d158a2f": session("llama70b-resched", [N1, N2], 16, "20 16:24:05", "20 17:06:25", "", "RUNNING", "RUNNING"),
    "d0eda82f": session(
        _PRETRAIN + "2",
        [N1, N2, N3],
        24,
        "21 04:04:05",
        "21 04:04:57",
        "21 06:35:15",
        "TERMINATED task-failed",
        "task-failed",
    ),
    # ERROR leaves terminated_at empty: the end is the history's, or the last change of status.
    "72e6cc3a": session(_PRETRAIN + "3", [], 0, "21 06:50:45", "", "21 06:52:20", "ERROR failed-to-create", "ERROR"),
    "0f88080b": session(
        _PRETRAIN + "4", [N1, N2, N3], 24, "21 07:07:25", "21 07:08:17", "", "RUNNING_DEGRADED", "RUNNING_DEGRADED"
    ),
    "230d977e": session('sweep-α-한글, "q"', [], 8, "21 09:37:25", "", "", "PENDING no-available-instances", "PENDING"),
    "e25a7605": session("jupyter-kim", [N1], 1, "21 09:54:05", "21 09:54:57", "", "RUNNING", "RUNNING"),
}
TEN["230d977e"]["nodes"] = None  # it waits: where it will run no one knows

IDENTITY = {"job_name", "owner", "created_at", "source_state", "state_key"}
ALL = frozenset(TEN["9531985d"])
FULL_FIXTURES = (
    "copy_sessions.txt",
    "row_to_json_sessions.jsonl",
    "json_agg_sessions.json",
    "legacy_compute_session_list.json",
)
FULL_REAL = ("psql_csv_sessions.csv", "gql_compute_session_nodes.json")
CLI_REAL = ("cli_session_list.json", "cli_session_list_2pages_concatenated.json")


def sessions_of(reading: Reading) -> dict[str, dict[str, object]]:
    return {str(row["session_id"])[:8]: row for row in reading.rows(SESSION_RECORDS)}


def check_sessions(reading: Reading, columns: frozenset[str] | set[str], skip: frozenset[str] = frozenset()) -> None:
    """Each of the ten, in every column of `columns`; in the others (but `skip`) the right value or none."""
    found = sessions_of(reading)
    assert found.keys() == TEN.keys()
    for short, expected in TEN.items():
        for column, value in expected.items():
            if column in columns:
                assert found[short][column] == value, (short, column)
            elif column not in skip:
                assert found[short][column] in (None, value), (short, column)


def merged_nodes(reading: Reading) -> dict[str, list[str]]:
    """Nodes per session by its kernels."""
    frame = reading.frames[SESSION_NODE_RECORDS].drop_nulls("node")
    grouped = frame.group_by("session_id").agg(pl.col("node").unique().sort())
    return {row["session_id"][:8]: row["node"] for row in grouped.to_dicts()}


@pytest.mark.parametrize("name", FULL_FIXTURES)
def test_forms_that_say_everything(name: str) -> None:
    reading = read_file(backendai, FIXTURES / name)
    check_sessions(reading, ALL)
    assert (reading.log.records, reading.log.loaded, reading.log.oddities) == (10, 10, {})


@pytest.mark.parametrize("name", FULL_REAL)
def test_real_forms_that_say_everything(shared_data: Path, name: str) -> None:
    reading = read_file(backendai, shared_data / "real" / "backendai" / name)
    check_sessions(reading, ALL)
    assert (reading.log.records, reading.log.loaded, reading.log.oddities) == (10, 10, {})


@pytest.mark.parametrize("name", CLI_REAL)
def test_the_cli_knows_ends_but_no_nodes_and_hardly_a_start(shared_data: Path, name: str) -> None:
    reading = read_file(backendai, shared_data / "real" / "backendai" / name)
    check_sessions(reading, IDENTITY | {"ended_at", "end_source"})
    found = sessions_of(reading)
    starts = {short: row["started_at"] for short, row in found.items() if row["started_at"]}
    assert starts == {"e25a7605": at("21 09:54:57"), "5d158a2f": at("20 17:06:25")}
    # What ended may or may not have run: the CLI keeps no history.
    assert {short: row["has_started"] for short, row in found.items() if row["has_started"] is not None} == {
        **dict.fromkeys(("e25a7605", "5d158a2f", "0f88080b"), True),
        **dict.fromkeys(("230d977e", "e647cb8f"), False),
    }
    assert {short: row["gpu_count"] for short, row in found.items() if row["gpu_count"] is not None} == {
        "e25a7605": 1.0,
        "5d158a2f": 16.0,
        "0f88080b": 24.0,
        "e647cb8f": 0.0,
    }


def test_pages_in_a_row_are_one_list(shared_data: Path) -> None:
    one, two = (read_file(backendai, shared_data / "real" / "backendai" / name) for name in CLI_REAL)
    assert two.rows(SESSION_RECORDS) == one.rows(SESSION_RECORDS)


def test_admin_export_repeats_the_session_beside_each_kernel() -> None:
    reading = read_file(backendai, FIXTURES / "admin_export.csv")
    check_sessions(reading, IDENTITY | {"partition"}, frozenset({"gpu_count"}))
    found = sessions_of(reading)
    held = {short: row["gpu_count"] for short, row in TEN.items()}
    assert {short: row["gpu_count"] for short, row in found.items()} == {**held, "72e6cc3a": 24.0}  # as requested
    assert len(reading.rows(SESSION_RECORDS)) == 10
    assert {row["started_at"] for row in found.values()} == {None}
    assert found["72e6cc3a"]["ended_at"] is None  # its terminated_at is empty, and there is no history
    assert found["9531985d"]["ended_at"] == at("21 03:05:15")
    assert merged_nodes(reading) == {
        **{short: row["nodes"] for short, row in TEN.items() if row["nodes"]},
        "72e6cc3a": [N1, N2, N3],
    }
    assert (reading.log.records, reading.log.loaded, reading.log.oddities) == (20, 20, {})


def check_kernels(reading: Reading, is_lost_end_known: bool) -> None:
    parts = reading.frames[SESSION_NODE_RECORDS]
    assert parts.height == 20
    assert parts["part_id"].n_unique() == 20
    degraded = parts.filter(pl.col("session_id").str.starts_with("0f88080b")).sort("node")
    assert degraded["node"].to_list() == [N1, N2, N3]
    assert degraded["started_at"].to_list() == [at("21 07:08:17")] * 3
    lost_at = at("21 08:30:45") if is_lost_end_known else None
    assert degraded["ended_at"].to_list() == [None, lost_at, None]
    assert degraded["state_key"].to_list() == ["RUNNING", "agent-lost", "RUNNING"]


def test_kernel_rows_fill_nodes_ends_and_gpus(shared_data: Path) -> None:
    reading = read_file(backendai, shared_data / "real" / "backendai" / "psql_csv_kernels.csv")
    check_kernels(reading, is_lost_end_known=True)
    summed = reading.frames[SESSION_NODE_RECORDS].group_by("session_id").agg(pl.col("gpu_count").sum())
    gpus = {row["session_id"][:8]: row["gpu_count"] for row in summed.to_dicts()}
    ran = {short: row["gpu_count"] for short, row in TEN.items() if row["gpu_count"]}
    assert gpus == {**ran, "e647cb8f": 16.0, "72e6cc3a": 24.0}  # wanted, though never held
    thin = sessions_of(reading)
    assert thin.keys() == TEN.keys()
    for short, row in thin.items():
        assert (row["job_name"], row["created_at"]) == (TEN[short]["job_name"], TEN[short]["created_at"])
        assert (row["state_key"], row["ended_at"], row["has_started"], row["nodes"]) == (None,) * 4


def test_kernels_of_row_to_json_and_of_graphql(shared_data: Path) -> None:
    check_kernels(read_file(backendai, FIXTURES / "row_to_json_kernels.jsonl"), is_lost_end_known=True)
    nested = read_file(backendai, shared_data / "real" / "backendai" / "gql_compute_session_nodes.json")
    check_kernels(nested, is_lost_end_known=False)  # GraphQL keeps no history of a kernel


def test_pg_dump_gives_its_session_and_kernel_tables() -> None:
    reading = read_file(backendai, FIXTURES / "pg_dump.sql")
    assert (reading.log.records, reading.log.loaded) == (31, 30)
    assert reading.log.ignored == {"row of another table": 1}
    check_kernels(reading, is_lost_end_known=True)
    full = [row for row in reading.rows(SESSION_RECORDS) if row["state_key"] is not None]
    assert {str(row["session_id"])[:8]: {column: row[column] for column in ALL} for row in full} == TEN


def test_scheduling_history_keeps_every_visit(shared_data: Path) -> None:
    reading = read_file(backendai, shared_data / "real" / "backendai" / "psql_csv_session_scheduling_history.csv")
    visits = [(row["status"], row["at"]) for row in reading.rows(SESSION_STATUS_RECORDS)]
    assert visits == [
        ("SCHEDULED", at("20 16:24:09")),
        ("PREEMPTED", at("20 17:04:55")),
        ("PENDING", at("20 17:05:35")),
    ]
    assert reading.log.ignored == {"step without a new status": 1}


def test_truth_in_two_forms(shared_data: Path) -> None:
    """The same cluster as psql CSV and as sessions_csv."""
    truth = shared_data / "truth" / "sessions"
    found = read_file(backendai, truth / "backendai" / "raw" / "sessions.csv").frames[SESSION_RECORDS]
    plain = pl.read_csv(truth / "csv" / "raw" / "sessions.csv", try_parse_dates=True)
    keys = {
        "task-finished": "completed",
        "failed-to-start": "failed",
        "user-requested": "killed",
        "agent-termination": "node_fail",
        "task-timeout": "timeout",
        "RUNNING": "running",
    }
    columns = ["job_name", "node_count", "gpu_count", "created_at", "started_at", "ended_at", "end_reason"]
    mine = found.with_columns(
        pl.col("nodes").list.len().cast(pl.Int64).alias("node_count"),
        pl.col("state_key").replace_strict(keys).alias("end_reason"),
    )
    theirs = plain.with_columns(
        pl.col("gpu_count").cast(pl.Float64),
        pl.col("created_at", "started_at", "ended_at").cast(pl.Datetime("us", "UTC")),
        node_count=pl.Series([len(nodes_named(text)) for text in plain["nodes"]], dtype=pl.Int64),
    )
    assert mine.select(columns).sort(columns).equals(theirs.select(columns).sort(columns))
    assert mine.height == 406


def nodes_named(text: str) -> tuple[str, ...]:
    return expand(text.replace(";", ","))
