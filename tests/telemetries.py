"""Small clusters with telemetry: four nodes of two GPUs, two hours at 60 s, in VictoriaMetrics lines."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gangline.config import Config, load
from gangline.ingest import ingest
from tests.configs import cluster_head, source_entry

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
START_MS = round(MARCH.timestamp() * 1000)
STEP_MS = 60_000
MINUTES = 120
NODES = ("n1", "n2", "n3", "n4")
CONFIG = (
    cluster_head("lyra", "n[1-4]", gpus_per_node=2, gang_min_nodes=3)
    + source_entry("sessions_csv", "sessions.csv", "2026-03-01T02:00:00Z")
    + source_entry("prometheus", "telemetry*")
)
SESSIONS = """session_id,job_name,owner,nodes,gpu_count,started_at,ended_at,end_reason
g,train,ana,"n[1-3]",6,2026-03-01T00:00Z,2026-03-01T02:00Z,completed
s,probe,bo,n4,2,2026-03-01T00:30Z,2026-03-01T01:30Z,completed
"""
Value = Callable[[str, int, int], float | None]  # node, GPU, minute


def line(labels: dict[str, str], points: list[tuple[int, float]]) -> str:
    times, values = zip(*points, strict=True)
    return json.dumps({"metric": labels, "values": values, "timestamps": times})


def gpu_lines(metric: str, value: Value, nodes: tuple[str, ...] = NODES) -> Iterator[str]:
    """A line a GPU; None is a minute without a sample."""
    for node in nodes:
        for gpu in (0, 1):
            points = [(minute, value(node, gpu, minute)) for minute in range(MINUTES)]
            known = [(START_MS + STEP_MS * minute, value) for minute, value in points if value is not None]
            yield line({"__name__": metric, "Hostname": node, "gpu": str(gpu), "job": "dcgm"}, known)


def counter_lines(metric: str, per_s: Callable[[str], float], **labels: str) -> Iterator[str]:
    """A line a node of what grows evenly."""
    for node in NODES:
        points = [(START_MS + STEP_MS * minute, 60.0 * minute * per_s(node)) for minute in range(MINUTES)]
        yield line({"__name__": metric, "instance": f"{node}:9100", "job": "node"} | labels, points)


def usual_lines() -> list[str]:
    """Use of 90 % but for n3, that is at 50 % and silent in the last half hour; n4 idles but for its session."""

    def use(node: str, gpu: int, minute: int) -> float | None:
        if node == "n4":
            return (40.0, 80.0)[gpu] if 30 <= minute < 90 else 0.0
        return None if node == "n3" and minute >= 90 else 50.0 if node == "n3" else 90.0

    written = counter_lines(
        "node_mountstats_nfs_operations_sent_bytes_total", lambda node: 1e6 * int(node[1]), operation="WRITE"
    )
    return [*gpu_lines("DCGM_FI_DEV_GPU_UTIL", use), *written]


def cluster(folder: Path, lines: list[str], sessions: str = SESSIONS) -> Config:
    """A warehouse of these lines."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cluster.toml").write_text(CONFIG)
    (folder / "sessions.csv").write_text(sessions)
    if lines:
        (folder / "telemetry.jsonl").write_text("\n".join(lines) + "\n")
    config = load(folder / "cluster.toml")
    ingest(config)
    return config


def minute(count: int) -> datetime:
    """An instant of the story."""
    return MARCH + timedelta(minutes=count)
