"""What the doctor looks at."""

import importlib.metadata
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import duckdb

from gangline.config import Config, ConfigError, load_default
from gangline.estimates.wording import counted
from gangline.ingest import find_files
from gangline.ingest.finding import UnreadableKindError, unheard
from gangline.report.paper import find_browser
from gangline.roles.resolving import RoleError, check_names
from gangline.warehouse import WarehouseError, connect
from gangline.warehouse.opening import OutdatedError, path_of

PACKAGES = ("jupyterlab", "polars", "duckdb", "altair", "statsmodels", "papermill", "nbconvert", "vl-convert-python")
EXTENSIONS = ("icu", "json", "parquet")
DISK_LOW_BYTES = 2_000_000_000


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    verdict: Literal["ok", "note", "bad"]
    subject: str
    text: str


def diagnose(config_path: Path | None) -> list[Finding]:
    """Everything that a report needs, in the order in which it needs it."""
    findings = [finding for look in (_python, _packages, _extensions, _kernel, _browser) for finding in look()]
    try:
        config = load_default(config_path)
    except ConfigError as error:
        return [*findings, Finding("bad", "config", str(error))]
    findings.append(Finding("ok", "config", f"{config.path}: cluster {config.cluster.name}"))
    looks: list[Callable[[Config], Iterator[Finding]]] = [_roles, _sources, _warehouse, _disk]
    return findings + [finding for look in looks for finding in look(config)]


def _python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("ok" if sys.version_info >= (3, 11) else "bad", "python", f"{version} (3.11 or newer is needed)")


def _packages() -> Iterator[Finding]:
    try:
        yield Finding("ok", "packages", ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES))
    except importlib.metadata.PackageNotFoundError as error:
        yield Finding("bad", "packages", f"{error.name} is not installed; `make install` installs it")


def _extensions() -> Iterator[Finding]:
    with duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}) as con:
        loaded = {
            name for (name,) in con.execute("select extension_name from duckdb_extensions() where loaded").fetchall()
        }
    missing = [name for name in EXTENSIONS if name not in loaded]
    text = f"DuckDB lacks {', '.join(missing)}" if missing else f"DuckDB has {', '.join(EXTENSIONS)} built in"
    yield Finding("bad" if missing else "ok", "extensions", text)


def _kernel() -> Iterator[Finding]:
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        folder = KernelSpecManager().get_kernel_spec("python3").resource_dir
        yield Finding("ok", "kernel", f"python3 in {folder}")
    except NoSuchKernel:
        yield Finding("bad", "kernel", "no python3 kernel; `make install` brings ipykernel")


def _browser() -> Iterator[Finding]:
    found = find_browser()
    told = str(found) if found else "no Chromium: only --pdf and the browser tests need it"
    yield Finding("ok" if found else "note", "browser", told)


def _roles(config: Config) -> Iterator[Finding]:
    try:
        check_names(config)
    except RoleError as error:
        yield Finding("bad", "roles", str(error))


def _sources(config: Config) -> Iterator[Finding]:
    if not config.sources:
        yield Finding("note", "sources", "the config names no [[sources]]; pages will say that there is no data")
    try:
        found = find_files(config)
        for source_id, files in found.items():
            yield Finding(
                "ok" if files else "note", source_id, counted(len(files), "files") if files else "no file matches"
            )
        yield from (Finding("note", "sources", str(entry)) for entry in unheard(found))
    except UnreadableKindError as error:
        yield Finding("bad", "sources", str(error))


def _warehouse(config: Config) -> Iterator[Finding]:
    if not path_of(config).is_file():
        yield Finding("note", "warehouse", "none yet; `gangline ingest` makes it")
        return
    try:
        with connect(config) as con:
            rows = con.execute("select count(*) from meta.files").fetchone()
        yield Finding("ok", "warehouse", f"{path_of(config)}: {counted(rows[0] if rows else 0, 'files')} read")
    except WarehouseError as error:
        yield Finding("note" if isinstance(error, OutdatedError) else "bad", "warehouse", str(error))


def _disk(config: Config) -> Iterator[Finding]:
    try:
        with tempfile.TemporaryFile(dir=config.folder):
            free = shutil.disk_usage(config.folder).free
    except OSError as error:
        yield Finding("bad", "disk", f"{config.folder}: cannot be written ({error.strerror}); the warehouse lies there")
        return
    text = f"{free / 1e9:.1f} GB free in {config.folder}"
    yield Finding("ok" if free > DISK_LOW_BYTES else "note", "disk", text)
