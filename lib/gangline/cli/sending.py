"""Commands that make something to send on: export."""

from pathlib import Path
from typing import Annotated

import typer

from gangline.cli.options import ConfigOption
from gangline.cli.progress import progress
from gangline.cli.reports import asked_windows
from gangline.config import load_default
from gangline.estimates.wording import counted


def add_to(app: typer.Typer) -> None:
    """Registers the commands."""
    app.command("export")(export_command)


def export_command(
    file: Annotated[Path, typer.Argument(help="The DuckDB file to write; it must not be there yet.")],
    config: ConfigOption = None,
    week: Annotated[
        str | None, typer.Option(help="An ISO week such as 2025-W41; without a value the last one that is over.")
    ] = None,
    from_date: Annotated[str | None, typer.Option("--from", help="First day, in the cluster's zone.")] = None,
    to_date: Annotated[str | None, typer.Option("--to", help="Day after the last.")] = None,
) -> None:
    """Write a window's samples, sessions and figures into one DuckDB file to send on."""
    from gangline.bundle import write_bundle

    loaded = load_default(config)
    (window,) = asked_windows(loaded, week, from_date, to_date)
    with progress("copying") as listener:
        counts = write_bundle(loaded, window, file, listener)
    samples, started = counts["marts.samples"], counts["marts.sessions"]
    typer.echo(
        f"{file}: {loaded.cluster.name} {window.label}: {counted(samples, 'samples')}, "
        f"{counted(started, 'sessions')}, {counted(counts['figures'], 'figures')} ({file.stat().st_size:,} bytes)"
    )
