"""Commands that write pages: report."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from gangline.cli import errors
from gangline.cli.data import ingest_with_progress
from gangline.cli.errors import UsageError
from gangline.cli.options import ConfigOption, PdfOption, browser_for
from gangline.cli.progress import progress
from gangline.cli.simulation import simulate_where_absent
from gangline.config import Config, load_default
from gangline.warehouse import connect, export_span
from gangline.windows import INSTANT, Window

LAST_WEEK = "last"


def add_to(app: typer.Typer) -> None:
    """Registers the commands."""
    app.command("report")(report_command)


def report_command(
    config: ConfigOption = None,
    week: Annotated[
        str | None, typer.Option(help="An ISO week such as 2025-W41; without a value the last one that is over.")
    ] = None,
    from_date: Annotated[str | None, typer.Option("--from", help="First day, in the cluster's zone.")] = None,
    to_date: Annotated[str | None, typer.Option("--to", help="Day after the last.")] = None,
    since: Annotated[
        str | None, typer.Option(help="Every week from this one on that is over, such as 2025-W30.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="A notebook, with or without its number; repeat for more.")
    ] = None,
    parameter: Annotated[list[str] | None, typer.Option("-p", help="A notebook's parameter as key=value.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Notebooks at once (default: one a core).")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of all reports (default: reports/ of this project).")] = None,
    cell_limit: Annotated[int, typer.Option(min=1, help="Seconds that one cell may take.")] = 600,
    is_pdf: PdfOption = False,
) -> None:
    """Ingest what is new, then render the notebooks as self-contained HTML."""
    loaded = load_default(config)
    parameters = dict(_split(text) for text in parameter or [])
    _refuse_before_work(loaded, named_window(loaded, week, from_date, to_date, since), only or [], parameters)
    browser = browser_for(is_pdf)
    simulate_where_absent(loaded)
    ingest_with_progress(loaded)
    windows = asked_windows(loaded, week, from_date, to_date, since)
    _refuse_unknown(loaded, windows, only or [], parameters)
    failed = 0
    for window in windows:
        failed += _render(loaded, window, only or [], parameters, jobs, out, cell_limit, browser)
    if failed:
        raise typer.Exit(errors.FAILED)


def _refuse_before_work(config: Config, window: Window | None, only: list[str], parameters: dict[str, str]) -> None:
    """A wrong name or value is said at once, not after an ingest that may take an hour."""
    from gangline.report.notebooks import FOLDER, choose, parameters_for

    anything = window or Window.whole(None, None, config.cluster.time_zone)
    parameters_for(choose(FOLDER, only, anything, config), parameters)


def _refuse_unknown(config: Config, windows: list[Window], only: list[str], parameters: dict[str, str]) -> None:
    """What names nothing of the warehouse is the command's mistake, not a page's: said before any is made."""
    if not parameters:
        return
    from gangline.report.notebooks import FOLDER, choose, parameters_for
    from gangline.report.references import refuse_unknown

    with connect(config) as con:
        for window in windows:
            given = parameters_for(choose(FOLDER, only, window, config), parameters)
            refuse_unknown(con, config, window, given)


def _split(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f"-p {text}: write it as key=value")
    return key, value


def named_window(
    config: Config, week: str | None, from_date: str | None, to_date: str | None, since: str | None = None
) -> Window | None:
    """The window that the options name by themselves (with `since` the first of several); None where the export says.

    Raises
    ------
    UsageError, WindowError
        If the options do not go together or name no window.
    """
    given = [
        name for name, value in (("--week", week), ("--from/--to", from_date or to_date), ("--since", since)) if value
    ]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)}: give one of them")
    if bool(from_date) != bool(to_date):
        raise UsageError("--from and --to go together: --from 2025-09-01 --to 2025-11-13 (--to is not part of it)")
    if from_date and to_date:
        return Window.between(from_date, to_date, config.cluster.time_zone)
    text = since or week
    return Window.week(text, config.cluster.time_zone) if text and text != LAST_WEEK else None


def asked_windows(
    config: Config, week: str | None, from_date: str | None, to_date: str | None, since: str | None = None
) -> list[Window]:
    """The windows that a command's options name: one, or with `since` every week from it on; by default all."""
    named = named_window(config, week, from_date, to_date, since)
    if named:
        return _weeks_from(config, named) if since else [named]
    return [_last_week(config) if week else _whole(config)]


def _whole(config: Config) -> Window:
    return Window.whole(*_export_span(config), config.cluster.time_zone)


def _last_week(config: Config) -> Window:
    """The last ISO week that is over and that the export reaches into."""
    _, latest_at = _export_span(config)
    window = Window.last_week(datetime.now(UTC), config.cluster.time_zone)
    if latest_at is not None and latest_at <= window.start:
        local = (latest_at - INSTANT).astimezone(config.zone).date().isocalendar()
        window = Window.week(f"{local.year}-W{local.week:02d}", config.cluster.time_zone)
    return window


def _weeks_from(config: Config, first: Window) -> list[Window]:
    last = _last_week(config)
    if last.start < first.start:
        raise UsageError(f"--since {first.label}: that week is not over yet, or the export ends before it")
    weeks = [last]
    while (before := weeks[-1].previous()) is not None and before.start >= first.start:
        weeks.append(before)
    return weeks[::-1]


def _export_span(config: Config) -> tuple[datetime | None, datetime | None]:
    with connect(config) as con:
        return export_span(con)


def _render(
    config: Config,
    window: Window,
    only: list[str],
    parameters: dict[str, str],
    jobs: int | None,
    out: Path | None,
    cell_limit: int,
    browser: Path | None,
) -> int:
    """The number of pages that failed, or were not printed though they were to be."""
    from gangline.report.runner import render

    with progress("rendering") as listener:
        results = render(
            config, window, only, parameters,
            jobs=jobs, out=out, cell_limit_s=cell_limit, listener=listener, browser=browser,
        )  # fmt: skip
    for result in results:
        typer.echo(result.sentence())
    typer.echo(
        f"{config.cluster.name} {window.label}: {results[0].folder / 'index.html'}" if results else "nothing to render"
    )
    return sum(1 for result in results if result.problem or result.print_problem)
