"""Counters in numpy and in SQL: the published check values, and each other."""

from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.build import build
from gangline.counters import count_by_step, count_within, deltas_of, gap_over_ms, increases, regrid
from gangline.definitions import sql_folder
from gangline.ingest.accruals import Accrual
from gangline.models import find_models
from gangline.phases.counted import Counted
from gangline.store.timelines import DayStatistics
from gangline.warehouse import create_tables

MACROS = sorted(path.stem for path in (sql_folder() / "macros").glob("counter_*.sql"))


def counted(times: list[int], values: list[float], start: int, end: int) -> tuple[float, float | None, float | None]:
    total = count_within(deltas_of(np.array(times, np.int64), np.array(values)), start, end)
    return total.increase, total.coverage, total.rate_per_s


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([100, 130, 10, 40], 70),
        ([1000, 1010, 1008, 1020], 20),
        ([100, 130, 10, 200], 230),
        ([1000, 1010, 1008, 1007, 1020], 20),
        ([1000, 1010, 1008, 1009, 1009, 1020], 10 + 1008 + 1 + 0 + 11),
        ([1000, 990], 990),
        ([7], 0),
        ([], 0),
    ],
)
def test_increase_with_restarts_and_replica_flips(values: list[float], expected: float) -> None:
    assert float(increases(np.array(values, np.float64)).sum()) == expected


NEAR = st.lists(st.integers(985, 1015) | st.integers(0, 40), max_size=14)


@given(NEAR)
def test_flips_are_told_from_neighbours_as_they_are_one_by_one(values: list[int]) -> None:
    counted_up, highest = 0, list(values)
    for place in range(1, len(values)):
        before = highest[place - 1]
        back = [later for later in (1, 2) if place + later < len(values) and values[place + later] >= before]
        if highest[place] < before and highest[place] >= 0.99 * before and back:
            highest[place : place + back[0]] = [before] * back[0]
        counted_up += highest[place] - before if highest[place] >= before else highest[place]
    assert increases(np.array(values, np.float64)).sum() == counted_up


@pytest.mark.parametrize(
    ("values", "raw", "prometheus"), [([100, 130, 160, 190], 90, 120), ([0, 30, 60, 90], 90, 105), ([5, 5, 6, 8], 3, 4)]
)
def test_no_extrapolation(values: list[float], raw: float, prometheus: float) -> None:
    assert counted([15_000, 45_000, 75_000, 105_000], values, 0, 120_000) == (raw, 0.75, None)
    assert raw != prometheus


def test_edges_split_by_time_and_gaps_count_but_are_not_covered() -> None:
    assert counted([0, 10_000, 20_000], [0, 10, 30], 5_000, 15_000) == (15, 1.0, 1.5)
    assert counted([0, 10_000, 20_000, 100_000], [0, 1, 2, 50], 0, 100_000) == (50, 0.2, None)
    assert counted([0, 10_000], [0, 1], 50_000, 50_000) == (0, None, None)


@pytest.mark.parametrize(
    ("late_ms", "is_gap"), [(-40, False), (0, False), (3, False), (1000, False), (1001, True), (30_000, True)]
)
def test_one_missed_scrape_is_no_gap_however_late_the_next_is(late_ms: int, is_gap: bool) -> None:
    times = np.array([0, 30_000, 60_000, 120_000 + late_ms, 150_000 + late_ms], np.int64)
    deltas = deltas_of(times, np.arange(5.0))
    assert deltas.is_gap.tolist() == [False, False, is_gap, False]
    assert DayStatistics.of(times).gap_count == int(is_gap)
    assert np.diff(Accrual.of(times, np.arange(5.0)).known_ms)[2] == (0 if is_gap else 60_000 + late_ms)
    assert Counted.of(times, np.ones(4)).gaps_ms == ([(60_000, 120_000 + late_ms)] if is_gap else [])


def test_jitter_of_short_steps_is_a_tenth_of_them() -> None:
    assert [gap_over_ms(step) for step in (1_000, 10_000, 60_000)] == [2_100, 21_000, 121_000]
    assert deltas_of(np.array([0, 1_000, 2_000, 4_100, 6_201], np.int64), np.arange(5.0), 1_000).is_gap.tolist() == [
        False,
        False,
        False,
        True,
    ]


def test_steps_know_only_what_is_whole() -> None:
    deltas = deltas_of(np.array([0, 10, 20, 30, 90, 100], np.int64), np.array([0, 10, 30, 60, 500, 510.0]))
    expected = [10, 20, 30, np.nan, np.nan, np.nan, np.nan, np.nan, np.nan, 10, np.nan]
    np.testing.assert_array_equal(count_by_step(deltas, 0, 10, 11), expected)
    np.testing.assert_array_equal(count_by_step(deltas, 5, 10, 3), [15, 25, np.nan])
    np.testing.assert_array_equal(count_by_step(deltas, -20, 20, 3), [np.nan, 30, np.nan])
    nothing = deltas_of(np.array([5], np.int64), np.array([1.0]))
    assert np.isnan(count_by_step(nothing, 0, 10, 2)).all()


def test_regrid_carries_nothing_forward() -> None:
    times, values = np.array([-1, 1, 11, 14, 35, 40], np.int64), np.arange(6.0)
    np.testing.assert_array_equal(regrid(times, values, 0, 10, 4), [1, 3, np.nan, 4])


@pytest.fixture(scope="module")
def sql(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., object]:
    folder = tmp_path_factory.mktemp("sql")
    (folder / "macros").mkdir()
    for name in MACROS:
        for ending in (".sql", ".yml"):
            (folder / "macros" / f"{name}{ending}").write_bytes(
                (sql_folder() / "macros" / f"{name}{ending}").read_bytes()
            )
    con = duckdb.connect()
    create_tables(con)
    report = build(con, folder)
    assert len(report.models) == len(find_models(folder)) == len(MACROS)

    def ask(expression: str, *values: object) -> object:
        row = con.execute(f"select {expression}", list(values)).fetchone()
        return row[0] if row else None

    return ask


SERIES = st.lists(
    st.tuples(
        st.sampled_from([1_000, 10_000, 10_000, 10_000, 20_000, 20_999, 21_000, 21_001, 25_000]),
        st.floats(0, 1e6) | st.integers(990, 1010),
    ),
    min_size=2,
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(SERIES, st.integers(-20_000, 100_000), st.integers(0, 100_000))
def test_sql_and_numpy_agree(
    sql: Callable[..., object], points: list[tuple[int, float]], start: int, length: int
) -> None:
    times = np.cumsum([distance for distance, _ in points]).astype(np.int64)
    values = np.array([value for _, value in points], np.float64)
    deltas, end = deltas_of(times, values), start + length
    total = count_within(deltas, start, end)
    step = sql("counter_step_ms(?::bigint[])", times.tolist())
    assert step == np.median(np.diff(times))
    lists = (times.tolist(), values.tolist())
    of_sql = sql("counter_increase(?::bigint[], ?::double[], ?::bigint, ?::bigint)", *lists, start, end)
    assert of_sql == pytest.approx(total.increase, rel=1e-9, abs=1e-9)
    covered = sql("counter_covered_s(?::bigint[], ?::double, ?::bigint, ?::bigint)", times.tolist(), step, start, end)
    assert covered == pytest.approx(total.covered_s, rel=1e-9, abs=1e-9)
    rate = sql(
        "counter_rate_per_s(?::bigint[], ?::double[], ?::double, ?::bigint, ?::bigint)", *lists, step, start, end
    )
    assert (rate is None) == (total.rate_per_s is None)
    assert rate is None or rate == pytest.approx(total.rate_per_s, rel=1e-9, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(SERIES, st.integers(-20_000, 20_000))
def test_steps_add_up_to_the_window(points: list[tuple[int, float]], start: int) -> None:
    times = np.cumsum([distance for distance, _ in points]).astype(np.int64)
    deltas = deltas_of(times, np.array([value for _, value in points], np.float64), step_ms=25_000)
    by_step = count_by_step(deltas, start, 7_000, 60)
    for place in np.flatnonzero(~np.isnan(by_step)):
        edge = start + 7_000 * int(place)
        assert by_step[place] == pytest.approx(count_within(deltas, edge, edge + 7_000).increase, rel=1e-9, abs=1e-9)


def test_node_increases_of_the_known_cluster(shared_data: Path) -> None:
    import json

    from gangline.sources import prometheus
    from gangline.sources.files import InputFile
    from gangline.sources.records import ReadLog, SourceOptions
    from gangline.store.merging import merge

    truth = json.loads((shared_data / "truth/telemetry/truth.json").read_text())["write_bytes_by_node"]
    file = InputFile(shared_data / "truth/telemetry/vm/raw/telemetry.jsonl.gz")
    pieces: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for batch in prometheus.read(file, SourceOptions("prometheus"), ReadLog()):
        if batch.metric == "node_mountstats_nfs_operations_sent_bytes_total":
            node = batch.labels["instance"].partition(".")[0]
            pieces.setdefault(node, []).append((batch.times_ms, batch.values))
    increases_by_node = {}
    for node, parts in pieces.items():
        merged = merge(np.concatenate([times for times, _ in parts]), np.concatenate([values for _, values in parts]))
        increases_by_node[node] = float(increases(merged.values).sum())
    assert increases_by_node == truth
