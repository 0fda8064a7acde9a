"""Opening the warehouse so that offline means offline, times mean UTC and versions fit."""

import os
import shlex
from pathlib import Path

import duckdb

from gangline.config.model import Config
from gangline.definitions import sql_hash
from gangline.store.layout import FOLDER_NAME
from gangline.store.reading import SampleStore
from gangline.store.tables import point_at_samples
from gangline.warehouse.tables import SCHEMA_VERSION, get_build

FILE_NAME = "warehouse.duckdb"
UNWRITTEN = "Could not write file"  # how DuckDB says that the disk is full, in errors of many kinds
Settings = dict[str, str | bool | int | float | list[str]]
# DuckDB's own default is four fifths of the machine in every process; above the cap it spills beside the warehouse.
MEMORY_LIMIT = "1500MB"
BAD_CAPS = "GANGLINE_MEMORY_LIMIT is a size such as 4GB, GANGLINE_THREADS a count such as 2"
_OFFLINE: Settings = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}


class WarehouseError(RuntimeError):
    """The warehouse cannot be used; `exit_code` is 4 where it is locked or of another version, else 2."""

    def __init__(self, message: str, exit_code: int = 4) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class OutdatedError(WarehouseError):
    """The warehouse can be read, but its tables were made by other SQL: an ingest makes them again."""


def path_of(config: Config) -> Path:
    """The warehouse's file, beside its config."""
    return config.folder / FILE_NAME


def rebuild_command(config: Config) -> str:
    """The command that makes the warehouse anew, ready to paste into a shell."""
    return f"gangline ingest --rebuild -c {shlex.quote(str(config.path))}"


def telemetry_of(config: Config) -> Path:
    """The folder of samples, beside it."""
    return config.folder / FOLDER_NAME


def samples_of(con: duckdb.DuckDBPyConnection, config: Config) -> SampleStore:
    """The samples that an open warehouse names, for numpy; `marts.samples` has them for SQL."""
    return SampleStore(con, telemetry_of(config))


def connect(config: Config) -> duckdb.DuckDBPyConnection:
    """Opens the cluster's warehouse read-only, many readers at once.

    Raises
    ------
    WarehouseError
        Where there is none, or it was made by versions that this one cannot read.
    OutdatedError
        Where its tables were made by other SQL than ours.
    """
    con = connect_as_built(config)
    if get_build(con).get("sql_hash", ours := sql_hash()) != ours:
        con.close()
        command = rebuild_command(config).replace(" --rebuild", "")
        raise OutdatedError(
            f"{path_of(config)}: its tables were made by other SQL than that of this gangline; "
            f"`{command}` makes them again, as `gangline report` does by itself"
        )
    return con


def connect_as_built(config: Config) -> duckdb.DuckDBPyConnection:
    """Opens it as `connect`, whatever SQL its tables were made by: to tell what it holds, or to make them again."""
    return connect_file(path_of(config), rebuild_hint=rebuild_command(config))


def connect_file(path: Path, rebuild_hint: str = "gangline ingest --rebuild") -> duckdb.DuckDBPyConnection:
    """Opens a warehouse file read-only and checks its versions."""
    if not path.is_file():
        hint = rebuild_hint.replace(" --rebuild", "")
        raise WarehouseError(f"{path}: no warehouse yet; make it with `{hint}`", exit_code=2)
    con = open_raw(path, rebuild_hint, read_only=True)
    check_versions(con, path, rebuild_hint)
    return con


def open_raw(path: Path, rebuild_hint: str, read_only: bool) -> duckdb.DuckDBPyConnection:
    """A connection with the settings that every one has: UTC, no extensions from outside, memory and threads capped."""
    settings = _OFFLINE | _caps() | ({} if read_only else _writing(path))
    try:
        con = duckdb.connect(path, read_only=read_only, config=settings)
    except (duckdb.IOException, duckdb.SerializationException, duckdb.InternalException) as error:
        reason = str(error).splitlines()[0]
        if UNWRITTEN in reason:
            raise
        raise WarehouseError(f"{path}: cannot be opened: {reason}; rebuild it with `{rebuild_hint}`") from error
    except (duckdb.ParserException, duckdb.SyntaxException, duckdb.InvalidInputException) as error:
        reason = str(error).splitlines()[0].partition(": ")[2]
        raise WarehouseError(f"{BAD_CAPS}: {reason}", exit_code=2) from error
    con.execute("set TimeZone = 'UTC'")
    con.execute("set enable_progress_bar = false")
    point_at_samples(con, path.parent / FOLDER_NAME)
    return con


def _writing(path: Path) -> Settings:
    """Rows carry their line, so their order may be lost; what memory does not hold goes beside the warehouse."""
    return {"preserve_insertion_order": False, "temp_directory": f"{path}.tmp"}


def check_versions(con: duckdb.DuckDBPyConnection, path: Path, rebuild_hint: str) -> None:
    """Refuses a warehouse of another schema, or written by a newer DuckDB than this one."""
    build = get_build(con)
    theirs, ours = build.get("schema_version", "none"), str(SCHEMA_VERSION)
    if theirs != ours:
        con.close()
        raise WarehouseError(
            f"{path}: its schema is version {theirs}, this gangline reads {ours}; rebuild it with `{rebuild_hint}`"
        )
    made_with = build.get("duckdb_version", duckdb.__version__)
    if _release(made_with) > _release(duckdb.__version__):
        con.close()
        raise WarehouseError(
            f"{path}: made with DuckDB {made_with}, this is {duckdb.__version__}; rebuild it with `{rebuild_hint}`"
        )


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())


def _caps() -> Settings:
    caps: Settings = {"memory_limit": os.environ.get("GANGLINE_MEMORY_LIMIT") or MEMORY_LIMIT}
    if threads := os.environ.get("GANGLINE_THREADS"):
        caps["threads"] = threads
    return caps
