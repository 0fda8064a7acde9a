"""Ten nodes of which one fails: telemetry before, an XID, the end, an attempt in vain, and training again."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from gangline.config import Config, load
from gangline.ingest import ingest
from gangline.warehouse import connect
from tests.configs import cluster_head, source_entry

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
NODES = tuple(f"n{number:02d}" for number in range(1, 11))
FAULTY = "n07"
END = MARCH + timedelta(hours=10)
STEP_S = 60
TOML = (
    cluster_head("lynx", "n[01-12]", zone="Asia/Seoul", gpus_per_node=8, gang_min_nodes=8)
    + source_entry("sessions_csv", "sessions.csv", "2026-03-03T00:00:00Z")
    + source_entry("incidents", "incidents.csv", "2026-03-03T00:00:00Z")
    + source_entry("kernel_log", "kernel.log")
    + source_entry("prometheus", "telemetry.jsonl")
)
SESSIONS = """session_id,job_name,owner,nodes,gpu_count,created_at,started_at,ended_at,end_reason
a,train,ana,"n[01-10]",80,2026-03-01T00:00Z,2026-03-01T00:00Z,2026-03-01T10:00Z,failed
b,train,ana,"n[01-10]",80,2026-03-01T10:11Z,2026-03-01T10:11Z,2026-03-01T10:30Z,failed
c,train,ana,"n[01-06,08-11]",80,2026-03-01T12:00Z,2026-03-01T12:30Z,2026-03-02T12:30Z,completed
p,probe,bo,n12,8,2026-03-01T00:00Z,2026-03-01T00:00Z,2026-03-01T20:00Z,completed
"""
INCIDENTS = """incident_id,node,started_at,ended_at,kind
7,n07,2026-02-20T00:00Z,2026-02-20T06:00Z,xid_79
8,n03,2026-02-21T00:00Z,2026-02-21T06:00Z,fan | <script>
"""
KERNEL = (
    "2026-03-01T09:58:00+00:00 n07 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, name=python,"
    " GPU has fallen off the bus.\n"
)


def _line(metric: str, node: str, values: list[float]) -> str:
    labels = {"__name__": metric, "instance": f"{node}:9100", "job": "node"}
    start = round(MARCH.timestamp() * 1000)
    times = [start + 1000 * STEP_S * place for place in range(len(values))]
    return json.dumps({"metric": labels, "values": values, "timestamps": times})


def _lines() -> Iterator[str]:
    """Runnable processes of the faulty node fall to 0 five minutes before the end; dirty pages are alike everywhere."""
    minutes = 60 * 12
    for place, node in enumerate(NODES):
        usual = 40 + place % 3
        falls = 60 * 10 - 8 if node == FAULTY else minutes
        yield _line(
            "node_procs_running", node, [usual + minute % 2 if minute < falls else 0 for minute in range(minutes)]
        )
        yield _line("node_memory_Dirty_bytes", node, [1e6] * minutes)


@pytest.fixture(scope="session")
def lynx(tmp_path_factory: pytest.TempPathFactory) -> Config:
    folder: Path = tmp_path_factory.mktemp("lynx")
    (folder / "cluster.toml").write_text(TOML)
    (folder / "sessions.csv").write_text(SESSIONS)
    (folder / "incidents.csv").write_text(INCIDENTS)
    (folder / "kernel.log").write_text(KERNEL)
    (folder / "telemetry.jsonl").write_text("\n".join(_lines()) + "\n")
    config = load(folder / "cluster.toml")
    ingest(config)
    return config


@pytest.fixture
def con(lynx: Config) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(lynx) as opened:
        yield opened
