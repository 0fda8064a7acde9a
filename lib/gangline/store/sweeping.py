"""Files that nothing names any more, taken away: at once where a killed writer left them, else a day later."""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import duckdb

from gangline.store.tables import unmerge

GRACE = timedelta(days=1)  # a reader may still have the warehouse open that named them


def named_files(con: duckdb.DuckDBPyConnection) -> set[str]:
    """The parts that a warehouse counts; none where it is older than the store."""
    known = con.execute(
        "select 1 from information_schema.tables where table_schema = 'meta' and table_name = 'sample_parts'"
    ).fetchone()
    rows = con.execute("select distinct file_name from meta.sample_parts").fetchall() if known else []
    return {name for (name,) in rows}


def lost_parts(con: duckdb.DuckDBPyConnection, telemetry: Path) -> list[tuple[str, str]]:
    """Metric and file name of parts that the warehouse names and the folder does not hold."""
    known = named_files(con) - {path.name for path in telemetry.glob("metric=*/*")}
    if not known:
        return []
    rows = con.execute("select distinct metric, file_name from meta.sample_parts order by all").fetchall()
    return [(metric, name) for metric, name in rows if name in known]


def forget_lost_parts(con: duckdb.DuckDBPyConnection, telemetry: Path) -> list[str]:
    """Takes lost parts out of the ledger.

    Returns
    -------
    list of str
        The files to read again, by id.
    """
    file_ids: set[str] = set()
    for metric, name in lost_parts(con, telemetry):
        rows = con.execute("select day, file_id from meta.sample_parts where file_name = ?", [name]).fetchall()
        file_ids |= {file_id for _, file_id in rows if file_id is not None}
        for day, file_id in rows:
            if file_id is None:
                unmerge(con, metric, day)
    return sorted(file_ids)


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
