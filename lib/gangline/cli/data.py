"""Commands on the warehouse: ingest, build, check."""

from typing import Annotated

import typer

from gangline.build import run_checks
from gangline.cli import errors
from gangline.cli.options import ConfigOption
from gangline.cli.progress import progress
from gangline.cli.simulation import simulate_where_absent
from gangline.config import Config, load_default
from gangline.contracts import Severity
from gangline.estimates.wording import counted
from gangline.ingest import FileOutcome, IngestReport, ingest, rebuild_models
from gangline.warehouse import connect
from gangline.warehouse.opening import connect_as_built, path_of


def add_to(app: typer.Typer) -> None:
    """Registers the commands."""
    app.command("ingest")(ingest_command)
    app.command("build")(build_command)
    app.command("check")(check_command)


def ingest_command(
    config: ConfigOption = None,
    strict: Annotated[bool, typer.Option(help="Refuse a file that holds what cannot be read (exit 3).")] = False,
    dry_run: Annotated[bool, typer.Option(help="Read what is new, say what is in it, write nothing.")] = False,
    rebuild: Annotated[bool, typer.Option(help="Start from an empty warehouse; the old one is kept aside.")] = False,
) -> None:
    """Bring the warehouse up to date with the exports that the config names."""
    loaded = load_default(config)
    simulate_where_absent(loaded)
    report = ingest_with_progress(loaded, is_strict=strict, is_dry_run=dry_run, is_rebuild=rebuild)
    if strict and (report.refused or report.blemished):
        raise typer.Exit(errors.REFUSED)


def ingest_with_progress(
    config: Config, *, is_strict: bool = False, is_dry_run: bool = False, is_rebuild: bool = False
) -> IngestReport:
    """Ingests, telling a person what becomes of each file."""
    with progress("reading") as listener:
        report = ingest(
            config,
            is_strict=is_strict,
            is_dry_run=is_dry_run,
            is_rebuild=is_rebuild,
            listener=listener,
            meter=listener.within,
        )
    for outcome in report.outcomes:
        typer.echo(_say_outcome(outcome, is_strict))
    for warning in _warnings(report, _read_before(config) if report.empty_sources else set()):
        typer.echo(f"warning: {warning}", err=True)
    typer.echo(_summary(config, report, is_dry_run))
    return report


def _say_outcome(outcome: FileOutcome, is_strict: bool) -> str:
    log = outcome.log
    counts = [f"{counted(log.loaded, 'records')} loaded"]
    counts += [f"{count:,} {what} ignored" for what, count in sorted(log.ignored.items())]
    counts += [f"{log.rejected:,} rejected"] if log.rejected else []
    counts += [f"{count:,} {kind}" for kind, (count, _) in sorted(log.oddities.items())]
    line = f"{outcome.shown_path} ({outcome.kind}): {', '.join(counts)}"
    if outcome.refusal:
        line += f"\n  {outcome.refusal}"
    elif (reject := outcome.first_reject) is not None:
        where = f"{outcome.shown_path}:{reject.line}" if reject.line is not None else outcome.shown_path
        line += f"\n  first reject {where}: {reject.reason}"
    return line + ("\n  refused: nothing of this file was loaded" if is_strict and not outcome.is_clean else "")


def _read_before(config: Config) -> set[str]:
    """Sources that the published warehouse holds files of: their exports may have been deleted since."""
    if not path_of(config).is_file():
        return set()
    with connect_as_built(config) as con:
        return {source_id for (source_id,) in con.execute("select distinct source_id from meta.files").fetchall()}


def _warnings(report: IngestReport, read_before: set[str]) -> list[str]:
    warnings = [
        f"no file matches {source_id}: "
        + ("what was read of it before is kept" if source_id in read_before else "its pages will say so")
        for source_id in report.empty_sources
    ]
    warnings += map(str, report.unheard)
    warnings += [
        f"{path} was loaded without --strict and holds records that could not be read: correct it, or "
        "`gangline ingest --rebuild --strict` leaves it out"
        for path in report.blemished
    ]
    if report.unconfigured_files:
        warnings.append(
            f"in the warehouse, but no longer named by the config: {counted(report.unconfigured_files, 'files')}; "
            "`gangline ingest --rebuild` drops what is not named"
        )
    return warnings


def _summary(config: Config, report: IngestReport, is_dry_run: bool) -> str:
    files = counted(len(report.outcomes), "files")
    if is_dry_run:
        return f"dry run: {files} would be read, {report.known} known; nothing was written"
    new = f"{files} read, {report.known} already known"
    return f"{config.cluster.name}: {new}" + ("; warehouse built" if report.is_built else "; nothing to do")


def build_command(config: ConfigOption = None) -> None:
    """Build every table again from what was read."""
    loaded = load_default(config)
    rebuild_models(loaded)
    typer.echo(f"{loaded.cluster.name}: warehouse built")


def check_command(config: ConfigOption = None) -> None:
    """Run every check of the tables' contracts; exit 1 where one fails."""
    with connect(load_default(config)) as con:
        results = run_checks(con)
    broken = [result for result in results if result.failing_rows]
    for result in broken:
        typer.echo(f"{result.severity}: {result}")
    failed = sum(1 for result in broken if result.severity == Severity.FAIL)
    typer.echo(f"{counted(len(results), 'checks')}: {failed} failed, {counted(len(broken) - failed, 'warnings')}")
    if failed:
        raise typer.Exit(errors.FAILED)
