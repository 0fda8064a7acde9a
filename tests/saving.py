"""A small cluster whose telemetry holds loads and saves: three nodes of two GPUs, two hours at 60 s.

Two gang sessions load for five minutes, then train and save every 15 min for one minute; the first fails, no run is
logged.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from gangline.config import Config, load
from gangline.ingest import ingest
from tests.configs import cluster_head, source_entry
from tests.telemetries import MINUTES, START_MS, STEP_MS, gpu_lines, line

NODES = ("n1", "n2", "n3")
CONFIG = (
    cluster_head("norma", "n[1-3]", gpus_per_node=2, gang_min_nodes=3)
    + """\
[storage]
max_read_gb_per_s = 10
max_write_gb_per_s = 8
[checkpoints]
save_start_gb_per_s = 2
save_end_gb_per_s = 1
load_read_gb_per_s = 1
load_min_session_min = 30
[training]
gpu_util_min_min = 10
"""
    + source_entry("sessions_csv", "sessions.csv", "2026-03-01T02:00:00Z")
    + source_entry("prometheus", "telemetry*")
)
SESSIONS = """session_id,job_name,owner,nodes,gpu_count,started_at,ended_at,end_reason
g1,train,ana,"n[1-3]",6,2026-03-01T00:00Z,2026-03-01T00:55Z,failed
g2,train,ana,"n[1-3]",6,2026-03-01T01:00Z,,running
"""
SAVES = (20, 35, 50, 80, 95, 110)
LOADS = (*range(1, 6), *range(61, 66))
BYTES_PER_MINUTE = 60e9


def lines() -> list[str]:
    """Every node writes 1 GB/s in a save and reads 1 GB/s in a load; its GPUs fall to 40 % and to none."""

    def use(node: str, gpu: int, minute: int) -> float:
        return 40.0 if minute in SAVES else 0.0 if minute in LOADS or 55 <= minute < 60 else 90.0

    return [
        *gpu_lines("DCGM_FI_DEV_GPU_UTIL", use, NODES),
        *_counters("node_mountstats_nfs_operations_sent_bytes_total", "WRITE", SAVES),
        *_counters("node_mountstats_nfs_operations_received_bytes_total", "READ", LOADS),
        *_levels("node_memory_Dirty_bytes", lambda minute: 3e9 if minute - 1 in SAVES else 1e9),
    ]


def cluster(folder: Path, telemetry: list[str], *, sessions: str = SESSIONS, config: str = CONFIG) -> Config:
    """A warehouse of these lines."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cluster.toml").write_text(config)
    (folder / "sessions.csv").write_text(sessions)
    if telemetry:
        (folder / "telemetry.jsonl").write_text("\n".join(telemetry) + "\n")
    loaded = load(folder / "cluster.toml")
    ingest(loaded)
    return loaded


def _counters(metric: str, operation: str, active: tuple[int, ...]) -> Iterator[str]:
    for node in NODES:
        counted = [BYTES_PER_MINUTE * sum(before < minute for before in active) for minute in range(MINUTES)]
        yield _of(node, metric, counted, operation=operation, export="nas:/ckpt")


def _levels(metric: str, value: Callable[[int], float]) -> Iterator[str]:
    for node in NODES:
        yield _of(node, metric, [value(minute) for minute in range(MINUTES)])


def _of(node: str, metric: str, values: list[float], **labels: str) -> str:
    points = [(START_MS + STEP_MS * minute, value) for minute, value in enumerate(values)]
    return line({"__name__": metric, "instance": f"{node}:9100", "job": "node"} | labels, points)
