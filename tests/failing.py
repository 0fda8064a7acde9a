"""A small cluster with kernel logs, sessions and telemetry in which nodes fail: ten nodes, two hours of March.

g1 (n01 to n09) fails at 01:00, a minute after n02's GPU fell off the bus, which its interrupts tell; g2 goes on without
n02. n03 has an XID 31 that nothing follows from. GPUs of n04 and n05 remap rows, and n06 answers GETATTR late.
"""

import atexit
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from gangline.config import Config, load
from gangline.ingest import ingest
from gangline.windows import Window
from tests.configs import cluster_head, source_entry

START = datetime(2026, 3, 1, tzinfo=UTC)
MINUTES = 120
NODES = tuple(f"n{place:02d}" for place in range(1, 11))
LOST_AT, ENDED_AT = 59, 60
CONFIG = (
    cluster_head("{name}", "n[01-10]", gpus_per_node=1, gang_min_nodes=8)
    + source_entry("sessions_csv", "sessions.csv", "2026-03-01T02:00:00Z")
    + source_entry("kernel_log", "kern.log", "2026-03-01T02:00:00Z")
    + source_entry("prometheus", "telemetry.json*")
)
SESSIONS = """session_id,job_name,owner,nodes,gpu_count,created_at,started_at,ended_at,end_reason
g1,train,ana,"n[01-09]",9,2026-03-01T00:00Z,2026-03-01T00:00Z,2026-03-01T01:00Z,failed
g2,train,ana,"n01,n[03-10]",9,2026-03-01T01:10Z,2026-03-01T01:10Z,2026-03-01T02:00Z,completed
s1,probe,bo,n10,1,2026-03-01T00:05Z,2026-03-01T00:05Z,2026-03-01T00:20Z,failed
"""
Value = Callable[[str, int], float]


def minute(count: float) -> datetime:
    """An instant of the story."""
    return START + timedelta(minutes=count)


def window() -> Window:
    """Its two hours."""
    return Window.whole(START, minute(MINUTES), "UTC")


def _kernel_lines() -> Iterator[str]:
    for node in NODES[:3]:
        yield f"{START.isoformat()} {node} kernel: [1.0] Linux version 6.8\n"
    told = "NVRM: Xid (PCI:0000:1b:00): {code}, pid=7, name=python, {text}"
    for at, node, code, text in (
        (20, "n03", 31, "MMU Fault <script>alert(1)</script>"),
        (LOST_AT, "n02", 79, "GPU has fallen off the bus."),
    ):
        yield f"{minute(at).isoformat()} {node} kernel: [9.0] {told.format(code=code, text=text)}\n"


def _series(metric: str, value: Value, labels: Callable[[str], dict[str, str]]) -> Iterator[str]:
    for node in NODES:
        times = [round(minute(each).timestamp() * 1000) for each in range(MINUTES)]
        values = [value(node, each) for each in range(MINUTES)]
        yield json.dumps({"metric": {"__name__": metric} | labels(node), "values": values, "timestamps": times})


def _is_training(node: str, at: int) -> bool:
    return at < (LOST_AT if node == "n02" else ENDED_AT)


def _interrupts(node: str, at: int) -> float:
    """3,000 a second while it trains, and 100 more for the odd nodes; 700 after."""
    trained = min(at, LOST_AT if node == "n02" else ENDED_AT)
    return 60.0 * (3000 + 10 * int(node[1:])) * trained + 60.0 * 700 * (at - trained)


def _telemetry() -> Iterator[str]:
    def gpu(node: str) -> dict[str, str]:
        return {"Hostname": node, "gpu": "0", "UUID": f"GPU-{node}", "job": "dcgm"}

    def mount(node: str) -> dict[str, str]:
        return {"instance": f"{node}:9100", "job": "node", "export": "nas:/data", "operation": "GETATTR"}

    def plain(node: str) -> dict[str, str]:
        return {"instance": f"{node}:9100", "job": "node"}

    def response(node: str, at: int) -> float:
        late = 0.02 * 4 * (at - LOST_AT) if node == "n06" and at > LOST_AT else 0.0
        return 0.0005 * 4 * at + late

    yield from _series("node_intr_total", _interrupts, plain)
    yield from _series("node_procs_running", lambda node, at: 12.0 if _is_training(node, at) else 0.0, plain)
    yield from _series("node_mountstats_nfs_operations_requests_total", lambda node, at: 4.0 * at, mount)
    yield from _series("node_mountstats_nfs_operations_response_time_seconds_total", response, mount)
    remapped = {
        "CORRECTABLE_REMAPPED_ROWS": lambda node, at: 20.0 + max(0, at - 100) if node == "n04" else 0.0,
        "UNCORRECTABLE_REMAPPED_ROWS": lambda node, at: float(node == "n05" and at >= 30),
        "ROW_REMAP_FAILURE": lambda node, at: float(node == "n04" and at >= 118),
    }
    for metric, value in remapped.items():
        yield from _series(f"DCGM_FI_DEV_{metric}", value, gpu)


@cache
def lepus() -> Config:
    """The cluster, ingested once a test run."""
    folder = Path(tempfile.mkdtemp(prefix="gangline-failing-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return written(folder, CONFIG.format(name="lepus"))


def written(folder: Path, toml: str) -> Config:
    """The story in a folder, ingested."""
    (folder / "cluster.toml").write_text(toml)
    (folder / "sessions.csv").write_text(SESSIONS)
    (folder / "kern.log").write_text("".join(_kernel_lines()))
    (folder / "telemetry.json").write_text("\n".join(_telemetry()) + "\n")
    config = load(folder / "cluster.toml")
    ingest(config)
    return config
