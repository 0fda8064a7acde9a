"""What counters of nodes counted in each step, day by day, against the counters read whole (analyses 10)."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from typing import cast

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.counters import count_by_step, deltas_of
from gangline.phases.counted import EvenSamples, by_node, counted_of
from gangline.phases.counting import LAG_MS, CounterDays
from gangline.roles.definitions import ROLES
from gangline.roles.resolving import ResolvedRole
from gangline.store.layout import DAY_MS, day_of
from gangline.store.matrix import Grid
from gangline.store.parts import SeriesDay
from gangline.store.reading import SampleStore, SeriesSamples
from gangline.store.timelines import cut_by_day

WRITE = ROLES["nfs_write_bytes"]
FIRST_DAY = (datetime(2026, 3, 1, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days
START_MS = FIRST_DAY * DAY_MS
Series = tuple[np.ndarray, np.ndarray]


class DaysOf:
    """A store of series: rows of a day as the real one gives them."""

    def __init__(self, series: dict[int, Series]) -> None:
        self._series = series

    def rows_by_day(self, metric: str) -> Callable[[date], Iterator[SeriesDay]]:
        return self._rows

    def _rows(self, day: date) -> Iterator[SeriesDay]:
        for series_id, (times_ms, values) in self._series.items():
            for times in cut_by_day(times_ms):
                if day_of(times.day) == day:
                    yield SeriesDay(series_id, times, values[times.start : times.stop])


def role_of(nodes: dict[int, str], mounts: dict[int, str] | None = None) -> ResolvedRole:
    labels = [f'{{"export": "{(mounts or {}).get(series, series)}", "operation": "WRITE"}}' for series in nodes]
    series = pl.DataFrame({"series_id": list(nodes), "node": list(nodes.values()), "labels": labels})
    return ResolvedRole("nfs_write_bytes", WRITE.kind, WRITE.unit, WRITE.sources[0], False, series)


def day_by_day(series: dict[int, Series], role: ResolvedRole, step_ms: int, days: int) -> np.ndarray:
    """One node's steps over all days, the last hour of the last one on the day after it."""
    reader = CounterDays(cast(SampleStore, DaysOf(series)), role)
    pieces = []
    for number in range(days + 1):
        start_ms = START_MS + number * DAY_MS
        counted = reader.take(day_of(FIRST_DAY + number), start_ms + DAY_MS, {"n1"})
        grid = Grid.of(start_ms - LAG_MS, start_ms + DAY_MS - LAG_MS, step_ms)
        steps = by_node(counted["n1"], grid) if "n1" in counted else None
        pieces.append(np.full(grid.step_count, np.nan) if steps is None else nan_where_unknown(steps))
    return np.concatenate(pieces)


def nan_where_unknown(steps: object) -> np.ndarray:
    counted, is_known = steps.counted, steps.is_known  # type: ignore[attr-defined]
    return counted if is_known is None else np.where(is_known, counted, np.nan)


def whole(series: Series, step_ms: int, days: int) -> np.ndarray:
    deltas = deltas_of(*series)
    return count_by_step(deltas, START_MS - LAG_MS, step_ms, (days + 1) * DAY_MS // step_ms)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 299), st.integers(0, 2**32), st.sampled_from([60_000, 300_000, 900_000]), st.booleans())
def test_days_together_are_the_whole(offset_s: int, seed: int, step_ms: int, is_spoilt: bool) -> None:
    """Scrapes every five minutes, some missed, with restarts and replicas' dips, over three days."""
    numbers = np.random.default_rng(seed)
    times_ms = START_MS + 1000 * (offset_s + 300 * np.arange(3 * 288, dtype=np.int64))
    values = np.cumsum(numbers.integers(0, 1000, times_ms.size)).astype(float) + 1e5
    if is_spoilt:
        values[numbers.integers(0, values.size)] *= 0.995
        restart = int(numbers.integers(0, values.size))
        values[restart:] -= values[restart] - 3
        kept = numbers.random(times_ms.size) > 0.2
        times_ms, values = times_ms[kept], values[kept]
    series = times_ms, values
    found = day_by_day({1: series}, role_of({1: "n1"}), step_ms, 3)
    np.testing.assert_allclose(found, whole(series, step_ms, 3), rtol=1e-9, atol=1e-3)


def test_mounts_that_count_alike_count_once_and_others_add_up() -> None:
    times_ms = START_MS + 60_000 * np.arange(2880, dtype=np.int64)
    values = 60.0 * np.arange(2880)
    series = {1: (times_ms, values), 2: (times_ms, values), 3: (times_ms, 2 * values)}
    role = role_of({1: "n1", 2: "n1", 3: "n1"}, {1: "fs", 2: "fs", 3: "fs"})
    found = day_by_day(series, role, 60_000, 2)
    lag = LAG_MS // 60_000
    assert set(found[lag : lag + 2879].tolist()) == {180.0}


def test_a_mount_that_ends_leaves_the_node_known_by_the_other() -> None:
    times_ms = START_MS + 60_000 * np.arange(1440, dtype=np.int64)
    values = 60.0 * np.arange(1440)
    series = {1: (times_ms[:700], values[:700]), 2: (times_ms[710:], values[710:])}
    found = day_by_day(series, role_of({1: "n1", 2: "n1"}), 60_000, 1)[LAG_MS // 60_000 :]
    assert np.flatnonzero(np.isnan(found[:1439])).tolist() == list(range(699, 710))


def test_one_sample_counts_nothing() -> None:
    assert counted_of(SeriesSamples(1, np.array([START_MS]), np.array([1.0]))) is None


def test_even_scrapes_between_steps_are_split_by_time() -> None:
    counted = counted_of(EvenSamples(1, START_MS + 10_000, 30_000, np.array([0.0, 30, 90, 180])))
    assert counted is not None
    steps = counted.by_step(Grid(START_MS, 30_000, 5))
    assert steps.counted.tolist() == [0, 50.0, 80.0, 0, 0]
    assert steps.is_known is not None
    assert steps.is_known.tolist() == [False, True, True, False, False]
