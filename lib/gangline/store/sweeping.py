"""Files that nothing names any more, taken away: at once where a killed writer left them, else a day later."""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import duckdb

GRACE = timedelta(days=1)  # a reader may still have the warehouse open that named them


def named_files(con: duckdb.DuckDBPyConnection) -> set[str]:
    """The parts that a warehouse counts; none where it is older than the store."""
    known = con.execute(
        "select 1 from information_schema.tables where table_schema = 'meta' and table_name = 'sample_parts'"
    ).fetchone()
    rows = con.execute("select distinct file_name from meta.sample_parts").fetchall() if known else []
    return {name for (name,) in rows}


def sweep(con: duckdb.DuckDBPyConnection, telemetry: Path, kept: Iterable[str] = ()) -> list[Path]:
    """Deletes parts that neither this warehouse nor `kept` names.

    Parameters
    ----------
    con
        The warehouse being written.
    kept
        Names that other warehouses of the folder count.

    Returns
    -------
    list of Path
        What was deleted.
    """
    recent = con.execute("select file_name from meta.sample_leavings where left_at > now() - ?", [GRACE]).fetchall()
    named = named_files(con) | set(kept) | {name for (name,) in recent}
    swept = [path for path in sorted(telemetry.glob("metric=*/*")) if path.is_file() and path.name not in named]
    for path in swept:
        path.unlink()
    con.execute("delete from meta.sample_leavings where left_at <= now() - ?", [GRACE])
    return swept
