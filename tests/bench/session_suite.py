"""Session analyses at size: memory against 2 GiB, growth against n log n."""

import math
from collections.abc import Iterator
from pathlib import Path

from gangline import exclusions
from gangline.config import load
from gangline.ingest import ingest
from gangline.report.opening import export_window
from gangline.warehouse import connect
from tests.bench.measuring import Result, Run, run_apart
from tests.bench.sessions import write_cluster

SMALL, LARGE = 250_000, 1_000_000
MEMORY_LIMIT_BYTES = 2 * 1024**3


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
