"""Saves and phases at size: time against a plain scan of the same metrics, memory against 1 GiB.

Both run in one thread, and are compared by processor time: it does not depend on what else the machine does.
"""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from gangline.config import load
from gangline.ingest.checkpoint_phases import fill_checkpoint_phases
from gangline.warehouse import connect
from gangline.warehouse.opening import open_raw, path_of, samples_of
from tests.bench.checkpoints import READ, UTIL, WRITE, store_samples, write_sessions
from tests.bench.measuring import Result, run_apart

SAVE_DAYS = 55  # of what is written alone: ten million samples, quickly made
DAYS = 55 if os.environ.get("BENCH") == "full" else 14
MOST, TIMES, GIB = 2.0, 3, 1024**3


def checkpoints(folder: Path) -> Iterator[Result]:
    """Saves of 63 nodes from what they write; then phases, with what they read and how busy their GPUs are."""
    for what, days, metrics in (("saves", SAVE_DAYS, (WRITE,)), ("saves, loads and phases", DAYS, (WRITE, READ, UTIL))):
        path = write_sessions(folder / "checkpoints", days)
        samples = run_apart(store_samples, path, days, metrics).answer
        yield from _against_a_scan(what, days, path, samples, metrics)
        shutil.rmtree(path.parent)


def scan(path: Path, metrics: tuple[str, ...]) -> tuple[float, float]:
    """Every sample of some metrics out of the store, added up; seconds of processor time and the sum."""
    started, config, total = time.process_time(), load(path), 0.0
    with connect(config) as con:
        store = samples_of(con, config)
        for metric in metrics:
            stored = store.of_metric(metric)
            for day in stored.parts:
                total += sum(float(row.values.sum()) for row in stored.rows(day))
    return time.process_time() - started, total


def find_saves(path: Path) -> tuple[float, int]:
    """What ingest does between two models; seconds of processor time and the saves found."""
    started, config = time.process_time(), load(path)
    with open_raw(path_of(config), "", read_only=False) as con:
        fill_checkpoint_phases(con, config)
        row = con.execute("select count(*) from meta.checkpoint_saves").fetchone()
    return time.process_time() - started, int(row[0]) if row else 0


def _against_a_scan(what: str, days: int, path: Path, samples: int, metrics: tuple[str, ...]) -> Iterator[Result]:
    plain_s = min(run_apart(scan, path, metrics).answer[0] for _ in range(TIMES))
    runs = [run_apart(find_saves, path) for _ in range(TIMES)]
    own_s, saves = min(run.answer for run in runs)
    name = f"{what} of {days} d x 63 nodes ({samples / 1e6:.0f} M samples, {saves} saves)"
    ratio = own_s / plain_s
    against = f"plain scan: {plain_s:.2f} s of a core"
    yield Result(name, f"{own_s:.2f} s of a core", against, ratio, f"at most {MOST:g}", ratio <= MOST)
    memory = max(run.peak_bytes for run in runs) / GIB
    yield Result(f"{what}: peak memory", f"{memory:.2f} GiB", "1 GiB", memory, "at most 1", memory <= 1)
