"""The store's ledger in the warehouse, and the views through which SQL reads the samples.

`meta.sample_parts` has a row for each day in each part. A day that was merged from several parts has a part of its
own, and theirs are no longer live. A view lists exactly the files with a live day.
"""

import re
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import duckdb

from gangline.quoting import name_of, text
from gangline.sources.samples import DCGM_BLANK_MIN, DCGM_PREFIX
from gangline.store.layout import FOLDER_NAME, metric_folder

FOLDER_VARIABLE = "telemetry_folder"  # set by every connection, so that views do not depend on the current folder

_TABLES = {
    "sample_parts": """file_name varchar not null, metric varchar not null, day date not null, file_id varchar,
        row_group integer not null, row_group_count integer not null, series_count bigint not null,
        sample_count bigint not null, repeat_count bigint not null, conflict_count bigint not null,
        is_live boolean not null, is_settled boolean not null""",
    "sample_leavings": "file_name varchar primary key, metric varchar not null, left_at timestamptz not null",
    "series_seen": """series_id bigint not null, file_id varchar not null, metric varchar not null, node_text varchar,
        gpu_index integer, gpu_uuid varchar, labels varchar not null, metric_kind varchar,
        is_gridded boolean not null, first_at timestamptz not null, last_at timestamptz not null""",
}
_SAMPLES = "series_id bigint, metric varchar, at timestamptz, value double, day date"
_SERIES_DAYS = """series_id bigint, metric varchar, day date, sample_count bigint, first_at timestamptz,
    last_at timestamptz, step_ms bigint, gap_count bigint, longest_gap_ms bigint"""

_DESCRIPTIONS = {
    "samples": "One row a sample: series_id (marts.series), metric, at, value, day (UTC). Choose metric and days first:"
    " only their files are then read. NaN, staleness markers and DCGM's blanks are left out.",
    "series_days": "One row a series and UTC day: how many samples, their ends, usual step and gaps.",
}
_COLUMNS = {
    "series_id": "series of marts.series",
    "metric": "name of the metric",
    "at": "when it was scraped, to the millisecond, as exported",
    "value": "as exported",
    "day": "UTC day",
    "sample_count": "numbers on the day; NaN and staleness markers do not count. Unit: count.",
    "first_at": "first sample of the day",
    "last_at": "latest sample of the day",
    "step_ms": "usual time between samples: their median distance; null where there is one sample. Unit: ms.",
    "gap_count": "distances of more than two steps, and of more than jitter above them. Unit: count.",
    "longest_gap_ms": "the longest of them; null where there is none. Unit: ms.",
}

# Not materialized, and joined by metric too, so that a filter on metric or day reaches the scan of the files.
# DCGM's words for "no value", and NaN or staleness markers, are no numbers to SQL; the store keeps them.
_SAMPLES_OF_PARTS = """
create or replace view marts.samples as
with
parts as not materialized (
    select parts_read.*
    from read_parquet({files}, filename = true, hive_partitioning = true, hive_types = {{metric: varchar}}) parts_read
    semi join (select file_name, day from meta.sample_parts where is_live) live
        on parse_filename(filename) = live.file_name and parts_read.day = live.day
),
timelines as not materialized (
    select metric, filename, day, row_group, timeline_id, times_ms from parts where times_ms is not null
),
points as (
    select series_id, metric, day, unnest(timelines.times_ms) as time_ms, unnest("values") as value
    from parts join timelines using (metric, filename, day, row_group, timeline_id)
)
select series_id, metric, make_timestamptz(time_ms * 1000) as at, value, day
from points
where not isnan(value) and not (value >= {blank_min} and starts_with(metric, '{dcgm}'))
"""
_SERIES_DAYS_OF_PARTS = """
create or replace view marts.series_days as
select
    series_id, metric, parts.day, sample_count, make_timestamptz(first_ms * 1000) as first_at,
    make_timestamptz(last_ms * 1000) as last_at, step_ms, gap_count, longest_gap_ms
from read_parquet({files}, filename = true, hive_partitioning = true, hive_types = {{metric: varchar}}) parts
semi join (select file_name, day from meta.sample_parts where is_live) live
    on parse_filename(parts.filename) = live.file_name and parts.day = live.day
"""


def create_store_tables(con: duckdb.DuckDBPyConnection) -> None:
    """Makes the ledger and, where there is none, views without a row."""
    for name, columns in _TABLES.items():
        con.execute(f"create table if not exists meta.{name} ({columns})")
    known = {
        name for (name,) in con.execute("select view_name from duckdb_views() where schema_name = 'marts'").fetchall()
    }
    for view, columns in (("samples", _SAMPLES), ("series_days", _SERIES_DAYS)):
        if view not in known:
            con.execute(_empty_view(view, columns))
            _describe(con, view)


def point_at_samples(con: duckdb.DuckDBPyConnection, telemetry: Path) -> None:
    """Tells a connection where its parts lie, whatever folder the process is in.

    Opened without it (by the duckdb shell, say), the views look beside the current folder.
    """
    escaped = re.sub(r"([*?\[])", r"[\1]", str(telemetry.absolute()))  # DuckDB would take these for wildcards
    con.execute(f"set variable {FOLDER_VARIABLE} = ?", [escaped])


def publish_views(con: duckdb.DuckDBPyConnection) -> None:
    """Makes the views list exactly the files that have a live day."""
    rows = con.execute("select distinct metric, file_name from meta.sample_parts where is_live order by all").fetchall()
    if rows:
        files = _file_list(rows)
        con.execute(_SAMPLES_OF_PARTS.format(files=files, blank_min=DCGM_BLANK_MIN, dcgm=DCGM_PREFIX))
        con.execute(_SERIES_DAYS_OF_PARTS.format(files=files))
    else:
        con.execute(_empty_view("samples", _SAMPLES))
        con.execute(_empty_view("series_days", _SERIES_DAYS))
    for view in _DESCRIPTIONS:
        _describe(con, view)


def forget_samples(con: duckdb.DuckDBPyConnection, file_id: str) -> None:
    """Takes a file's parts out of the ledger; days that were merged with them go back to the parts of other files."""
    touched = con.execute("select distinct metric, day from meta.sample_parts where file_id = ?", [file_id]).fetchall()
    for metric, day in touched:
        unmerge(con, metric, day)
    leave(con, "file_id = ?", [file_id])
    con.execute("delete from meta.series_seen where file_id = ?", [file_id])


def unmerge(con: duckdb.DuckDBPyConnection, metric: str, day: date) -> None:
    """Drops what a day was merged into; the parts it was merged from count again until the day is settled."""
    leave(con, "metric = ? and day = ? and file_id is null", [metric, day])
    con.execute(
        "update meta.sample_parts set is_live = true, is_settled = false where metric = ? and day = ?", [metric, day]
    )


def leave(con: duckdb.DuckDBPyConnection, where: str, values: list[object]) -> None:
    """Takes rows out of the ledger; files that nothing names then are swept away later."""
    con.execute(
        "insert or replace into meta.sample_leavings"  # noqa: S608 - `where` is this module's own text
        f" select distinct file_name, metric, now() from meta.sample_parts where {where}",
        values,
    )
    con.execute(f"delete from meta.sample_parts where {where}", values)  # noqa: S608


def _file_list(rows: Iterable[tuple[str, str]]) -> str:
    """A SQL list; metric names are percent-encoded in it, and DuckDB's wildcards never stand in one."""
    names = ", ".join(text(f"{metric_folder(metric)}/{file_name}") for metric, file_name in rows)
    folder = f"coalesce(getvariable('{FOLDER_VARIABLE}'), '{FOLDER_NAME}')"
    return f"list_transform([{names}], lambda name: {folder} || '/' || name)"


def _describe(con: duckdb.DuckDBPyConnection, view: str) -> None:
    con.execute(f"comment on view marts.{view} is {text(_DESCRIPTIONS[view])}")
    for (column,) in con.execute("select column_name from duckdb_columns() where table_name = ?", [view]).fetchall():
        con.execute(f"comment on column marts.{view}.{name_of(column)} is {text(_COLUMNS[column])}")


def _empty_view(view: str, columns: str) -> str:
    nulls = ", ".join(f"null::{kind} as {name}" for name, kind in (column.split() for column in columns.split(",")))
    return f"create or replace view marts.{view} as select {nulls} where false"
