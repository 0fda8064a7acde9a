"""A window to send on: its samples, sessions and figures in one DuckDB file that needs nothing beside it."""

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import polars as pl

from gangline import (
    __version__,
    checkpoints,
    downtimes,
    exclusions,
    failures,
    incidents,
    nfs,
    retries,
    sessions,
    storage_capacity,
)
from gangline.config import Config
from gangline.estimates import Estimate
from gangline.quoting import name_of, text
from gangline.store.tables import point_at_samples
from gangline.warehouse import WarehouseError, connect
from gangline.warehouse.opening import MEMORY_LIMIT, path_of, telemetry_of
from gangline.windows import Window

Listener = Callable[[str, int, int], None]
ANALYSES = (sessions, incidents, exclusions, retries, downtimes, checkpoints, nfs, storage_capacity, failures)
SAMPLES = "samples"
FOREVER = "'infinity'::timestamptz"
# How a table's rows are in a window, by the columns that it has: the first pair that is there decides.
_STARTED, _ENDED = ("started_at", "from_at", "first_at"), ("ended_at", "until_at", "to_at", "last_at")
_ABOUT = "What this file is: which cluster and window, made by what."
_FIGURES = "Headline figures of the window, as the reports print them: value, or the reason why there is none."


class BundleError(WarehouseError):
    """The file cannot be written there."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=2)


def write_bundle(
    config: Config, window: Window, path: Path, listener: Listener = lambda thing, done, total: None
) -> dict[str, int]:
    """Writes the window's rows of every mart, its samples, figures and an `about` table; rows by table.

    Sessions, and whatever else has a start and an end, are in the file whole where they overlap the window; events and
    samples where they lie in it; tables without times whole. Everything keeps its name (`marts.sessions`) and its
    description.

    Raises
    ------
    BundleError
        Where `path` exists already or its folder does not.
    """
    if path.exists():
        raise BundleError(f"{path}: is there already; remove it, or name another file")
    if not path.absolute().parent.is_dir():
        raise BundleError(f"{path}: there is no such folder; make it first")
    with connect(config) as warehouse:
        figures = _figures(warehouse, window)
    writing = path.with_name(f".{path.name}.writing-{os.getpid()}")
    try:
        with _opened(writing, config) as con:
            counts = _copy_tables(con, window, listener)
            counts |= {"figures": _write_figures(con, figures), "about": _write_about(con, config, window)}
            con.execute("detach warehouse")
        writing.replace(path)
    finally:
        for leftover in (writing, Path(f"{writing}.wal")):
            leftover.unlink(missing_ok=True)
    return counts


def _opened(path: Path, config: Config) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(path, config={"memory_limit": MEMORY_LIMIT, "preserve_insertion_order": False})
    con.execute("set TimeZone = 'UTC'")
    con.execute("set enable_progress_bar = false")
    point_at_samples(con, telemetry_of(config))
    con.execute(f"attach {text(str(path_of(config)))} as warehouse (read_only)")
    con.execute("create schema marts")
    return con


def _copy_tables(con: duckdb.DuckDBPyConnection, window: Window, listener: Listener) -> dict[str, int]:
    tables = con.execute(
        "select table_name from information_schema.tables"
        " where table_catalog = 'warehouse' and table_schema = 'marts' order by 1"
    ).fetchall()
    counts = {}
    for done, (table,) in enumerate(tables):
        listener(table, done, len(tables))
        counts[f"marts.{table}"] = _copy_table(con, table, window)
    listener("", len(tables), len(tables))
    return counts


def _copy_table(con: duckdb.DuckDBPyConnection, table: str, window: Window) -> int:
    columns = dict(_columns(con, table))
    condition, values = _within(set(columns), window)
    order = 'order by metric, series_id, "at"' if table == SAMPLES else ""
    source = f"warehouse.marts.{name_of(table)}"
    con.execute(
        f"create table marts.{name_of(table)} as select * from {source} where {condition} {order}",  # noqa: S608
        values,
    )
    for name, description in columns.items():
        if description:
            con.execute(f"comment on column marts.{name_of(table)}.{name_of(name)} is {text(description)}")
    if said := _description(con, table):
        con.execute(f"comment on table marts.{name_of(table)} is {text(said)}")
    return int(con.execute(f"select count(*) from marts.{name_of(table)}").fetchall()[0][0])  # noqa: S608


def _columns(con: duckdb.DuckDBPyConnection, table: str) -> list[tuple[str, str | None]]:
    return con.execute(
        "select column_name, comment from duckdb_columns()"
        " where database_name = 'warehouse' and schema_name = 'marts' and table_name = ? order by column_index",
        [table],
    ).fetchall()


def _description(con: duckdb.DuckDBPyConnection, table: str) -> str | None:
    row = con.execute(
        "select comment from (select database_name, schema_name, table_name, comment from duckdb_tables() union all"
        " select database_name, schema_name, view_name, comment from duckdb_views())"
        " where database_name = 'warehouse' and schema_name = 'marts' and table_name = ?",
        [table],
    ).fetchone()
    return row[0] if row else None


def _within(columns: set[str], window: Window) -> tuple[str, list[object]]:
    """A condition on the rows of a table, and its values."""
    started = next((name for name in _STARTED if name in columns), None)
    if started:
        ends = [name for name in _ENDED if name in columns]
        ended = f"coalesce({', '.join([*ends, FOREVER])})" if ends else started
        began = f"coalesce({started}, created_at)" if "created_at" in columns else started  # what never started
        return f"{began} < ? and {ended} >= ?", [window.end, window.start]
    last = window.end - timedelta(microseconds=1)
    days: list[object] = [window.start.astimezone(UTC).date(), last.astimezone(UTC).date()]
    if "at" in columns:
        instants: list[object] = [window.start, window.end]
        is_on_days = "day between ? and ? and " if "day" in columns else ""
        return f'{is_on_days}"at" >= ? and "at" < ?', [*(days if is_on_days else []), *instants]
    return ("day between ? and ?", days) if "day" in columns else ("true", [])


def _figures(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    return {name: figure for analysis in ANALYSES for name, figure in analysis.figures(con, window).items()}


def _write_figures(con: duckdb.DuckDBPyConnection, figures: Mapping[str, Estimate]) -> int:
    columns = ("value", "unit", "n", "low", "high", "level", "method", "reason")
    rows = [(name, *(getattr(figure, column) for column in columns)) for name, figure in sorted(figures.items())]
    con.execute(
        "create table figures (id varchar primary key, value double, unit varchar, n bigint, low double, high double,"
        " level double, method varchar, reason varchar)"
    )
    if rows:
        con.executemany(f"insert into figures values ({', '.join('?' * 9)})", rows)  # noqa: S608
    con.execute(f"comment on table figures is {text(_FIGURES)}")
    return len(rows)


def _write_about(con: duckdb.DuckDBPyConnection, config: Config, window: Window) -> int:
    facts = {
        "cluster": config.cluster.name,
        "simulated": "yes: made by a program, not measured" if config.is_simulated else "no",
        "window": window.label,
        "window_start": window.start.isoformat(),
        "window_end": window.end.isoformat(),
        "time_zone": window.time_zone,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "gangline_version": __version__,
        "duckdb_version": duckdb.__version__,
        "config_hash": config.digest(),
        "times": "all instants are UTC; days are UTC days",
        "descriptions": "select table_name, comment from duckdb_tables(); and duckdb_columns() for columns",
    }
    about = pl.DataFrame(list(facts.items()), schema={"key": pl.String, "value": pl.String}, orient="row").to_arrow()
    con.register("facts", about)
    con.execute("create table about as select * from facts")
    con.unregister("facts")
    con.execute(f"comment on table about is {text(_ABOUT)}")
    return len(facts)
