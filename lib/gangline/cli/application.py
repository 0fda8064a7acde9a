"""The `gangline` command: what every subcommand shares, and errors as one line with an exit code."""

import sys
from itertools import pairwise
from typing import Annotated

import typer

from gangline import __version__
from gangline.cli import data, exploring, help_commands, investigating, reports, sending, setup, simulation
from gangline.cli.errors import exit_code_of, say_error

app = typer.Typer(
    name="gangline",
    help="Offline operations-log analytics for GPU training clusters.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for module in (setup, simulation, data, reports, investigating, exploring, sending, help_commands):
    module.add_to(app)


def _version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"gangline {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    is_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Offline operations-log analytics for GPU training clusters."""


def main() -> None:
    """Runs the command line; an expected error is one line on stderr, a traceback only with --debug."""
    arguments = sys.argv[1:]
    is_debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        app(args=_with_default_week(arguments), prog_name="gangline")
    except Exception as error:
        code = exit_code_of(error)
        if is_debug or code is None:
            raise
        say_error(error)
        sys.exit(code)


def _with_default_week(arguments: list[str]) -> list[str]:
    """`--week` may stand without a value, which click cannot say of an option that takes one."""
    filled: list[str] = []
    for argument, following in pairwise([*arguments, "--"]):
        filled.append(argument)
        if argument == "--week" and following.startswith("-"):
            filled.append(reports.LAST_WEEK)
    return filled
