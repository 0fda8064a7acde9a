"""Where a page comes from: the inputs with their hashes, the versions, the commit, the parameters, the time."""

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
from markupsafe import Markup

import gangline
from gangline.report.wording import instant

ROOT = Path(__file__).resolve().parents[3]
GENERATED_AT = "GANGLINE_GENERATED_AT"
COMMIT = "GANGLINE_COMMIT"
LIBRARIES = ("duckdb", "polars", "altair", "vl-convert-python", "papermill", "nbconvert")
INPUTS = "select path as file, kind, size_bytes, records, sha256 from meta.files order by path, kind, file_id"
ITEM = Markup("<dt>{}</dt><dd>{}</dd>")


def inputs(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """List every file that the warehouse was built from."""
    listed: pl.DataFrame = con.sql(INPUTS).pl()
    return listed


def generated_at() -> datetime:
    """Give the instant that the page names: the runner's, so that all pages of a run agree, else now."""
    given = os.environ.get(GENERATED_AT)
    return datetime.fromisoformat(given).astimezone(UTC) if given else datetime.now(UTC)


def commit() -> str:
    """Name the commit of this checkout, `-dirty` where files differ from it; what is known where git is not there."""
    return os.environ.get(COMMIT) or read_commit()


@cache
def read_commit() -> str:
    """Ask git for the commit of this checkout."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return "not from a git checkout"
    told = subprocess.run(  # noqa: S603 - fixed arguments
        [git, "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"],
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip() or "no commit yet"


def versions() -> str:
    """Name the versions that made the page."""
    libraries = [f"{name} {metadata.version(name)}" for name in LIBRARIES]
    return ", ".join([f"gangline {gangline.__version__}", f"Python {platform.python_version()}", *libraries])


def definitions(parameters: Mapping[str, Any], seconds: float) -> Markup:
    """Write the parameters, versions, commit and times as a list."""
    given = ", ".join(f"{name} = {value!r}" for name, value in parameters.items()) or "none"
    items = [
        ("Generated", instant(generated_at().replace(microsecond=0))),
        ("Computed in", f"{seconds:.1f} s"),
        ("Parameters", given),
        ("Versions", versions()),
        ("Commit", commit()),
    ]
    return Markup('<dl class="provenance">{}</dl>').format(Markup("").join(ITEM.format(*item) for item in items))
