"""Progress on a terminal as a bar, elsewhere as plain lines; rate and time left where one thing takes long."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

QUIET_S = 10.0  # between two plain lines about one thing
FEW_S, LONG_S = 90, 5_400


@dataclass(frozen=True)
class Pace:
    """How far one thing has come: bytes done and in all, and the seconds that took."""

    done: int
    total: int
    seconds: float

    def __str__(self) -> str:
        """Share, rate and time left.

        >>> print(Pace(300_000_000, 1_200_000_000, 5.0))
        25 %, 60.0 MB/s, 15 s left
        """
        if not (self.done and self.total and self.seconds):
            return "at its start"
        left_s = (self.total - self.done) * self.seconds / self.done
        rate = self.done / self.seconds / 1e6
        return f"{self.done / self.total:.0%}, {rate:.1f} MB/s, {_duration(left_s)} left".replace("%", " %", 1)


def _duration(seconds: float) -> str:
    """A time in the unit that suits it.

    >>> [_duration(s) for s in (3.2, 600, 9000)]
    ['3 s', '10 min', '2.5 h']
    """
    if seconds < FEW_S:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < LONG_S else f"{seconds / 3600:.1f} h"


class Teller:
    """Is told (thing at work, things done, things in all), and how far the one at work has come.

    `show` takes the line to show, things done and in all, and whether the line is about a thing that goes on.
    """

    def __init__(self, verb: str, show: Callable[[str, int, int | None, bool], None]) -> None:
        self._verb, self._show = verb, show
        self._thing, self._done, self._total = "", 0, 0
        self._began_s = time.monotonic()

    def __call__(self, thing: str, done: int, total: int) -> None:
        """Goes on to the next thing; an empty one is the end."""
        self._thing, self._done, self._total, self._began_s = thing, done, total, time.monotonic()
        self._show(thing, done, total, False)

    def within(self, done: int, total: int) -> None:
        """Says how far the thing at work has come, in bytes."""
        pace = Pace(done, total, time.monotonic() - self._began_s)
        self._show(f"{self._thing}: {pace}", self._done, self._total, True)


class _PlainLines:
    def __init__(self, verb: str) -> None:
        self._verb, self._told_s = verb, 0.0

    def __call__(self, line: str, done: int, total: int | None, is_within: bool) -> None:
        if not is_within or time.monotonic() - self._told_s >= QUIET_S:
            self._told_s = time.monotonic()
            if line:
                typer.echo(f"{self._verb} {done + 1} of {total}: {line}")


@contextmanager
def progress(verb: str) -> Iterator[Teller]:
    """A listener that is told (thing at work, done, total), and through `within` how far that thing has come."""
    if not sys.stderr.isatty():
        yield Teller(verb, _PlainLines(verb))
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(verb, total=None)
        yield Teller(
            verb,
            lambda line, done, total, is_within: bar.update(
                task, description=f"{verb} {escape(line)}", completed=done, total=total
            ),
        )
