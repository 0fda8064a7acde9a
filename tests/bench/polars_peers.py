"""What telemetry is measured against: polars, from the same lines into one long Parquet file, and peer z on it."""

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

STEP_MS = 30_000
_LINE = {
    "metric": pl.Struct({"__name__": pl.String, "Hostname": pl.String, "gpu": pl.String}),
    "values": pl.List(pl.Float64),
    "timestamps": pl.List(pl.Int64),
}


def read_with_polars(path: Path, table: Path) -> int:
    """A long table of the samples, streamed; gives how many."""
    labels = pl.col("metric")
    rows = pl.scan_ndjson(path, schema=_LINE).select(
        metric=labels.struct.field("__name__"), series=labels.hash(), time_ms="timestamps", value="values"
    )
    rows.explode("time_ms", "value").sink_parquet(table, compression="lz4")
    return int(pl.scan_parquet(table).select(pl.len()).collect().item())


def peer_z_with_polars(table: Path) -> NDArray[np.float64]:
    """Sum and maximum of each series' absolute peer z, metric by metric, from the long table."""
    samples = pl.scan_parquet(table)
    metrics = samples.select(pl.col("metric").unique().sort()).collect().to_series()
    return np.concatenate([_peer_z(samples.filter(metric=metric)) for metric in metrics])


def _peer_z(samples: pl.LazyFrame) -> NDArray[np.float64]:
    stepped = samples.select("series", "value", step=pl.col("time_ms") // STEP_MS)
    distances = stepped.with_columns(distance=pl.col("value") - pl.col("value").median().over("step"))
    scored = distances.with_columns(mad=pl.col("distance").abs().median().over("step")).filter(pl.col("mad") > 0)
    z = scored.select("series", z=pl.col("distance").abs() / (1.4826 * pl.col("mad")))
    return (
        z.group_by("series").agg(total=pl.sum("z"), most=pl.max("z")).sort("total").drop("series").collect().to_numpy()
    )
