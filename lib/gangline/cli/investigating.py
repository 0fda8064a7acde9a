"""Commands that look into one thing: postmortem."""

from pathlib import Path
from typing import Annotated

import typer

from gangline.cli import errors
from gangline.cli.options import ConfigOption, PdfOption, browser_for
from gangline.cli.progress import progress
from gangline.config import load_default
from gangline.warehouse import connect


def add_to(app: typer.Typer) -> None:
    """Registers the commands."""
    app.command("postmortem")(postmortem_command)


def postmortem_command(
    config: ConfigOption = None,
    session: Annotated[str, typer.Option(help="A session's id.")] = "",
    incident: Annotated[str, typer.Option(help="An incident's id: inc:... or node:...")] = "",
    node: Annotated[str, typer.Option(help="A node; with --at.")] = "",
    at: Annotated[str, typer.Option(help="A time, in the cluster's zone where it has no offset.")] = "",
    is_markdown: Annotated[bool, typer.Option("--markdown", help="Write it as Markdown for a wiki, too.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder of all reports (default: reports/ of this project).")] = None,
    cell_limit: Annotated[int, typer.Option(min=1, help="Seconds that one cell may take.")] = 600,
    is_pdf: PdfOption = False,
) -> None:
    """Render the page of one end, incident, or node and time; what its author wrote in the notebook is kept."""
    from gangline.postmortem import find
    from gangline.report.postmortems import paths_of, render_postmortem, write_markdown

    loaded = load_default(config)
    browser = browser_for(is_pdf)
    with connect(loaded) as con:
        subject = find(con, loaded.cluster.time_zone, session, incident, node, at)
    with progress("rendering") as listener:
        result = render_postmortem(loaded, subject, out, cell_limit_s=cell_limit, listener=listener, browser=browser)
    typer.echo(result.sentence())
    if result.problem or result.print_problem:
        raise typer.Exit(errors.FAILED)
    typer.echo(f"write in {paths_of(loaded, subject, out).notebook}; rendering it again keeps what you wrote")
    if is_markdown:
        typer.echo(f"for a wiki: {write_markdown(loaded, subject, out)}")
