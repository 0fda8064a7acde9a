"""Buckets of time: every peak kept, nothing invented."""

from datetime import UTC, datetime, timedelta

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from gangline.charts.reduction import BUCKETS, buckets

START = datetime(2025, 9, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def test_each_bucket_has_least_greatest_and_middle() -> None:
    at = [START + timedelta(hours=h) for h in (0, 1, 2, 12, 13)]
    samples = pl.DataFrame({"at": at, "v": [1.0, 5.0, 2.0, 7.0, 9.0]})
    reduced = buckets(samples, "at", "v", START, START + DAY, count=2)
    assert reduced.rows() == [(START, 1.0, 5.0, 2.0, 3), (START + DAY / 2, 7.0, 9.0, 8.0, 2)]


def test_fifty_five_days_of_half_minutes_keep_a_peak_of_one_sample() -> None:
    end = START + 55 * DAY
    at = pl.datetime_range(START, end, "30s", time_zone="UTC", eager=True, closed="left").alias("at")
    assert len(at) == 158_400
    samples = pl.DataFrame({"at": at}).with_columns(
        v=pl.when(pl.int_range(pl.len()) == 77_777).then(99.0).otherwise(1.0)
    )
    reduced = buckets(samples, "at", "v", START, end)
    assert reduced.height == BUCKETS
    assert (reduced["high"].max(), reduced["low"].max(), reduced["n"].sum()) == (99.0, 1.0, 158_400)


def test_nan_null_and_what_lies_outside_are_left_out() -> None:
    at = [START - DAY, START, START, START + timedelta(hours=1), START + DAY]
    samples = pl.DataFrame({"at": at, "v": [9.0, float("nan"), None, 2.0, 9.0]})
    assert buckets(samples, "at", "v", START, START + DAY, count=1).rows() == [(START, 2.0, 2.0, 2.0, 1)]


def test_series_stay_apart() -> None:
    samples = pl.DataFrame({"node": ["b", "a"], "at": [START, START], "v": [2.0, 1.0]})
    assert buckets(samples, "at", "v", START, START + DAY, by=["node"])["node"].to_list() == ["a", "b"]


def test_no_samples_are_no_rows() -> None:
    samples = pl.DataFrame({"at": [], "v": []}, schema={"at": pl.Datetime("us", "UTC"), "v": pl.Float64})
    assert buckets(samples, "at", "v", START, START + DAY).is_empty()


@given(st.lists(st.tuples(st.integers(0, 86_399), st.floats(-1e6, 1e6)), min_size=1, max_size=50), st.integers(1, 40))
def test_extremes_and_counts_survive(points: list[tuple[int, float]], count: int) -> None:
    samples = pl.DataFrame({"at": [START + timedelta(seconds=s) for s, _ in points], "v": [v for _, v in points]})
    reduced = buckets(samples, "at", "v", START, START + DAY, count=count)
    assert reduced.height <= count
    assert reduced["n"].sum() == len(points)
    assert (reduced["low"].min(), reduced["high"].max()) == (min(v for _, v in points), max(v for _, v in points))
