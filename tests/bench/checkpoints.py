"""A made-up cluster of 63 nodes that trains, saves and loads at 30 s, written straight into its store."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gangline.config import load
from gangline.ingest import ingest
from gangline.ingest.running import rebuild_models
from gangline.sources.samples import SampleBatch
from gangline.store.identity import NodeRule
from gangline.store.recording import record_written
from gangline.store.sink import SampleSink
from gangline.warehouse.opening import telemetry_of
from gangline.warehouse.writing import writing

WRITE = "node_mountstats_nfs_operations_sent_bytes_total"
READ = "node_mountstats_nfs_operations_received_bytes_total"
UTIL = "DCGM_FI_DEV_GPU_UTIL"
NODES, GPUS = range(62, 125), 8
STEP_MS, DAY_STEPS = 30_000, 2880
START = datetime(2025, 9, 18, tzinfo=UTC)
START_MS = round(START.timestamp() * 1000)
SESSION_H, GAP_H = 54, 1
LOAD_STEPS, SAVE_EVERY, SAVE_STEPS = 66, 270, 2
CONFIG = """
[cluster]
name = "bench"
time_zone = "UTC"
nodes = ["gpu[062-124]"]
gang_min_nodes = 60
[storage]
max_read_gb_per_s = 700
max_write_gb_per_s = 250
[[sources]]
kind = "sessions_csv"
path = "sessions.csv"
"""
HEADER = "session_id,job_name,owner,nodes,gpu_count,started_at,ended_at,end_reason"


def write_sessions(folder: Path, days: int) -> Path:
    """Writes the config and gang sessions of 60 nodes, and makes the warehouse; gives the config's path."""
    folder.mkdir(parents=True)
    (folder / "cluster.toml").write_text(CONFIG)
    (folder / "sessions.csv").write_text("\n".join([HEADER, *_sessions(days)]) + "\n")
    ingest(load(folder / "cluster.toml"))
    return folder / "cluster.toml"


def store_samples(path: Path, days: int, metrics: tuple[str, ...]) -> int:
    """Puts some metrics of every node into the store and builds the models; gives how many samples."""
    config = load(path)
    telemetry = config.telemetry
    with writing(config) as con:
        sink = SampleSink(telemetry_of(config), NodeRule(tuple(telemetry.node_labels), tuple(telemetry.node_strip)))
        samples = 0
        for batch in _batches(days, metrics):
            sink.take(batch)
            samples += batch.values.size
        record_written(con, "-".join(metrics), sink.finish())
    rebuild_models(config)
    return samples


def _sessions(days: int) -> Iterator[str]:
    for place, first_h in enumerate(range(0, 24 * days, SESSION_H)):
        start, end = (
            START + timedelta(hours=first_h + GAP_H),
            START + timedelta(hours=min(first_h + SESSION_H, 24 * days)),
        )
        yield f'j{place},train,ana,"gpu[062-121]",480,{start:%FT%TZ},{end:%FT%TZ},failed'


def _batches(days: int, metrics: tuple[str, ...]) -> Iterator[SampleBatch]:
    """Day by day, as files of exports are; nodes are scraped one after the other."""
    written, read, use = _courses(days)
    numbers = np.random.default_rng(1)
    for day in range(days):
        own = slice(day * DAY_STEPS, (day + 1) * DAY_STEPS)
        for node in NODES:
            times_ms = START_MS + STEP_MS * np.arange(own.start, own.stop) + node * 317 % STEP_MS
            for metric, operation, course in ((WRITE, "WRITE", written), (READ, "READ", read)):
                if metric in metrics:
                    labels = {"__name__": metric, "instance": f"gpu{node:03d}:9100", "operation": operation}
                    yield SampleBatch(labels, times_ms, np.round(course[own] * (1 + node / 1e4)))
            for gpu in range(GPUS) if UTIL in metrics else ():
                labels = {"__name__": UTIL, "Hostname": f"gpu{node:03d}", "gpu": str(gpu)}
                yield SampleBatch(labels, times_ms, use[own] + numbers.integers(-2, 3, DAY_STEPS))


def _courses(days: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """What a node has written and read by each step, and how busy its GPUs are."""
    written, read, use = np.zeros(days * DAY_STEPS), np.zeros(days * DAY_STEPS), np.full(days * DAY_STEPS, 97.0)
    steps_h = DAY_STEPS // 24
    for first in range(0, days * DAY_STEPS, SESSION_H * steps_h):
        begun = first + GAP_H * steps_h
        read[begun : begun + LOAD_STEPS], use[begun : begun + LOAD_STEPS] = 2.5e9 * 30, 3.0
        for save in range(begun + SAVE_EVERY, first + SESSION_H * steps_h - 1, SAVE_EVERY):
            written[save : save + SAVE_STEPS], use[save : save + SAVE_STEPS] = 0.67e9 * 30, 30.0
    return np.cumsum(written), np.cumsum(read), use
