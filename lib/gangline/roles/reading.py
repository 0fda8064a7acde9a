"""A role's samples by node or by GPU, in the role's unit, and the changes of a role that tells events."""

from collections.abc import Callable, Hashable
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl

from gangline.roles.definitions import RoleKind
from gangline.roles.resolving import ResolvedRole
from gangline.sources.samples import instant_of_ms
from gangline.store.matrix import Grid, How, Matrix, read_increases, read_levels
from gangline.store.reading import SampleStore, ms_of

_MOUNTS = "node_mountstats_nfs_"
_CHANGES: dict[str, pl.DataType | type[pl.DataType]] = {
    "node": pl.String,
    "gpu_index": pl.Int32,
    "gpu_uuid": pl.String,
    "at": pl.Datetime("ms", "UTC"),
    "value": pl.Float64,
    "is_first_sample": pl.Boolean,
}


def role_by_node(store: SampleStore, role: ResolvedRole, grid: Grid, how: How = "mean") -> Matrix:
    """A role by step and node: a level combined over the node's series, a counter's increases added up.

    Series whose labels name no node are left out. Mounts of one export that count alike count once (analyses 7).
    """
    return _read(store, role, grid, how, lambda row: row["node"])


def role_by_gpu(store: SampleStore, role: ResolvedRole, grid: Grid) -> Matrix:
    """A role by step and GPU, columns named `node/index`, or `node/uuid` where there is no index."""
    return _read(store, role, grid, "mean", _gpu_name)


def role_changes(store: SampleStore, role: ResolvedRole, start: datetime, end: datetime) -> pl.DataFrame:
    """Every sample in [start, end) whose value is not 0 and not that of the sample before it.

    Returns
    -------
    DataFrame
        node, gpu_index, gpu_uuid, at, value, is_first_sample. A value that a series begins with was not seen to begin:
        an XID gauge keeps its code until another, so such a row says only that there was one before.
    """
    samples = store.read(role.source.metric, ms_of(start), ms_of(end), role.series["series_id"].to_list())
    rows: list[tuple[Any, ...]] = []
    for row in role.series.iter_rows(named=True):
        series = samples.get(row["series_id"])
        if series is None:
            continue
        is_change = (np.diff(series.values, prepend=np.nan) != 0) & (series.values != 0)
        for place in np.flatnonzero(is_change).tolist():
            at, value = instant_of_ms(int(series.times_ms[place])), float(series.values[place]) * role.source.scale
            rows.append((row["node"], row["gpu_index"], row["gpu_uuid"], at, value, place == 0))
    return pl.DataFrame(rows, schema=_CHANGES, orient="row").sort("at", "node", "gpu_index")


def mount_keys(role: ResolvedRole) -> dict[int, Hashable]:
    """What each series' mount is of: node, export and operation; empty for what is no mount."""
    if not role.source.metric.startswith(_MOUNTS):
        return {}
    decoded = role.series["labels"].str.json_decode(pl.Struct({"export": pl.String, "operation": pl.String}))
    keys = zip(role.series["node"], decoded.struct.field("export"), decoded.struct.field("operation"), strict=True)
    return dict(zip(role.series["series_id"].to_list(), keys, strict=True))


def _read(
    store: SampleStore, role: ResolvedRole, grid: Grid, how: How, name_of: Callable[[dict[str, Any]], str | None]
) -> Matrix:
    rows = role.series.iter_rows(named=True)
    column_of = {row["series_id"]: name for row in rows if (name := name_of(row)) is not None}
    metric, scale = role.source.metric, role.source.scale
    if role.kind == RoleKind.COUNTER:
        return read_increases(store, metric, column_of, grid, mount_keys(role), scale)
    return read_levels(store, metric, column_of, grid, how, scale)


def _gpu_name(row: dict[str, Any]) -> str | None:
    part = row["gpu_uuid"] if row["gpu_index"] is None else row["gpu_index"]
    return None if row["node"] is None or part is None else f"{row['node']}/{part}"
