"""The folder of SQL that defines every table, and a digest by which a warehouse knows what it was made of."""

import hashlib
from collections.abc import Iterator
from pathlib import Path


def sql_folder() -> Path:
    """The project's own `sql/`, beside the `lib/` that this package is in."""
    return Path(__file__).resolve().parents[2] / "sql"


def sql_hash() -> str:
    """A digest of names and texts of all models, seeds, macros, checks and their contracts."""
    return hashlib.sha256(b"".join(_texts(sql_folder()))).hexdigest()


def _texts(folder: Path) -> Iterator[bytes]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".sql", ".yml", ".csv"):
            yield path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0"
