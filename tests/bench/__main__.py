"""Runs the benchmarks and prints one table; also written under `reports/bench/`."""

import json
import math
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gangline import exclusions
from gangline.config import load
from gangline.ingest import ingest
from gangline.report.opening import export_window
from gangline.warehouse import connect
from tests.bench.sessions import write_cluster
from tests.conftest import ROOT

SMALL, LARGE = 250_000, 1_000_000
MEMORY_LIMIT_BYTES = 2 * 1024**3


@dataclass(frozen=True)
class Result:
    """One row of the table: what was measured, against what, and whether the goal is met."""

    name: str
    measured: str
    against: str
    ratio: float
    goal: str
    is_met: bool


@dataclass(frozen=True)
class Run:
    """Seconds and peak memory of one function in a process of its own."""

    seconds: float
    peak_bytes: int
    answer: Any


def run_apart(function: Callable[..., Any], *arguments: Any) -> Run:
    """Runs a function in a fresh process and measures that process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (function, *arguments))


def _measured(function: Callable[..., Any], *arguments: Any) -> Run:
    started = time.perf_counter()
    answer = function(*arguments)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return Run(time.perf_counter() - started, peak, answer)


def _ingest(path: Path) -> int:
    return sum(outcome.log.loaded for outcome in ingest(load(path)).outcomes)


def _exclusions(path: Path) -> dict[str, str]:
    config = load(path)
    with connect(config) as con:
        figures = exclusions.figures(con, export_window(con, config.cluster.time_zone))
    return {name: str(figure) for name, figure in figures.items()}


def session_analyses(folder: Path) -> Iterator[Result]:
    """1 M sessions on 2,000 nodes, 1 % of them gangs: memory against 2 GiB, growth against n log n."""
    runs: dict[int, dict[str, Run]] = {}
    for size in (SMALL, LARGE):
        path = write_cluster(folder / str(size), size)
        runs[size] = {"ingest": run_apart(_ingest, path), "exclusions": run_apart(_exclusions, path)}
    fair = LARGE / SMALL * math.log(LARGE) / math.log(SMALL)
    for name in ("ingest", "exclusions"):
        small, large = runs[SMALL][name], runs[LARGE][name]
        memory = large.peak_bytes / MEMORY_LIMIT_BYTES
        yield Result(
            f"{name}, 1 M sessions x 2,000 nodes: peak memory",
            f"{large.peak_bytes / 1e9:.2f} GB in {large.seconds:.1f} s",
            "2 GiB",
            memory,
            "at most 1",
            memory <= 1,
        )
        growth = large.seconds / small.seconds / fair
        yield Result(
            f"{name}, growth from 250 k to 1 M sessions",
            f"{large.seconds / small.seconds:.2f} x",
            f"n log n: {fair:.2f} x",
            growth,
            "at most 1.2",
            growth <= 1.2,
        )


def main() -> None:
    """Runs what the arguments name (all by default), prints and keeps the table."""
    suites: dict[str, Callable[[Path], Iterator[Result]]] = {"sessions": session_analyses}
    chosen = sys.argv[1:] or list(suites)
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="gangline-bench-") as folder:
        for name in chosen:
            for result in suites[name](Path(folder)):
                print(_line(result), flush=True)
                results.append(result)
    _keep(results)


def _line(result: Result) -> str:
    mark = "met" if result.is_met else "NOT MET"
    return f"{result.name}: {result.measured} against {result.against}: {result.ratio:.2f} ({result.goal}: {mark})"


def _keep(results: list[Result]) -> None:
    folder = ROOT / "reports" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    stamp = datetime.now(UTC)
    rows = [result.__dict__ for result in results]
    (folder / f"{stamp:%Y-%m-%dT%H%M%SZ}.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
