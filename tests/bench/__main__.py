"""Runs the benchmarks and prints one table; also written under `reports/bench/`."""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from tests.bench.checkpoint_suite import checkpoints
from tests.bench.measuring import Result
from tests.bench.session_suite import session_analyses
from tests.bench.telemetry_suite import telemetry
from tests.conftest import ROOT


def main() -> None:
    """Runs what the arguments name (all by default), prints and keeps the table."""
    suites: dict[str, Callable[[Path], Iterator[Result]]] = {
        "telemetry": telemetry,
        "sessions": session_analyses,
        "checkpoints": checkpoints,
    }
    chosen = sys.argv[1:] or list(suites)
    results: list[Result] = []
    os.environ.setdefault("POLARS_MAX_THREADS", "2")  # as many as the others have; read when a process loads polars
    with tempfile.TemporaryDirectory(prefix="gangline-bench-") as folder:
        for name in chosen:
            for result in suites[name](Path(folder)):
                print(result, flush=True)
                results.append(result)
    _keep(results)


def _keep(results: list[Result]) -> None:
    folder = ROOT / "reports" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    stamp = datetime.now(UTC)
    rows = [result.__dict__ for result in results]
    (folder / f"{stamp:%Y-%m-%dT%H%M%SZ}.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
