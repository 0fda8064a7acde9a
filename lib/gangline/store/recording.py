"""What a file left in the store, written into the warehouse's ledger."""

import json

import duckdb
import polars as pl

from gangline.store.kinds import kind_of_metric
from gangline.store.layout import day_of
from gangline.store.parts import PartDay
from gangline.store.sink import SeriesSeen, Written

_PART_TYPES = pl.Schema(
    {
        "file_name": pl.String(),
        "metric": pl.String(),
        "day": pl.Date(),
        "file_id": pl.String(),
        "row_group": pl.Int32(),
        "row_group_count": pl.Int32(),
        "series_count": pl.Int64(),
        "sample_count": pl.Int64(),
        "repeat_count": pl.Int64(),
        "conflict_count": pl.Int64(),
        "is_live": pl.Boolean(),
        "is_settled": pl.Boolean(),
    }
)
_SEEN_TYPES = pl.Schema(
    {
        "series_id": pl.Int64(),
        "file_id": pl.String(),
        "metric": pl.String(),
        "node_text": pl.String(),
        "gpu_index": pl.Int32(),
        "gpu_uuid": pl.String(),
        "labels": pl.String(),
        "metric_kind": pl.String(),
        "is_gridded": pl.Boolean(),
        "first_at": pl.Datetime("us", "UTC"),
        "last_at": pl.Datetime("us", "UTC"),
    }
)


def record_written(con: duckdb.DuckDBPyConnection, file_id: str, written: Written) -> None:
    """Makes a file's samples count, within the caller's transaction."""
    _insert(con, "sample_parts", [part_row(p, file_id) for p in written.parts], _PART_TYPES)
    seen = [_seen_row(series, file_id) for series in written.series.values()]
    _insert(con, "series_seen", seen, _SEEN_TYPES)


def record_parts(con: duckdb.DuckDBPyConnection, rows: list[dict[str, object]]) -> None:
    """Adds rows made by `part_row`."""
    _insert(con, "sample_parts", rows, _PART_TYPES)


def part_row(
    part: PartDay, file_id: str | None, *, repeats: int = 0, conflicts: int = 0, is_settled: bool = False
) -> dict[str, object]:
    """A row of `meta.sample_parts`; null `file_id` where several files were merged."""
    return {
        "file_name": part.file_name,
        "metric": part.metric,
        "day": day_of(part.day),
        "file_id": file_id,
        "row_group": part.row_group,
        "row_group_count": part.row_group_count,
        "series_count": part.series_count,
        "sample_count": part.sample_count,
        "repeat_count": repeats,
        "conflict_count": conflicts,
        "is_live": True,
        "is_settled": is_settled,
    }


def _seen_row(series: SeriesSeen, file_id: str) -> dict[str, object]:
    identity = series.identity
    first_at, last_at = series.span
    return {
        "series_id": identity.series_id,
        "file_id": file_id,
        "metric": identity.metric,
        "node_text": identity.node_text,
        "gpu_index": identity.gpu_index,
        "gpu_uuid": identity.gpu_uuid,
        "labels": json.dumps(dict(series.labels), sort_keys=True, ensure_ascii=False),
        "metric_kind": kind_of_metric(identity.metric, series.metric_kind),
        "is_gridded": series.is_gridded,
        "first_at": first_at,
        "last_at": last_at,
    }


def _insert(con: duckdb.DuckDBPyConnection, table: str, rows: list[dict[str, object]], types: pl.Schema) -> None:
    if rows:
        con.register("new_rows", pl.DataFrame(rows, schema=types, orient="row").to_arrow())
        con.execute(f"insert into meta.{table} by name select * from new_rows")  # noqa: S608
        con.unregister("new_rows")
