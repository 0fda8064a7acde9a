"""The whole ingest: what is new is loaded into the warehouse's copy, the models are built, the copy is published."""

import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import polars as pl

from gangline import __version__
from gangline.build import build
from gangline.config.model import Config
from gangline.definitions import sql_folder, sql_hash
from gangline.ingest.fillers import fillers_of
from gangline.ingest.finding import FoundFile, Unheard, find_files, source_id_of, unheard
from gangline.ingest.ledger import Ledger, Place, read_ledger
from gangline.ingest.loading import FileOutcome, file_id_of, forget_file, try_file, unreadable
from gangline.ingest.new_files import Listener, NewFiles
from gangline.roles.resolving import check_names
from gangline.sources.metering import Meter
from gangline.store.settling import settle
from gangline.store.sweeping import forget_lost_parts, lost_parts, named_files, sweep
from gangline.store.tables import publish_views
from gangline.warehouse.opening import WarehouseError, connect_as_built, open_raw, path_of, telemetry_of
from gangline.warehouse.tables import SCHEMA_VERSION, create_tables, get_build, record_config, set_build
from gangline.warehouse.writing import writing


@dataclass
class IngestReport:
    """What an ingest did."""

    outcomes: list[FileOutcome] = field(default_factory=list)
    known: int = 0
    empty_sources: list[str] = field(default_factory=list)
    unheard: list[Unheard] = field(default_factory=list)
    unconfigured_files: int = 0
    missing_files: list[str] = field(default_factory=list)
    is_built: bool = False
    blemished: list[str] = field(default_factory=list)

    @property
    def refused(self) -> list[FileOutcome]:
        """Files that hold something that could not be read."""
        return [outcome for outcome in self.outcomes if not outcome.is_clean]


def ingest(
    config: Config,
    *,
    is_strict: bool = False,
    is_dry_run: bool = False,
    is_rebuild: bool = False,
    listener: Listener = lambda path, done, total: None,
    meter: Meter = lambda done, total: None,
) -> IngestReport:
    """Brings the warehouse up to date with the files that the config names.

    Parameters
    ----------
    is_strict : leave out (and report) every file that holds a record which cannot be read; one that was loaded
        without it stays, and is reported
    is_dry_run : read what is new and say what would happen; write nothing
    is_rebuild : start from an empty warehouse
    listener : told the file at work, how many are done and how many there are
    meter : told, while a file is read, how many of its bytes are and how many it has
    """
    check_names(config)
    found = find_files(config)
    empty = [source_id for source_id, files in found.items() if not files]
    report = IngestReport(empty_sources=empty, unheard=unheard(found))
    files = [file for listed in found.values() for file in listed]
    hashes: dict[Place, str] = {}
    if is_dry_run:
        _try_new(config, files, report, listener)
    elif not is_rebuild and _is_current(config, files, hashes):
        report.known = len(files)
    else:
        _write(
            config, found, report, hashes, is_strict=is_strict, is_rebuild=is_rebuild, listener=listener, meter=meter
        )
    if is_strict and path_of(config).is_file():
        report.blemished = _blemished(config, files, hashes)
    return report


def _write(
    config: Config,
    found: dict[str, list[FoundFile]],
    report: IngestReport,
    hashes: dict[Place, str],
    *,
    is_strict: bool,
    is_rebuild: bool,
    listener: Listener,
    meter: Meter,
) -> None:
    files = [file for listed in found.values() for file in listed]
    with writing(config, rebuild=is_rebuild) as con:
        _sweep(con, config)
        for file_id in forget_lost_parts(con, telemetry_of(config)):
            forget_file(con, file_id)
        new = NewFiles(con, read_ledger(con, hashes), telemetry_of(config), is_strict, listener, meter)
        new.load(files)
        report.outcomes, report.known = new.outcomes, new.known
        _record_sources(con, config, found)
        _say_leftovers(con, config, report)
        _build(con, config)
        report.is_built = True


def _blemished(config: Config, files: list[FoundFile], hashes: dict[Place, str]) -> list[str]:
    """Files of the published warehouse that hold, as they are now, a record which could not be read."""
    with connect_as_built(config) as con:
        rows = con.execute("select file_id, path from meta.files where rejected > 0").fetchall()
        ledger = read_ledger(con, hashes)
    loaded, paths = {file_id for file_id, _ in rows}, {path for _, path in rows}
    suspects = [file for file in files if file.shown_path in paths]
    return sorted({file.shown_path for file in suspects if _file_id(ledger, file) in loaded})


def _file_id(ledger: Ledger, file: FoundFile) -> str | None:
    """Of what a file holds now; null where it cannot be read, which is told of it as it is loaded."""
    try:
        return file_id_of(ledger.digest_of(file), file.kind)
    except OSError:
        return None


def rebuild_models(config: Config) -> None:
    """Builds every model again from the raw tables."""
    with writing(config) as con:
        _record_sources(con, config, find_files(config))
        _build(con, config)


def _try_new(config: Config, files: list[FoundFile], report: IngestReport, listener: Listener) -> None:
    with _held(config) as con:
        ledger = read_ledger(con)
        for done, file in enumerate(files):
            listener(file.shown_path, done, len(files))
            try:
                sha256 = ledger.digest_of(file)
            except OSError as error:
                report.outcomes.append(unreadable(file, error))
                continue
            if ledger.is_loaded(file, file_id_of(sha256, file.kind)):
                report.known += 1
            else:
                report.outcomes.append(try_file(file))
    listener("", len(files), len(files))


def _held(config: Config) -> duckdb.DuckDBPyConnection:
    """The published warehouse, or an empty one in memory where there is none yet."""
    if path_of(config).is_file():
        return connect_as_built(config)
    con = duckdb.connect()
    create_tables(con)
    return con


def _sweep(con: duckdb.DuckDBPyConnection, config: Config) -> None:
    """Removes samples that no warehouse of the folder names; none where one of them cannot be asked."""
    kept: set[str] = set()
    for warehouse in (path_of(config), Path(f"{path_of(config)}.before-rebuild")):
        if warehouse.is_file():
            try:
                with open_raw(warehouse, "", read_only=True) as other:
                    kept |= named_files(other)
            except WarehouseError:
                return
    sweep(con, telemetry_of(config), kept)


def _record_sources(con: duckdb.DuckDBPyConnection, config: Config, found: dict[str, list[FoundFile]]) -> None:
    con.execute("update meta.sources set is_configured = false, file_count = 0")
    for position, entry in enumerate(config.sources):
        source_id = source_id_of(entry)
        con.execute(
            "insert or replace into meta.sources values (?, ?, ?, ?, ?, ?, true, ?)",
            [
                source_id,
                str(entry.kind),
                entry.path,
                entry.time_zone or config.cluster.time_zone,
                entry.exported_at,
                position,
                len(found[source_id]),
            ],
        )
    con.execute(
        "delete from meta.sources where source_id not in (select source_id from meta.files) and not is_configured"
    )


def _say_leftovers(con: duckdb.DuckDBPyConnection, config: Config, report: IngestReport) -> None:
    rows = con.execute(
        "select files.path, is_configured from meta.files as files join meta.sources using (source_id)"
        " order by files.path"
    ).fetchall()
    report.unconfigured_files = sum(1 for _, is_configured in rows if not is_configured)
    report.missing_files = [
        path for path, is_configured in rows if is_configured and not (config.folder / path).exists()
    ]


def _build(con: duckdb.DuckDBPyConnection, config: Config) -> None:
    record_config(con, config)
    settle(con, telemetry_of(config))
    publish_views(con)
    build(con, sql_folder(), fillers=fillers_of(config))
    set_build(con, **_facts(config), built_at=datetime.now(UTC).isoformat(timespec="seconds"))


def _facts(config: Config) -> dict[str, str]:
    return {
        "schema_version": str(SCHEMA_VERSION),
        "gangline_version": __version__,
        "duckdb_version": duckdb.__version__,
        "polars_version": pl.__version__,
        "python_version": platform.python_version(),
        "config_hash": config.digest(),
        "config_path": config.path.name,
        "sql_hash": sql_hash(),
    }


def _is_current(config: Config, files: list[FoundFile], hashes: dict[Place, str]) -> bool:
    """True where the published warehouse already holds these files, this config and these models; adds to `hashes`."""
    building = Path(f"{path_of(config)}.building")
    if not path_of(config).is_file() or building.exists():
        return False
    with connect_as_built(config) as con:
        build_facts = get_build(con)
        if any(build_facts.get(key) != value for key, value in _facts(config).items()):
            return False
        if lost_parts(con, telemetry_of(config)):
            return False
        ledger = read_ledger(con)
    try:
        return all(ledger.holds(file) for file in files)
    except OSError:
        return False
    finally:
        hashes.update(ledger.hashes)
