"""Series on one grid, by node."""

import sys
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from gangline.counters import count_by_step, deltas_of
from gangline.sources.samples import SampleBatch
from gangline.store.identity import NodeRule, identify
from gangline.store.matrix import Grid, How, read_increases, read_levels, read_levels_by_day
from gangline.store.parts import SeriesDay
from gangline.store.reading import MetricDays
from tests.store.stored import DAY, T0, batch, stored

NAN = np.nan


def ids(metric: str, *labels: dict[str, str]) -> list[int]:
    return [identify({"__name__": metric, "instance": "n1:9100"} | each, NodeRule()).series_id for each in labels]


@pytest.mark.parametrize(
    ("how", "expected"),
    [("mean", [2.0, 5.0, NAN, 8.0]), ("sum", [4.0, 5.0, NAN, 8.0]), ("max", [3.0, 5.0, NAN, 8.0])],
)
def test_levels_of_a_node(tmp_path: Path, how: How, expected: list[float]) -> None:
    with stored(tmp_path) as made:
        made.load(
            "f", batch({T0: 1.0, T0 + 15: 5.0, T0 + 25: NAN}, gpu="0"), batch({T0 + 9: 3.0, T0 + 30: 8.0}, gpu="1")
        )
        first, second = ids("m", {"gpu": "0"}, {"gpu": "1"})
        matrix = read_levels(made.store, "m", {first: "n1", second: "n1"}, Grid(T0, 10, 4), how)
        assert matrix.columns == ("n1",)
        np.testing.assert_array_equal(matrix.values[:, 0], expected)


def test_levels_across_days_and_series_left_out(tmp_path: Path) -> None:
    times = np.arange(T0 - 60_000, T0 + DAY + 60_000, 30_000)
    with stored(tmp_path) as made:
        made.load("f", *(SampleBatch({"__name__": "m", "gpu": str(n)}, times, times * 1.0 + n) for n in range(3)))
        wanted = [identify({"__name__": "m", "gpu": str(n)}, NodeRule()).series_id for n in (0, 2)]
        grid = Grid.of(T0 - 30_000, T0 + DAY + 30_000, 30_000)
        matrix = read_levels(made.store, "m", dict(zip(wanted, ("b", "a"), strict=True)), grid, scale=2.0)
        assert matrix.columns == ("a", "b")
        np.testing.assert_array_equal(matrix.values, np.stack([grid.times_ms + 2.0, grid.times_ms + 0.0], axis=1) * 2)


def test_a_day_that_two_files_hold_is_put_together(tmp_path: Path) -> None:
    """Before days are merged a series comes twice: in part, and further than before."""
    with stored(tmp_path) as made:
        made.load("a", batch({T0 + 10: 1.0, T0 + 20: 2.0}))
        made.load("b", batch({T0 + 20: NAN, T0 + 30: 3.0}))
        made.load("c", batch({T0 + 2 * DAY: 4.0}))
        (series,) = ids("m", {})
        matrix = read_levels(made.store, "m", {series: "n1", 1: "n2"}, Grid(T0, 10, 2 * DAY // 10 + 2))
    column = matrix.values[:, 0]
    assert column[1:4].tolist() == [1.0, 2.0, 3.0]
    assert column[-2] == 4.0
    assert np.flatnonzero(~np.isnan(column)).tolist() == [1, 2, 3, column.size - 2]
    assert np.isnan(matrix.values[:, 1]).all()


def test_blanks_of_dcgm_are_unknown(tmp_path: Path) -> None:
    with stored(tmp_path) as made:
        made.load("f", batch({T0: 9.223372036854776e18, T0 + 10: 4.0}, "DCGM_FI_DEV_GPU_TEMP"))
        (series,) = ids("DCGM_FI_DEV_GPU_TEMP", {})
        matrix = read_levels(made.store, "DCGM_FI_DEV_GPU_TEMP", {series: "n1"}, Grid(T0, 10, 2))
        np.testing.assert_array_equal(matrix.values[:, 0], [NAN, 4.0])


def test_increases_add_mounts_up_but_equal_ones_once(tmp_path: Path) -> None:
    counts = {T0 + 10 * n: 5.0 * n for n in range(4)}
    mounts = [{"mountaddr": address} for address in ("a", "b", "c")]
    with stored(tmp_path) as made:
        differing = {time: 2 * value for time, value in counts.items()}
        for labels, points in zip(mounts, (counts, counts, differing), strict=True):
            made.load(labels["mountaddr"], batch(points, **labels))
        series = ids("m", *mounts)
        columns = dict.fromkeys(series, "n1")
        grid = Grid(T0, 10, 3)
        once = read_increases(made.store, "m", columns, grid, dict.fromkeys(series, "export"))
        np.testing.assert_array_equal(once.values[:, 0], [15.0, 15.0, 15.0])
        np.testing.assert_array_equal(read_increases(made.store, "m", columns, grid).values[:, 0], [20.0] * 3)


@pytest.mark.parametrize("step_ms", [30_000, 25_200_000, 3 * DAY])
def test_increases_across_days_are_those_of_the_whole_series(tmp_path: Path, step_ms: int) -> None:
    """A restart and a replica's dip at midnight, a gap across another one."""
    times = np.arange(T0 + 1_000, T0 + 4 * DAY, 60_000)
    values = np.cumsum(np.random.default_rng(1).integers(0, 9_000, times.size)).astype(np.float64)
    midnight, next_midnight = (int(np.searchsorted(times, T0 + days * DAY)) for days in (1, 2))
    values[midnight:] -= values[midnight] - 7
    values[next_midnight - 1] = values[next_midnight - 2] * 0.999
    is_kept = np.abs(times - (T0 + 3 * DAY)) > 400_000
    times, values = times[is_kept], values[is_kept]
    grid = Grid.of(T0 - 5_000, T0 + 4 * DAY, step_ms)
    with stored(tmp_path) as made:
        made.load("f", SampleBatch({"__name__": "m", "instance": "n1"}, times, values))
        (series,) = ids("m", {})
        found = read_increases(made.store, "m", {series: "n1"}, grid).values[:, 0]
    expected = count_by_step(deltas_of(times, values), grid.start_ms, grid.step_ms, grid.step_count)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-6)
    assert np.isnan(expected).any()


def test_each_day_of_a_counter_is_read_once_and_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = np.arange(T0, T0 + 6 * DAY, 600_000)
    with stored(tmp_path) as made:
        made.load("f", SampleBatch({"__name__": "m", "instance": "n1"}, times, times * 1.0))
        (series,) = ids("m", {})
        read: list[SeriesDay] = []
        held: list[int] = []
        rows_as_they_are = MetricDays.rows

        def rows(days: MetricDays, day: date) -> list[SeriesDay]:
            held.append(sum(sys.getrefcount(row) > 3 for row in read))
            read.extend(of_day := list(rows_as_they_are(days, day)))
            return of_day

        monkeypatch.setattr(MetricDays, "rows", rows)
        read_increases(made.store, "m", {series: "n1"}, Grid.of(T0, T0 + 6 * DAY, 3_600_000))
    assert [row.times.day for row in read] == list(range(T0 // DAY, T0 // DAY + 6))
    assert 1 <= max(held) <= 2


@pytest.mark.parametrize("step_ms", [30_000, 7 * 3_600_000])
@pytest.mark.parametrize("is_shared", [True, False])
def test_levels_by_day_are_those_of_the_whole(tmp_path: Path, step_ms: int, is_shared: bool) -> None:
    """Days that every step of has a sample, days in part, none, and steps across midnight."""
    times = np.arange(T0 + 5_000, T0 + 5 * DAY, 30_000)
    times = times[(times < T0 + 2 * DAY) | (times > T0 + 3 * DAY + 40_000)]
    with stored(tmp_path) as made:
        series = [{"__name__": "m", "gpu": str(gpu)} for gpu in range(3)]
        made.load("f", *(SampleBatch(each, times, times * 1.0 + gpu) for gpu, each in enumerate(series)))
        made.load("g", SampleBatch(series[0], times[:9] + 7, times[:9] * -1.0))
        names = ("b", "a", "a" if is_shared else "c")
        columns = {identify(each, NodeRule()).series_id: name for each, name in zip(series, names, strict=True)}
        grid = Grid.of(T0 - 3_600_000, T0 + 5 * DAY + 3_600_000, step_ms)
        whole = read_levels(made.store, "m", columns, grid, scale=0.5)
        days = [
            (day.grid, day.columns, day.values.copy())
            for day in read_levels_by_day(made.store, "m", columns, grid, scale=0.5)
        ]
    np.testing.assert_array_equal(np.concatenate([values for _, _, values in days]), whole.values)
    assert np.concatenate([part.times_ms for part, _, _ in days]).tolist() == grid.times_ms.tolist()
    assert {columns for _, columns, _ in days} == {whole.columns}
    assert all(part.times_ms[0] // DAY == part.times_ms[-1] // DAY for part, _, _ in days)


def test_of_a_day_twice_the_later_file_fills_what_the_first_lacks(tmp_path: Path) -> None:
    """Both have every timestamp of the day; what is no number in one is taken from the other."""
    times = np.arange(T0, T0 + DAY, 30_000)
    first, second = times * 1.0, times * 2.0
    first[5], second[7] = NAN, NAN
    with stored(tmp_path) as made:
        for name, values in (("f", first), ("g", second)):
            made.load(name, SampleBatch({"__name__": "m", "instance": "n1"}, times, values))
        (series,) = ids("m", {})
        found = read_levels(made.store, "m", {series: "n1"}, Grid(T0, 30_000, times.size)).values[:, 0]
    one, other = np.where(np.isnan(second), first, second), np.where(np.isnan(first), second, first)
    assert found.tolist() in (one.tolist(), other.tolist())


def test_a_metric_that_is_not_there_is_empty(tmp_path: Path) -> None:
    with stored(tmp_path) as made:
        assert read_levels(made.store, "m", {}, Grid(T0, 10, 2)).values.shape == (2, 0)
        np.testing.assert_array_equal(read_levels(made.store, "m", {1: "n"}, Grid(T0, 10, 1)).values, [[NAN]])
