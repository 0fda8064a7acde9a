"""Measures one function in a process of its own, and what a row of the table is."""

import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any


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
    """Seconds and peak memory of one function in a process of its own, with that of the largest process it started."""

    seconds: float
    peak_bytes: int
    answer: Any


def run_apart(function: Callable[..., Any], *arguments: Any, times: int = 1) -> Run:
    """Runs a function in a fresh process and measures that process; of several times the fastest counts."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return min((pool.submit(_measured, function, *arguments).result() for _ in range(times)), key=_seconds)


def _seconds(run: Run) -> float:
    return run.seconds


def _measured(function: Callable[..., Any], *arguments: Any) -> Run:
    started = time.perf_counter()
    answer = function(*arguments)
    peak = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) * 1024
    return Run(time.perf_counter() - started, peak, answer)
