"""Fewer rows for the same picture: buckets of time that keep every peak."""

from collections.abc import Sequence
from datetime import datetime

import polars as pl

BUCKETS = 700


def buckets(
    samples: pl.DataFrame,
    at: str,
    value: str,
    start: datetime,
    end: datetime,
    by: Sequence[str] = (),
    count: int = BUCKETS,
) -> pl.DataFrame:
    """Reduce a series to `count` buckets of time with the least, the greatest and the middle value of each.

    Values that are null or NaN are left out before; a bucket without values has no row, so a line breaks only where
    the chart says so.

    Parameters
    ----------
    samples : DataFrame
        With a UTC-aware column `at` and a number `value`; `by` names the series.
    start, end : datetime
        The window that the picture's width covers; rows outside it are left out.

    Returns
    -------
    DataFrame
        `by`, `at` (the bucket's start), `low`, `high`, `middle`, `n`, sorted.
    """
    width_us = max(1, -(-_microseconds(start, end) // count))
    position = (pl.col(at) - pl.lit(start)).dt.total_microseconds() // width_us
    inside = samples.filter(
        pl.col(value).is_not_null() & pl.col(value).is_not_nan(), pl.col(at).is_between(start, end, closed="left")
    )
    reduced = inside.group_by([*by, position.alias("bucket")]).agg(
        pl.col(value).min().alias("low"),
        pl.col(value).max().alias("high"),
        pl.col(value).median().alias("middle"),
        pl.len().alias("n"),
    )
    opened = (pl.lit(start) + pl.duration(microseconds=pl.col("bucket") * width_us)).alias("at")
    return reduced.with_columns(opened).select(*by, "at", "low", "high", "middle", "n").sort(*by, "at")


def _microseconds(start: datetime, end: datetime) -> int:
    span = end - start
    return (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds
