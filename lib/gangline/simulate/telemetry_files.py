"""Writes a plan's telemetry: one compressed export a UTC day, on every core."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa

from gangline.simulate.plan import Plan
from gangline.simulate.scrape_grid import DaySlice, ScrapeGrid
from gangline.simulate.telemetry_days import TelemetryDays
from gangline.simulate.vm_lines import write_export

Listener = Callable[[str, int, int], None]
_held: list[TelemetryDays] = []  # what a worker made once for all of its days


def write_telemetry(folder: Path, plan: Plan, listener: Listener, workers: int | None = None) -> int:
    """Writes the days that are not there yet, each whole or not at all; gives the samples that were written."""
    folder.mkdir(parents=True, exist_ok=True)
    days = [(day, path_of(folder, day)) for day in ScrapeGrid.of(plan).days()]
    due = [(day, path) for day, path in days if not path.exists()]
    samples = 0
    for done, (path, count) in enumerate(_written(plan, due, min(workers or _cores(), len(due)))):
        samples += count
        listener(path.name, done, len(due))
    return samples


def _written(plan: Plan, due: list[tuple[DaySlice, Path]], workers: int) -> Iterator[tuple[Path, int]]:
    """Each file as it is done, with its samples."""
    if workers <= 1:
        days = TelemetryDays(plan)
        yield from ((path, write_export(path, days.targets(day), days.blocks(day))) for day, path in due)
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin, (plan,)) as pool:
        writing = {pool.submit(_write, day, path): path for day, path in due}
        yield from ((writing[future], future.result()) for future in as_completed(writing))


def path_of(folder: Path, day: DaySlice) -> Path:
    """The export of a day."""
    return folder / f"export_{day.day.isoformat()}.jsonl.zst"


def _begin(plan: Plan) -> None:
    pa.set_cpu_count(1)
    _held[:] = [TelemetryDays(plan)]


def _write(day: DaySlice, path: Path) -> int:
    days = _held[0]
    return write_export(path, days.targets(day), days.blocks(day))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
