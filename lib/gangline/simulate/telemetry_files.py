"""Writes a plan's telemetry: one compressed export a UTC day, on every core."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from gangline.simulate.plan import Plan
from gangline.simulate.scrape_grid import DaySlice, ScrapeGrid
from gangline.simulate.telemetry_days import TelemetryDays
from gangline.simulate.vm_lines import write_export

Listener = Callable[[str, int, int], None]
Part = TypeVar("Part")
Writer = Callable[[Part, Path], int]
_held: list[Writer[Any]] = []  # what a worker made once for all of its files


def write_telemetry(folder: Path, plan: Plan, listener: Listener, workers: int | None = None) -> int:
    """Writes the days that are not there yet, each whole or not at all; gives the samples that were written."""
    days = [(day, path_of(folder, day)) for day in ScrapeGrid.of(plan).days()]
    return write_parts(days, plan, _day_writer, listener, workers)


def write_parts(
    parts: Sequence[tuple[Part, Path]],
    plan: Plan,
    begin: Callable[[Plan], Writer[Part]],
    listener: Listener,
    workers: int | None = None,
) -> int:
    """Writes the files that are not there yet, on so many cores (all); gives the samples that were written.

    Parameters
    ----------
    parts
        What each file holds.
    begin
        Makes, once in each worker, what writes one part to its file and gives its samples.
    """
    due = [(part, path) for part, path in parts if not path.exists()]
    for folder in {path.parent for _, path in due}:
        folder.mkdir(parents=True, exist_ok=True)
    samples = 0
    for done, (path, count) in enumerate(_written(plan, due, begin, min(workers or _cores(), len(due)))):
        samples += count
        listener(path.name, done, len(due))
    return samples


def _written(
    plan: Plan, due: Sequence[tuple[Part, Path]], begin: Callable[[Plan], Writer[Part]], workers: int
) -> Iterator[tuple[Path, int]]:
    """Each file as it is done, with its samples."""
    if workers <= 1:
        write = begin(plan)
        yield from ((path, write(part, path)) for part, path in due)
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin, (plan, begin)) as pool:
        writing = {pool.submit(_write, part, path): path for part, path in due}
        yield from ((writing[future], future.result()) for future in as_completed(writing))


def path_of(folder: Path, day: DaySlice) -> Path:
    """The export of a day."""
    return folder / f"export_{day.day.isoformat()}.jsonl.zst"


def _day_writer(plan: Plan) -> Writer[DaySlice]:
    days = TelemetryDays(plan)
    return lambda day, path: write_export(path, days.targets(day), days.blocks(day))


def _begin(plan: Plan, begin: Callable[[Plan], Writer[Any]]) -> None:
    pa.set_cpu_count(1)
    _held[:] = [begin(plan)]


def _write(part: object, path: Path) -> int:
    return _held[0](part, path)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
