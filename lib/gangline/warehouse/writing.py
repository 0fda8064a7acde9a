"""One writer at a time, on a copy that is published whole."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from gangline.config.model import Config
from gangline.warehouse.locking import holding
from gangline.warehouse.opening import WarehouseError, check_versions, connect_file, open_raw, path_of, rebuild_command
from gangline.warehouse.tables import create_tables, get_build, set_build

REBUILDING = "is_rebuilding"


@contextmanager
def writing(config: Config, rebuild: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to the warehouse's copy; on leaving without an error the copy takes the warehouse's place.

    What was committed in a copy survives a kill: the next writer goes on with it. `rebuild` starts from an empty
    copy and keeps the old warehouse as `warehouse.duckdb.before-rebuild`.

    Raises
    ------
    WarehouseError
        Where another writer is at work, or the warehouse is of another version.
    """
    warehouse = path_of(config)
    hint = rebuild_command(config)
    with holding(Path(f"{warehouse}.lock"), f"{warehouse}: process {{holder}} is writing it"):
        building = _prepare_copy(warehouse, hint, rebuild)
        con = open_raw(building, hint, read_only=False)
        try:
            check_versions_of_copy(con, building, hint)
            create_tables(con)
            if rebuild:
                set_build(con, **{REBUILDING: "true"})
            yield con
            is_rebuilt = get_build(con).get(REBUILDING) == "true"
            con.execute("delete from meta.build where key = ?", [REBUILDING])
            con.execute("checkpoint")
        finally:
            con.close()
        if is_rebuilt and warehouse.exists():
            _keep_aside(warehouse)
        _publish(building, warehouse)


def check_versions_of_copy(con: duckdb.DuckDBPyConnection, path: Path, hint: str) -> None:
    """An empty copy has no version yet; any other must fit."""
    if get_build(con):
        check_versions(con, path, hint)


def _prepare_copy(warehouse: Path, hint: str, rebuild: bool) -> Path:
    building = Path(f"{warehouse}.building")
    if rebuild or (building.exists() and not _can_go_on(building, hint)):
        _remove(building)
    if not building.exists() and warehouse.exists() and not rebuild:
        connect_file(warehouse, hint).close()
        _copy(warehouse, building)
    return building


def _copy(warehouse: Path, building: Path) -> None:
    """The whole copy or, on a full disk, nothing that takes room."""
    copying = Path(f"{building}.copying")
    try:
        shutil.copyfile(warehouse, copying)
        copying.replace(building)
    except OSError:
        copying.unlink(missing_ok=True)
        raise


def _can_go_on(building: Path, hint: str) -> bool:
    """True where a copy left by a killed writer still opens and is of this version."""
    try:
        con = open_raw(building, hint, read_only=False)
    except WarehouseError:
        return False
    try:
        check_versions_of_copy(con, building, hint)
    except WarehouseError:
        return False
    con.close()
    return True


def _keep_aside(warehouse: Path) -> None:
    """A second name for the old file, so that the warehouse's own name never points at nothing."""
    aside = Path(f"{warehouse}.before-rebuild")
    aside.unlink(missing_ok=True)
    aside.hardlink_to(warehouse)


def _publish(building: Path, warehouse: Path) -> None:
    with building.open("rb") as written:
        os.fsync(written.fileno())
    building.replace(warehouse)
    folder = os.open(warehouse.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _remove(building: Path) -> None:
    for leftover in (building, Path(f"{building}.wal"), Path(f"{building}.copying")):
        leftover.unlink(missing_ok=True)
    shutil.rmtree(f"{building}.tmp", ignore_errors=True)
