"""Saves and phases at size: time against a plain scan of the same metrics, memory against 1 GiB."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from gangline.config import load
from gangline.ingest.checkpoint_phases import fill_checkpoint_phases
from gangline.warehouse import connect
from gangline.warehouse.opening import open_raw, path_of, samples_of
from tests.bench.checkpoints import READ, UTIL, WRITE, store_samples, write_sessions
from tests.bench.measuring import Result, run_apart

DAYS = 55 if os.environ.get("BENCH") == "full" else 14
MOST, GIB = 2.0, 1024**3


def checkpoints(folder: Path) -> Iterator[Result]:
    """Saves of 63 nodes from what they write; then phases, with what they read and how busy their GPUs are."""
    path = write_sessions(folder / "checkpoints", DAYS)
    samples = run_apart(store_samples, path, DAYS, (WRITE,)).answer
    yield from _against_a_scan("saves", path, samples, (WRITE,))
    samples += run_apart(store_samples, path, DAYS, (READ, UTIL)).answer
    yield from _against_a_scan("saves, loads and phases", path, samples, (WRITE, READ, UTIL))
    shutil.rmtree(path.parent)


def scan(path: Path, metrics: tuple[str, ...]) -> float:
    """Every sample of some metrics out of the store, added up."""
    config, total = load(path), 0.0
    with connect(config) as con:
        store = samples_of(con, config)
        for metric in metrics:
            for day in store.days(metric, 0, 1 << 42):
                total += sum(float(row.values.sum()) for row in store.rows(metric, day))
    return total


def find_saves(path: Path) -> int:
    """What ingest does between two models; gives the saves found."""
    config = load(path)
    with open_raw(path_of(config), "", read_only=False) as con:
        fill_checkpoint_phases(con, config)
        row = con.execute("select count(*) from meta.checkpoint_saves").fetchone()
    return int(row[0]) if row else 0


def _against_a_scan(what: str, path: Path, samples: int, metrics: tuple[str, ...]) -> Iterator[Result]:
    plain, own = run_apart(scan, path, metrics, times=3), run_apart(find_saves, path, times=3)
    name = f"{what} of {DAYS} d x 63 nodes ({samples / 1e6:.0f} M samples, {own.answer} saves)"
    ratio = own.seconds / plain.seconds
    against = f"plain scan: {plain.seconds:.2f} s"
    yield Result(name, f"{own.seconds:.2f} s", against, ratio, f"at most {MOST:g}", ratio <= MOST)
    memory = own.peak_bytes / GIB
    yield Result(f"{what}: peak memory", f"{memory:.2f} GiB", "1 GiB", memory, "at most 1", memory <= 1)
