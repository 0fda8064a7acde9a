"""Commands that explain: config, describe."""

import json
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gangline.build import describe
from gangline.cli.options import ConfigOption
from gangline.config import load_default, resolve_path
from gangline.config.explanation import explain
from gangline.warehouse.opening import connect_as_built


def add_to(app: typer.Typer) -> None:
    """Registers the commands."""
    app.command("config")(config_command)
    app.command("describe")(describe_command)


def config_command(
    config: ConfigOption = None,
    is_explained: Annotated[bool, typer.Option("--explain", help="Say what every key means.")] = False,
) -> None:
    """Show the config in force, or explain every key."""
    if is_explained:
        rows = [(meaning.key, meaning.unit, meaning.default, meaning.meaning) for meaning in explain()]
        _print_table(("key", "unit", "default", "meaning"), rows)
        return
    loaded = load_default(config)
    typer.echo(f"# {resolve_path(config)}")
    typer.echo(json.dumps(loaded.model_dump(mode="json", by_alias=True), indent=2, ensure_ascii=False))


def describe_command(
    table: Annotated[str | None, typer.Argument(help="A table, such as sessions or marts.sessions.")] = None,
    config: ConfigOption = None,
) -> None:
    """Say what the warehouse's tables hold, from the descriptions in the warehouse itself."""
    with connect_as_built(load_default(config)) as con:
        rows = describe(con, table)
    _print_table(tuple(rows.columns), [tuple(cell or "" for cell in row) for row in rows.iter_rows()])


def _print_table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """A table on a terminal, tab-separated lines elsewhere."""
    if not sys.stdout.isatty():
        for row in [header, *rows]:
            typer.echo("\t".join(row))
        return
    shown = Table(*header, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    Console().print(shown)
