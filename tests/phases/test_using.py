"""GPU use of nodes by step: added up before it is cut, and one by one where a sample is none (analyses 6)."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from typing import cast

import numpy as np
import polars as pl

from gangline.phases.using import GpuDays
from gangline.roles.definitions import ROLES
from gangline.roles.resolving import ResolvedRole
from gangline.sources.samples import DCGM_BLANK_MIN
from gangline.store.matrix import Grid
from gangline.store.parts import SeriesDay
from gangline.store.reading import SampleStore
from gangline.store.timelines import cut_by_day

DAY = date(2026, 3, 1)
START_MS = round(datetime(2026, 3, 1, tzinfo=UTC).timestamp() * 1000)
UTIL = ROLES["gpu_util"]
BLANK = DCGM_BLANK_MIN


class Rows:
    """A store with one day of rows; series 1 and 2 share their timestamps, 3 comes ten seconds later."""

    def __init__(self, values: list[list[float]]) -> None:
        (shared,) = cut_by_day(START_MS + 30_000 * np.arange(4, dtype=np.int64))
        (later,) = cut_by_day(START_MS + 10_000 + 30_000 * np.arange(4, dtype=np.int64))
        times = (shared, shared, later)
        self._rows = [SeriesDay(place + 1, times[place], np.array(own)) for place, own in enumerate(values)]

    def rows_by_day(self, metric: str) -> Callable[[date], Iterator[SeriesDay]]:
        return lambda day: iter(self._rows)


def sums_of(values: list[list[float]], nodes: tuple[str | None, ...]) -> tuple[list[list[float]], list[list[float]]]:
    series = pl.DataFrame(
        {"series_id": [1, 2, 3], "node": nodes, "gpu_index": [0, 1, 2], "gpu_uuid": [None] * 3},
        schema={"series_id": pl.Int64, "node": pl.String, "gpu_index": pl.Int32, "gpu_uuid": pl.String},
    )
    role = ResolvedRole("gpu_util", UTIL.kind, UTIL.unit, UTIL.sources[0], False, series)
    reader = GpuDays(cast(SampleStore, Rows(values)), role)
    sums = reader.take(DAY, Grid(START_MS, 30_000, 4), {"a": 0, "b": 1})
    return sums.total.round(9).tolist(), sums.count.tolist()


def test_series_of_a_node_add_up_whatever_their_timestamps() -> None:
    total, count = sums_of([[10, 20, 30, 40], [90, 80, 70, 60], [50, 50, 50, 50]], ("a", "a", "a"))
    assert total[0] == [1.5] * 4
    assert count == [[3] * 4, [0] * 4]


def test_nodes_stand_apart_and_a_series_without_one_is_left_out() -> None:
    total, count = sums_of([[10, 20, 30, 40], [90, 80, 70, 60], [50, 50, 50, 50]], ("a", "b", None))
    assert total == [[0.1, 0.2, 0.3, 0.4], [0.9, 0.8, 0.7, 0.6]]
    assert count == [[1] * 4, [1] * 4]


def test_a_blank_or_no_number_is_no_sample() -> None:
    """A lone hole is a scrape that did not slip: the step has no level."""
    total, count = sums_of([[10, np.nan, 30, 40], [90, 80, BLANK, 60], [50, 50, 50, 50]], ("a", "a", "a"))
    assert count[0] == [3, 2, 2, 3]
    assert total[0] == [1.5, 1.3, 0.8, 1.5]
