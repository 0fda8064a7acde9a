"""Jobs side by side, each in a process of its own that starts with everything imported."""

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from types import ModuleType

from gangline.report.jobs import Job, Outcome

PRELOADED = ["gangline.report.execution"]
KERNEL_MESSAGES = "kernel.log"


@dataclass(slots=True)
class _Running:
    job: Job
    process: ForkServerProcess
    results: Connection


@dataclass(slots=True)
class Pool:
    """Up to `size` jobs at once; papermill is imported once, in a server that forks a process for each job."""

    size: int
    running: list[_Running] = field(default_factory=list)

    def run(self, jobs: Sequence[Job], started: Callable[[Job], None]) -> Iterator[tuple[Job, Outcome | int]]:
        """Yield every job with its outcome as it ends; a process that died gives its exit code instead."""
        waiting = list(jobs)
        try:
            while waiting or self.running:
                while waiting and len(self.running) < self.size:
                    started(waiting[0])
                    self._start(waiting.pop(0))
                yield from self._ended()
        finally:
            self._stop()

    def _start(self, job: Job) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        receiving, sending = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(job, sending), name=job.notebook.stem)
        with _no_main():
            process.start()
        sending.close()
        self.running.append(_Running(job, process, receiving))

    def _ended(self) -> Iterator[tuple[Job, Outcome | int]]:
        ready = wait([each.results for each in self.running])
        for each in [each for each in self.running if each.results in ready]:
            self.running.remove(each)
            yield each.job, _received(each)

    def _stop(self) -> None:
        for each in self.running:
            each.process.terminate()
            each.process.join()
            each.results.close()
        self.running.clear()


@contextmanager
def _no_main() -> Iterator[None]:
    """Hide the program that started us: a new process would import it again, and run what a script does not guard."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _received(each: _Running) -> Outcome | int:
    try:
        outcome: Outcome = each.results.recv()
    except EOFError:
        each.process.join()
        return each.process.exitcode or 0
    finally:
        each.results.close()
    each.process.join()
    return outcome


def _work(job: Job, results: Connection) -> None:
    """Run in the job's process: what kernels print goes to a file beside the page."""
    from gangline.report.execution import run

    with (job.work / KERNEL_MESSAGES).open("wb") as log:
        os.dup2(log.fileno(), sys.stderr.fileno())
    results.send(run(job))
    results.close()
