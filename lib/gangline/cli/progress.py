"""Progress on a terminal as a bar, elsewhere as plain lines."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

Listener = Callable[[str, int, int], None]


@contextmanager
def progress(verb: str) -> Iterator[Listener]:
    """A listener that is told (thing at work, done, total)."""
    if not sys.stderr.isatty():
        yield lambda thing, done, total: typer.echo(f"{verb} {done + 1} of {total}: {thing}") if thing else None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(verb, total=None)
        yield lambda thing, done, total: bar.update(
            task, description=f"{verb} {escape(thing)}", completed=done, total=total
        )
