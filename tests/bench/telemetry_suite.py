"""Telemetry at size: ingest against parsers that keep nothing, memory, what is kept, peers of a week."""

import gzip
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import numpy as np
import zstandard
from numpy.typing import NDArray

from gangline.config import load
from gangline.estimates.medians import PeerScores
from gangline.ingest.finding import find_files
from gangline.ingest.ledger import read_ledger
from gangline.ingest.new_files import NewFiles
from gangline.store.matrix import Grid, read_levels_by_day
from gangline.store.reading import SampleStore
from gangline.store.settling import settle
from gangline.warehouse import connect
from gangline.warehouse.opening import telemetry_of
from gangline.warehouse.tables import SCHEMA_VERSION, set_build
from gangline.warehouse.writing import writing
from tests.bench.measuring import Result, Run, run_apart
from tests.bench.peers import PEERS, Peer
from tests.bench.telemetry import (
    DAY_STEPS,
    GPUS,
    NODES,
    START_MS,
    STEP_MS,
    write_config,
    write_export,
    write_query_range,
)
from tests.bench.telemetry_peers import parse_in_two_processes, peer_z_with_duckdb, read_with_duckdb

IS_FULL = os.environ.get("BENCH") == "full"
SMALL_DAYS, LARGE_DAYS = (9, 140) if IS_FULL else (3, 18)  # of a metric: 13 M and 203 M samples, or 4.4 M and 26 M
QUERY_RANGE_SERIES = 16_500 if IS_FULL else 2_000  # 23 bytes a sample: 1.09 GB, or 130 MB
WEEK_METRICS = 20 if IS_FULL else 8  # 203 M samples, or 81 M
GIB = 1024**3
BLOCK_STEPS = 240
HALVES = [Grid(START_MS + first * DAY_STEPS * STEP_MS, STEP_MS, days * DAY_STEPS) for first, days in ((0, 4), (4, 3))]
_SERIES = "select metric, list(distinct series_id) from meta.series_seen group by metric order by 1"
PARSE_SHARE, PACKED_SHARE, BYTES_KEPT, LINEAR, PEER_TIMES = 0.35, 0.6, 2.0, 1.2, 5.0


def telemetry(folder: Path) -> Iterator[Result]:
    """Ingest of VictoriaMetrics lines, packed ones, one large document, and peers over a week."""
    yield from _lines(folder / "lines")
    yield from _packed(folder / "packed")
    yield from _document(folder / "document")
    yield from _peers(folder / "week")


def load_samples(config_path: Path) -> int:
    """Every file of a config into an empty store, as `gangline ingest` does it, without building models."""
    config = load(config_path)
    shutil.rmtree(telemetry_of(config), ignore_errors=True)
    with writing(config, rebuild=True) as con:
        new = NewFiles(con, read_ledger(con), telemetry_of(config), is_strict=False)
        new.load([file for files in find_files(config).values() for file in files])
        settle(con, telemetry_of(config))
        set_build(con, schema_version=str(SCHEMA_VERSION), duckdb_version=duckdb.__version__)
    return sum(outcome.log.loaded for outcome in new.outcomes)


def week_of_peers(config_path: Path) -> list[list[float]]:
    """Sum and maximum of each series' absolute peer z over the whole store, metric by metric, in two threads."""
    config = load(config_path)
    with connect(config) as con, ThreadPoolExecutor(2) as pool:
        metrics = [(name, {each: f"{each:020d}" for each in ids}) for name, ids in con.execute(_SERIES).fetchall()]
        tasks = [
            pool.submit(_peers_of, SampleStore(con.cursor(), telemetry_of(config)), *metric, grid)
            for metric in metrics
            for grid in HALVES
        ]
        halves = [task.result() for task in tasks]
    rows = []
    for (total, most), (more, higher) in zip(halves[::2], halves[1::2], strict=True):
        rows += np.stack([total + more, np.maximum(most, higher)], axis=1).tolist()
    return rows


def _peers_of(
    store: SampleStore, metric: str, columns: dict[int, str], grid: Grid
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """In blocks that a processor's cache holds."""
    total, most = np.zeros(len(columns)), np.zeros(len(columns))
    peers = PeerScores(BLOCK_STEPS, len(columns))
    for day in read_levels_by_day(store, metric, columns, grid):
        for first in range(0, DAY_STEPS, BLOCK_STEPS):
            scores = peers.of(day.values[first : first + BLOCK_STEPS])
            np.abs(scores, out=scores)
            total += scores.sum(axis=0)
            np.maximum(most, scores.max(axis=0), out=most)
    return total, most


def _rate(samples: int, run: Run) -> str:
    return f"{samples / run.seconds / 1e6:.1f} M samples/s"


def _at_least(name: str, own: Run, peer: Run, samples: int, least: float, peer_name: str) -> Result:
    ratio = peer.seconds / own.seconds
    against = f"{peer_name}: {_rate(samples, peer)}"
    return Result(name, _rate(samples, own), against, ratio, f"at least {least:g}", ratio >= least)


def _beside(name: str, own: Run, samples: int, others: dict[Peer, Run]) -> Iterator[Result]:
    """A row for each peer; one that is not installed says so."""
    for peer in PEERS:
        if peer in others:
            yield _at_least(name, own, others[peer], samples, 1.0, f"{peer.name}, long table")
        else:
            yield Result.skipped(name, f"{peer.name} is not installed", "at least 1")


def _at_most(name: str, measured: str, against: str, ratio: float, most: float) -> Result:
    return Result(name, measured, against, ratio, f"at most {most:g}", ratio <= most)


def _memory(name: str, run: Run) -> Result:
    return _at_most(f"{name}: peak memory", f"{run.peak_bytes / GIB:.2f} GiB", "1 GiB", run.peak_bytes / GIB, 1.0)


def _lines(folder: Path) -> Iterator[Result]:
    runs: dict[int, Run] = {}
    for days in (SMALL_DAYS, LARGE_DAYS):
        config = write_config(folder / str(days))
        export = config.parent / "raw/export.jsonl"
        samples = write_export(export, days)
        runs[days] = run_apart(load_samples, config, times=2)
        if days == SMALL_DAYS:
            small = samples
    million = f"{samples / 1e6:.0f} M samples"
    own = runs[LARGE_DAYS]
    parse = run_apart(parse_in_two_processes, export, times=2)
    yield _at_least(f"ingest of {million}", own, parse, samples, PARSE_SHARE, "two simdjson that only parse")
    duck = run_apart(read_with_duckdb, export, folder / "long.duckdb", times=2)
    yield _at_least(f"ingest of {million}", own, duck, samples, 1.0, "DuckDB read_json, long table")
    others = {peer: run_apart(peer.read, export, folder / peer.name, times=2) for peer in PEERS if peer.is_installed}
    yield from _beside(f"ingest of {million}", own, samples, others)
    yield _memory(f"ingest of {million}", own)
    kept = sum(part.stat().st_size for part in (config.parent / "telemetry").rglob("*.parquet")) / samples
    yield _at_most("bytes kept per sample", f"{kept:.2f}", f"{BYTES_KEPT:g}", kept / BYTES_KEPT, 1.0)
    growth = (own.seconds / samples) / (runs[SMALL_DAYS].seconds / small)
    yield _at_most(f"time per sample, {small / 1e6:.0f} to {million}", f"{growth:.2f} x", "linear", growth, LINEAR)
    shutil.rmtree(folder)


def _packed(folder: Path) -> Iterator[Result]:
    config = write_config(folder / "plain")
    export = config.parent / "raw/export.jsonl"
    samples = write_export(export, SMALL_DAYS)
    plain = run_apart(load_samples, config, times=2)
    for ending in ("gz", "zst"):
        packed = write_config(folder / ending)
        with export.open("rb") as text, (packed.parent / f"raw/export.{ending}").open("wb") as out:
            if ending == "gz":
                with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=3) as stream:
                    shutil.copyfileobj(text, stream)
            else:
                zstandard.ZstdCompressor(3).copy_stream(text, out)
        own = run_apart(load_samples, packed, times=2)
        yield _at_least(f"ingest of .{ending}", own, plain, samples, PACKED_SHARE, "the same file uncompressed")
    shutil.rmtree(folder)


def _document(folder: Path) -> Iterator[Result]:
    config = write_config(folder)
    document = config.parent / "raw/export.json"
    samples = write_query_range(document, QUERY_RANGE_SERIES)
    own = run_apart(load_samples, config)
    yield _memory(f"query_range document of {document.stat().st_size / 1e9:.2f} GB ({_rate(samples, own)})", own)
    shutil.rmtree(folder)


def _peers(folder: Path) -> Iterator[Result]:
    config = write_config(folder)
    samples = write_export(config.parent / "raw/export.jsonl", 7 * WEEK_METRICS, WEEK_METRICS)
    run_apart(load_samples, config)
    run_apart(read_with_duckdb, config.parent / "raw/export.jsonl", folder / "long.duckdb", "order by metric, time_ms")
    own = run_apart(week_of_peers, config, times=3)
    duck = run_apart(peer_z_with_duckdb, folder / "long.duckdb", times=3)
    yield _at_least("peer z over a week from the store", own, duck, samples, PEER_TIMES, "DuckDB, long table")
    others = {peer: _peer_z_of(peer, config.parent / "raw/export.jsonl", folder) for peer in PEERS if peer.is_installed}
    yield from _beside("peer z over a week from the store", own, samples, others)
    apart = max(_difference(own, run) for run in (duck, *others.values()))
    yield _at_most("peer z, largest relative difference", f"{apart:.1e}", "1e-9", apart / 1e-9, 1.0)
    shutil.rmtree(folder)


def _peer_z_of(peer: Peer, export: Path, folder: Path) -> Run:
    run_apart(peer.read, export, folder / peer.name)
    return run_apart(peer.peer_z, folder / peer.name, times=3)


def _difference(own: Run, other: Run) -> float:
    """The largest relative one, sums with sums and maxima with maxima of a metric's series, each in order of size.

    Series are not paired: each peer has names of its own for them, and sums may be alike up to their rounding.
    """
    ours, theirs = (np.sort(np.reshape(run.answer, (-1, NODES * GPUS, 2)), axis=1) for run in (own, other))
    return float(np.max(np.abs(ours - theirs) / np.abs(theirs)))
