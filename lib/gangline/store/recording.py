"""What a file left in the store, written into the warehouse's ledger."""

import json

import duckdb
import pyarrow as pa

from gangline.store.kinds import kind_of_metric
from gangline.store.layout import day_of
from gangline.store.parts import PartDay
from gangline.store.sink import SeriesSeen, Written

_PART_TYPES = pa.schema(
    {
        "file_name": pa.string(),
        "metric": pa.string(),
        "day": pa.date32(),
        "file_id": pa.string(),
        "row_group": pa.int32(),
        "row_group_count": pa.int32(),
        "series_count": pa.int64(),
        "sample_count": pa.int64(),
        "repeat_count": pa.int64(),
        "conflict_count": pa.int64(),
        "is_live": pa.bool_(),
        "is_settled": pa.bool_(),
    }
)
_SEEN_TYPES = pa.schema(
    {
        "series_id": pa.int64(),
        "file_id": pa.string(),
        "metric": pa.string(),
        "node_text": pa.string(),
        "gpu_index": pa.int32(),
        "gpu_uuid": pa.string(),
        "labels": pa.string(),
        "metric_kind": pa.string(),
        "is_gridded": pa.bool_(),
        "first_at": pa.timestamp("us", "UTC"),
        "last_at": pa.timestamp("us", "UTC"),
    }
)


def record_written(con: duckdb.DuckDBPyConnection, file_id: str, written: Written) -> None:
    """Makes a file's samples count, within the caller's transaction."""
    _insert(con, "sample_parts", pa.Table.from_pylist([part_row(p, file_id) for p in written.parts], _PART_TYPES))
    seen = [_seen_row(series, file_id) for series in written.series.values()]
    _insert(con, "series_seen", pa.Table.from_pylist(seen, _SEEN_TYPES))


def record_parts(con: duckdb.DuckDBPyConnection, rows: list[dict[str, object]]) -> None:
    """Adds rows made by `part_row`."""
    _insert(con, "sample_parts", pa.Table.from_pylist(rows, _PART_TYPES))


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


def _insert(con: duckdb.DuckDBPyConnection, table: str, rows: pa.Table) -> None:
    if rows.num_rows:
        con.register("new_rows", rows)
        con.execute(f"insert into meta.{table} by name select * from new_rows")  # noqa: S608
        con.unregister("new_rows")
