"""A small cluster with whole mount statistics, over midnight, whose true sums are told by plain loops.

Gang g (n1 to n3, of 4) starts at 23:00, loads from 23:02 to 23:10 and saves at 23:20 and 23:59; s uses n4 alone. n1 is
scraped on the half minute; n2 ten seconds later, and it mounts the export by two protocols that count alike; n3 has two
mounts that differ, and its counters begin anew at 23:21.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from gangline.config import Config, load
from gangline.ingest import ingest
from tests.configs import cluster_head, source_entry

START = datetime(2026, 3, 1, 23, tzinfo=UTC)
STEP_S, STEPS = 30, 240
NODES = ("n1", "n2", "n3", "n4")
MEMBERS = NODES[:3]
LATE_S = {"n2": 10}
LOAD, SAVES = (2, 10), ((20, 22), (59, 61))  # minutes
RESET_STEP = 42
MB = 1e6
CONFIG = (
    cluster_head("norma", "n[1-4]", gpus_per_node=2, gang_min_nodes=3)
    + """\
[checkpoints]
save_start_gb_per_s = 0.03
save_end_gb_per_s = 0.015
load_read_gb_per_s = 0.03
"""
    + source_entry("sessions_csv", "sessions.csv", "2026-03-02T01:00:00Z")
    + source_entry("prometheus", "telemetry*")
)
SESSIONS = """session_id,job_name,owner,nodes,gpu_count,started_at,ended_at,end_reason
g,train,ana,"n[1-3]",6,2026-03-01T23:00Z,2026-03-02T01:00Z,completed
s,probe,bo,n4,2,2026-03-01T23:00Z,2026-03-02T01:00Z,completed
"""
# Per second of a save or load, by operation: requests, and of each its queue and answer in s, bytes sent and received.
PER_REQUEST = {
    "WRITE": (20.0, 1.89, 0.136, 1.0 * MB, 140.0),
    "READ": (40.0, 0.0542, 0.024, 200.0, 0.5 * MB),
    "GETATTR": (0.4, 0.0, 0.001, 180.0, 160.0),
    "COMMIT": (0.2, 0.0, 0.05, 200.0, 200.0),
}
COUNTED = {
    "requests": "requests_total",
    "request_s": "request_time_seconds_total",
    "queue_s": "queue_time_seconds_total",
    "response_s": "response_time_seconds_total",
    "sent_bytes": "sent_bytes_total",
    "received_bytes": "received_bytes_total",
}


@dataclass
class Cluster:
    """The lines of an export, and every counter's samples by node, name and operation, mounts that differ added up."""

    lines: list[str] = field(default_factory=list)
    samples: dict[tuple[str, str, str], list[list[tuple[float, float]]]] = field(default_factory=dict)

    def true_increase(self, node: str, counted: str, operation: str, start_s: float, end_s: float) -> float:
        """What was counted in [start, end), by loops: a drop counts from 0, a delta across an edge by time."""
        total = 0.0
        for points in self.samples.get((node, counted, operation), []):
            for (at, before), (until, after) in pairwise(points):
                inside = min(until, end_s) - max(at, start_s)
                if inside > 0:
                    total += (after - before if after >= before else after) * inside / (until - at)
        return total


def is_within(step: int, span: tuple[int, int]) -> bool:
    """Whether a scrape step lies in a stretch of minutes."""
    return 2 * span[0] <= step < 2 * span[1]


def is_saving(step: int) -> bool:
    """Whether a step is one of a save."""
    return any(is_within(step, save) for save in SAVES)


def rate(operation: str, step: int) -> float:
    """Requests per second of a node."""
    of_save, of_load = is_saving(step), is_within(step, LOAD)
    busy = {"WRITE": of_save, "READ": of_load, "GETATTR": True, "COMMIT": of_save}[operation]
    return PER_REQUEST[operation][0] if busy else 0.0


def story(metrics: Iterable[str] = COUNTED) -> Cluster:
    """The whole export; `metrics`: only these of an operation's counters."""
    cluster = Cluster()
    for node in NODES:
        for operation, (_, queue, answer, sent, received) in PER_REQUEST.items():
            each = dict(zip(COUNTED, (1.0, queue + answer, queue, answer, sent, received), strict=True))
            requests = [STEP_S * rate(operation, step) for step in range(STEPS)]
            for counted in metrics:
                name = f"node_mountstats_nfs_operations_{COUNTED[counted]}"
                amounts = [count * each[counted] for count in requests]
                _mounts(cluster, node, name, (counted, operation), amounts)
        moved = {name: [STEP_S * rate(operation, step) * MB for step in range(STEPS)] for name, operation in _PROGRAM}
        for name, amounts in moved.items():
            _mounts(cluster, node, f"node_mountstats_nfs_{name}", (name, ""), amounts)
        _levels(cluster, node)
        _use(cluster, node)
    return cluster


def ingested(folder: Path, lines: Iterable[str], sessions: str = SESSIONS, toml: str = CONFIG) -> Config:
    """A warehouse of these lines."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cluster.toml").write_text(toml)
    (folder / "sessions.csv").write_text(sessions)
    (folder / "telemetry.jsonl").write_text("".join(f"{line}\n" for line in lines))
    config = load(folder / "cluster.toml")
    ingest(config)
    return config


def second(minutes: float) -> datetime:
    """An instant of the story."""
    return START + timedelta(minutes=minutes)


_PROGRAM = (("write_bytes_total", "WRITE"), ("read_bytes_total", "READ"))


def _mounts(cluster: Cluster, node: str, name: str, key: tuple[str, str], amounts: list[float]) -> None:
    """n2 tells one mount twice, n3 has two that share the work unevenly."""
    shares = {"n3": (("tcp", 0.75), ("rdma", 0.25))}.get(node, (("tcp", 1.0),))
    for protocol, share in shares:
        cluster.samples.setdefault((node, *key), []).append(
            _counter(cluster, node, name, key[1], protocol, [share * amount for amount in amounts])
        )
    if node == "n2":
        _counter(cluster, node, name, key[1], "rdma", amounts)


def _counter(
    cluster: Cluster, node: str, name: str, operation: str, protocol: str, amounts: list[float]
) -> list[tuple[float, float]]:
    value, points = 5_000.0, []
    for step, amount in enumerate(amounts):
        if node == "n3" and step == RESET_STEP:
            value = 0.0
        points.append((float(STEP_S * step + LATE_S.get(node, 0)), value))
        value += amount
    labels = {"operation": operation} if operation else {}
    mount = {"export": "nas:/data", "protocol": protocol, "mountaddr": "10.0.0.1"}
    _line(cluster, node, name, points, **mount, **labels)
    return points


def _levels(cluster: Cluster, node: str) -> None:
    """Shared memory rises a minute before a save, dirty pages at its start, pages being written half a minute later."""
    held = 48e9 if node != "n3" else 9e9
    for name, ahead, high in (("Shmem", 2, held), ("Dirty", 0, 4e9), ("Writeback", -1, 3e9)):
        values = [high if any(is_within(step + ahead, save) for save in SAVES) else 1e9 for step in range(STEPS)]
        _line(cluster, node, f"node_memory_{name}_bytes", _points(node, values))
    grown = [1e9 + 1e8 * max(0, min(step - 4, 16)) for step in range(STEPS)]
    _line(cluster, node, "node_memory_Cached_bytes", _points(node, grown))


def _use(cluster: Cluster, node: str) -> None:
    values = [3.0 if is_within(step, (0, 12)) else 98.0 for step in range(STEPS)]
    labels = {"__name__": "DCGM_FI_DEV_GPU_UTIL", "Hostname": node, "gpu": "0"}
    _append(cluster, labels, _points(node, values))


def _points(node: str, values: list[float]) -> list[tuple[float, float]]:
    return [(float(STEP_S * step + LATE_S.get(node, 0)), value) for step, value in enumerate(values)]


def _line(cluster: Cluster, node: str, name: str, points: list[tuple[float, float]], **labels: str) -> None:
    _append(cluster, {"__name__": name, "instance": f"{node}:9100"} | labels, points)


def _append(cluster: Cluster, labels: dict[str, str], points: list[tuple[float, float]]) -> None:
    start_ms = round(START.timestamp() * 1000)
    times, values = zip(*((start_ms + round(1000 * at), value) for at, value in points), strict=True)
    cluster.lines.append(json.dumps({"metric": labels, "values": values, "timestamps": times}))
