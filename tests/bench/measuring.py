"""Measures one function in a process of its own, and what a row of the table is."""

import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from tests.bench.memory import PeakMemory, forget_high_water, high_water_bytes

LOOK_S = 0.02


@dataclass(frozen=True)
class Result:
    """One row of the table: what was measured, against what, and whether the goal is met; null where it was not run."""

    name: str
    measured: str
    against: str
    ratio: float | None
    goal: str
    is_met: bool | None

    @classmethod
    def skipped(cls, name: str, reason: str, goal: str) -> "Result":
        """A row that cannot be measured here, and why."""
        return cls(name, "skipped", reason, None, goal, None)

    def __str__(self) -> str:
        if self.ratio is None:
            return f"{self.name}: {self.against}: {self.measured} ({self.goal})"
        mark = "met" if self.is_met else "NOT MET"
        return f"{self.name}: {self.measured} against {self.against}: {self.ratio:.2f} ({self.goal}: {mark})"


@dataclass(frozen=True)
class Run:
    """Seconds of one function in a process of its own, and the most memory that it and its children held at once."""

    seconds: float
    peak_bytes: int
    answer: Any


def run_apart(function: Callable[..., Any], *arguments: Any, times: int = 1) -> Run:
    """Runs a function, each time in a fresh process, and measures it; the fastest run counts, with its own memory."""
    return min((_run_once(function, arguments) for _ in range(times)), key=_seconds)


def _seconds(run: Run) -> float:
    return run.seconds


def _run_once(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Run:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        memory = PeakMemory(pool.submit(os.getpid).result())
        measured = pool.submit(_measured, function, *arguments)
        _watch(measured, memory)
        seconds, own_bytes, answer = measured.result()
    return Run(seconds, max(memory.peak_bytes, own_bytes), answer)


def _watch(measured: "Future[Any]", memory: PeakMemory) -> None:
    """Looks from outside, so that what is measured is not held up."""
    while not measured.done():
        memory.look()
        wait([measured], timeout=LOOK_S)


def _measured(function: Callable[..., Any], *arguments: Any) -> tuple[float, int, Any]:
    forget_high_water()
    started = time.perf_counter()
    answer = function(*arguments)
    return time.perf_counter() - started, high_water_bytes(os.getpid()), answer
