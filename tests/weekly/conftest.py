"""A cluster of four nodes over three weeks, in which everything that a week's page tells of happens once."""

from collections.abc import Iterator

import duckdb
import pytest

from gangline.config import Config, load
from gangline.ingest import ingest
from gangline.warehouse import connect
from gangline.windows import Window
from tests.configs import cluster_head, source_entry

TOML = (
    cluster_head("vega", "n[1-5]", gpus_per_node=8, gang_min_nodes=3)
    + source_entry("sessions_csv", "sessions.csv", "2026-03-23T00:00:00Z")
    + source_entry("incidents", "incidents.csv", "2026-03-23T00:00:00Z")
    + source_entry("kernel_log", "kernel.log")
)
# Of the second week: 10 h of training, 4 h down with an attempt of half an hour in it, 20 h of training to the end.
SESSIONS = """session_id,job_name,owner,nodes,gpu_count,created_at,started_at,ended_at,end_reason
a,train,ana,"n[1-3,5]",32,2026-03-02T00:00Z,2026-03-02T00:00Z,2026-03-03T00:00Z,completed
b,train,ana,"n[1-4]",32,2026-03-10T00:00Z,2026-03-10T00:00Z,2026-03-10T10:00Z,failed
c,train,ana,"n[1-4]",32,2026-03-10T12:00Z,2026-03-10T12:00Z,2026-03-10T12:30Z,failed
d,train,ana,"n[1-4]",32,2026-03-10T14:00Z,2026-03-10T14:00Z,2026-03-11T10:00Z,completed
e,probe,bo,n5,8,2026-03-10T00:00Z,2026-03-10T00:00Z,2026-03-10T05:00Z,completed
f,train,ana,"n[1-3,5]",32,2026-03-17T00:00Z,2026-03-17T00:00Z,2026-03-18T00:00Z,completed
"""
INCIDENTS = """incident_id,node,started_at,ended_at,kind
1,n4,2026-03-03T00:00Z,2026-03-03T06:00Z,fan
2,n1,2026-03-14T00:00Z,,link
"""
KERNEL = (
    "2026-03-10T09:58:00+00:00 n2 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, name=python,"
    " GPU has fallen off the bus.\n"
)
WEEK = Window.week("2026-W11", "UTC")


@pytest.fixture(scope="session")
def vega(tmp_path_factory: pytest.TempPathFactory) -> Config:
    folder = tmp_path_factory.mktemp("vega")
    (folder / "cluster.toml").write_text(TOML)
    (folder / "sessions.csv").write_text(SESSIONS)
    (folder / "incidents.csv").write_text(INCIDENTS)
    (folder / "kernel.log").write_text(KERNEL)
    config = load(folder / "cluster.toml")
    ingest(config)
    return config


@pytest.fixture
def con(vega: Config) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(vega) as opened:
        yield opened
