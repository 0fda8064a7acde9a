"""Remapped rows by GPU: slopes, steps, failures, resets and GPUs that are gone, from samples of whole days."""

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from gangline import row_remaps
from gangline.row_remaps import _Counter
from gangline.store.layout import DAY_MS
from gangline.warehouse import connect
from gangline.windows import Window
from tests import failing, fleets


def taken(values: list[float], *, late_day: int = 3) -> _Counter:
    """A counter that took a value a day, a batch of two days at a time."""
    counter = _Counter(step_ms=1, late_ms=late_day * DAY_MS)
    times = np.arange(len(values)) * DAY_MS
    for start in range(0, len(values), 2):
        counter.take(times[start : start + 2], np.array(values[start : start + 2]))
    return counter


def test_increases_go_on_over_batches_and_late_ones_are_apart() -> None:
    counter = taken([20, 20, 21, 30, 50])
    assert (counter.gain, counter.late_gain, counter.last, counter.highest) == (30, 29, 50, 50)
    assert counter.points == [(0, 20), (2 * DAY_MS, 21), (3 * DAY_MS, 30), (4 * DAY_MS, 50)]
    assert row_remaps._slopes(counter) == [50, 30, 29, pytest.approx(1 / 3), 29, pytest.approx(29 - 1 / 3)]


def test_a_drop_counts_from_zero() -> None:
    counter = taken([20, 24, 3, 5])
    assert (counter.gain, counter.last, counter.highest) == (4 + 3 + 2, 5, 24)


def test_a_steady_counter_has_one_point_and_a_single_sample_no_slope() -> None:
    assert taken([7, 7, 7]).points == [(0, 7)]
    assert taken([]).points == []
    assert row_remaps._slopes(taken([7], late_day=0)) == [7, 0, 0, None, None, None]


def test_many_changes_are_thinned() -> None:
    counter = _Counter(step_ms=DAY_MS, late_ms=0)
    counter.take(np.arange(0, DAY_MS, 1000), np.arange(0, DAY_MS // 1000).astype(float))
    assert len(counter.points) == 2


def test_gpus_with_remapped_rows_worst_first() -> None:
    config = failing.lepus()
    with connect(config) as con:
        found = row_remaps.remaps(con, config, failing.window())
        own = row_remaps.remaps(con, config, failing.window(), "n05")
        early = row_remaps.remaps(con, config, Window.whole(failing.START, failing.minute(25), "UTC"))
    assert (found.case, found.seen) == ("found", 10)
    first, second = found.gpus.rows(named=True)
    assert (first["node"], first["has_failure"], first["correctable_rows"]) == ("n04", True, 39)
    assert (first["correctable_gain"], first["uncorrectable_gain"], first["xid_events"]) == (19, 0, 0)
    assert (second["node"], second["has_failure"], second["uncorrectable_gain"]) == ("n05", False, 1)
    assert second["uncorrectable_at"] == failing.minute(30)
    assert (own.seen, own.gpus["node"].to_list()) == (1, ["n05"])
    assert early.gpus.select("node", "correctable_gain").rows() == [("n04", 0)]
    assert found.points.filter(pl.col("node") == "n05").select("role", "at", "rows").rows() == [
        ("remapped_rows_uncorrectable", failing.minute(0), 0),
        ("remapped_rows_uncorrectable", failing.minute(30), 1),
        ("remapped_rows_uncorrectable", failing.minute(119), 1),
    ]


def test_a_window_without_remapped_rows_and_a_cluster_without_the_metric() -> None:
    config, later = failing.lepus(), datetime(2026, 4, 1, tzinfo=UTC)
    with connect(config) as con:
        none = row_remaps.remaps(con, config, failing.window(), "n01")
        after = row_remaps.remaps(con, config, Window.whole(later, later + timedelta(days=1), "UTC"))
    assert (none.case, none.seen, none.points.height) == ("none", 1, 0)
    assert (after.case, after.seen) == ("not_exported", 0)
    with connect(fleets.sample()) as con:
        assert row_remaps.remaps(con, fleets.sample(), failing.window()).case == "not_exported"
