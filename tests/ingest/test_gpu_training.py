"""GPU evidence of training (analyses 1, 2) through the whole ingest: each rule met once, and at its edges."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.config import load
from gangline.config.model import Config
from gangline.ingest import ingest
from gangline.ingest.gpu_training import BAD, GOOD, UNKNOWN, Stretch, fill_gpu_training
from gangline.roles.gpu_use import Placing, grid_of, level_by_step
from gangline.store.matrix import Grid
from gangline.store.parts import SeriesDay
from gangline.store.reading import SampleStore
from gangline.store.timelines import DayTimes
from gangline.warehouse import connect
from gangline.warehouse.opening import open_raw, path_of

CONFIG = """
[cluster]
name = "vela"
time_zone = "UTC"
nodes = ["n[01-10]", "m[01-02]"]
gpus_per_node = 2
[[sources]]
kind = "sessions_csv"
path = "sessions.csv"
exported_at = 2026-03-02T04:50:00Z
[[sources]]
kind = "prometheus"
path = "telemetry.jsonl"
"""
DAY = datetime(2026, 3, 1, tzinfo=UTC)
LONG_MIN = 40  # under the 60 min of the rule of thumb
Level = Callable[[int, int, int], float | None]  # node from 0, GPU, minute of the session


@dataclass(frozen=True)
class Story:
    """One session in an hour of its own, what its GPUs did by the minute, and what must be said of it."""

    name: str
    util: Level
    expect: tuple[bool | None, int | None, str]  # reached, minute, evidence
    power: Level = lambda node, gpu, minute: 700.0
    nodes: str = "n[01-10]"
    gpus: int = 20
    is_open: bool = False


def busy(first: int, stop: int) -> Level:
    return lambda node, gpu, minute: 97.0 if first <= minute < stop else 4.0


def always(level: float) -> Level:
    return lambda node, gpu, minute: level


def silent(level: Level, is_silent: Callable[[int, int], bool]) -> Level:
    """`is_silent` of node and minute."""
    return lambda node, gpu, minute: None if is_silent(node, minute) else level(node, gpu, minute)


STORIES = [
    Story("twenty_minutes", busy(10, 30), (True, 10, "gpu")),
    Story("nineteen_minutes", busy(10, 29), (False, None, "gpu")),
    Story("mean_of_80", lambda node, gpu, minute: (60.0, 100.0)[gpu], (True, 0, "gpu")),
    Story("mean_under_80", lambda node, gpu, minute: (59.0, 100.0)[gpu], (False, None, "gpu")),
    Story("hung_at_idle_power", always(100), (False, None, "gpu"), power=always(349)),
    Story("half_the_power", always(100), (True, 0, "gpu"), power=always(350)),
    Story("a_save_between", lambda n, g, minute: 30.0 if minute == 15 else 99.0, (True, 16, "gpu")),
    Story("one_node_silent", silent(busy(5, 40), lambda node, minute: node == 9), (True, 5, "gpu")),
    Story("two_nodes_silent", silent(busy(5, 40), lambda node, minute: node >= 8), (False, None, "duration")),
    Story("tenth_of_the_time_silent", silent(busy(5, 40), lambda node, minute: minute < 4), (True, 5, "gpu")),
    Story("more_time_silent", silent(busy(5, 40), lambda node, minute: minute < 5), (False, None, "duration")),
    Story("two_scrapes_missed", silent(busy(8, 28), lambda node, minute: minute in (15, 16)), (True, 8, "gpu")),
    Story("three_scrapes_missed", silent(busy(8, 28), lambda node, minute: 15 <= minute <= 17), (False, None, "gpu")),
    Story("no_power", busy(3, 40), (True, 3, "gpu_weak"), power=lambda node, gpu, minute: None),
    Story("part_of_a_node", always(100), (False, None, "duration"), nodes="n01", gpus=1),
    Story("all_of_a_node", busy(11, 40), (True, 11, "gpu"), nodes="n01", gpus=2),
    Story("another_model", always(100), (True, 0, "gpu"), power=always(300), nodes="m[01-02]", gpus=4),
    Story("no_telemetry", lambda node, gpu, minute: None, (False, None, "duration"), nodes="m[01-02]", gpus=4),
    Story("idle_and_open", always(3), (None, None, "gpu"), is_open=True),
]


def start_of(story: Story) -> datetime:
    return DAY + timedelta(hours=STORIES.index(story), minutes=50)  # one of them runs over midnight


def nodes_of(story: Story) -> list[str]:
    return {"n01": ["n01"], "m[01-02]": ["m01", "m02"]}.get(story.nodes, [f"n{number:02d}" for number in range(1, 11)])


def session_row(story: Story) -> str:
    start = start_of(story)
    end = "" if story.is_open else (start + timedelta(minutes=LONG_MIN)).isoformat()
    reason = "running" if story.is_open else "failed"
    return f'{story.name},{story.name},ana,"{story.nodes}",{story.gpus},{start.isoformat()},{end},{reason}'


def series(metric: str, level_of: Callable[[Story], Level], minutes: int) -> Iterator[str]:
    """One line per GPU; dcgm-exporter's labels."""
    samples: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for story in STORIES:
        first_ms = round(start_of(story).timestamp() * 1000)
        for place, node in enumerate(nodes_of(story)):
            for gpu in (0, 1):
                for minute in range(minutes if not story.is_open else 600):
                    value = level_of(story)(place, gpu, minute)
                    if value is not None:
                        samples.setdefault((node, gpu), []).append((first_ms + 60_000 * minute + 5_000, value))
    for (node, gpu), points in samples.items():
        labels = {"__name__": metric, "Hostname": node, "gpu": str(gpu), "UUID": f"GPU-{node}-{gpu}"}
        labels["modelName"] = "NVIDIA B200" if node.startswith("n") else "NVIDIA A30"
        times, values = zip(*points, strict=True)
        yield json.dumps({"metric": labels, "values": values, "timestamps": times})


@pytest.fixture(scope="module")
def vela(tmp_path_factory: pytest.TempPathFactory) -> Config:
    folder = tmp_path_factory.mktemp("vela")
    (folder / "cluster.toml").write_text(CONFIG)
    header = "session_id,job_name,owner,nodes,gpu_count,started_at,ended_at,end_reason"
    (folder / "sessions.csv").write_text("\n".join([header, *map(session_row, STORIES)]) + "\n")
    lines = [
        *series("DCGM_FI_DEV_GPU_UTIL", lambda story: story.util, LONG_MIN),
        *series("DCGM_FI_DEV_POWER_USAGE", lambda story: story.power, LONG_MIN),
    ]
    (folder / "telemetry.jsonl").write_text("\n".join(lines) + "\n")
    config = load(folder / "cluster.toml")
    assert all(outcome.is_clean for outcome in ingest(config).outcomes)
    return config


@pytest.fixture(scope="module")
def told(vela: Config) -> dict[str, tuple[Any, ...]]:
    with connect(vela) as con:
        rows = con.execute(
            "select session_id, sessions.reached_training, sessions.training_from, training_evidence, gpus_seen,"
            " gpus_held"
            " from marts.sessions left join intermediate.int_sessions_keyed using (session_id)"
            " left join intermediate.int_gpu_training_found using (session_key)"
        ).fetchall()
    return {row[0]: row[1:] for row in rows}


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_story(told: dict[str, tuple[Any, ...]], story: Story) -> None:
    reached, training_from, evidence = told[story.name][:3]
    minute = None if training_from is None else round((training_from - start_of(story)).total_seconds() / 60)
    assert (reached, minute, evidence) == story.expect


def test_gpus_seen_stand_beside_gpus_held(told: dict[str, tuple[Any, ...]]) -> None:
    assert told["twenty_minutes"][3:] == (20, 20.0)
    assert told["one_node_silent"][3:] == (18, 20.0)
    assert told["no_telemetry"][3:] == (0, 4.0)


def test_the_real_shape_agrees_with_the_sessions_of_the_truth(shared_data: Path, tmp_path: Path) -> None:
    """Every session of that cluster idles for 25 min and then trains, but for its saves."""
    source = shared_data / "truth" / "telemetry" / "vm"
    (tmp_path / "raw").mkdir()
    for name in ("cluster.toml", "raw/sessions.csv", "raw/telemetry.jsonl.gz"):
        (tmp_path / name).write_bytes((source / name).read_bytes())
    ingest(load(tmp_path / "cluster.toml"))
    with connect(load(tmp_path / "cluster.toml")) as con:
        rows = con.execute(
            "select date_diff('minute', started_at, training_from), reached_training, training_evidence"
            " from marts.sessions order by started_at"
        ).fetchall()
    assert rows == [(25, True, "gpu_weak")] * 4


def states(text: str) -> Any:
    return np.array([{"+": GOOD, "-": BAD, "?": UNKNOWN}[mark] for mark in text], np.int8)


@pytest.mark.parametrize(
    ("pieces", "met_from"),
    [
        (["-++++"], 1),
        (["-+++-+++"], None),
        (["--++", "++"], 2),
        (["--++", "-+++"], None),
        (["++??", "++"], 0),
        (["++??", "?+++"], None),
        (["++??", "?++++"], 5),
        (["????", "????"], None),
        (["+++++-----", "+++++"], 0),
    ],
)
def test_stretches_over_the_edges_of_days(pieces: list[str], met_from: int | None) -> None:
    stretch, step = Stretch(need_ms=40), 0
    for piece in pieces:
        stretch.take(states(piece), step * 10, 10)
        step += len(piece)
    assert stretch.met_from_ms == (None if met_from is None else met_from * 10)


def test_a_scrape_that_slipped_over_its_steps_edge_leaves_no_hole() -> None:
    grid = Grid(0, 30, 4)
    assert level_by_step(np.array([29, 61, 90]), np.array([1.0, 2.0, 3.0]), grid).tolist() == [1.0, 1.0, 2.0, 3.0]
    late = level_by_step(np.array([20, 66, 90]), np.array([1.0, 2.0, 3.0]), grid).tolist()
    assert late[0] == 1.0
    assert np.isnan(late[1])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([3, 10, 14, 15, 29, 30, 30, 30, 31, 45, 61]), min_size=1, max_size=14),
    st.integers(-90, 90),
    st.booleans(),
)
def test_samples_of_shared_timestamps_stand_where_they_would_alone(
    distances: list[int], start_ms: int, is_whole: bool
) -> None:
    times = DayTimes(0, 0, len(distances), start_ms + np.cumsum(np.array(distances, np.int64)))
    values, grid = np.arange(len(distances), dtype=float), Grid(0, 30, 9)
    if not is_whole:
        values[len(distances) // 2] = np.nan
    found = Placing(times, grid).level(values, is_whole)
    np.testing.assert_array_equal(found, level_by_step(times.times_ms, values, grid))


def test_use_is_read_once_and_power_twice(vela: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions run on two days; filled again, all is told as before."""
    read: Counter[tuple[str, date]] = Counter()
    rows_by_day = SampleStore.rows_by_day

    def counted(store: SampleStore, metric: str) -> Callable[[date], Iterator[SeriesDay]]:
        rows_of = rows_by_day(store, metric)

        def rows(day: date) -> Iterator[SeriesDay]:
            read[metric, day] += 1
            return rows_of(day)

        return rows

    monkeypatch.setattr(SampleStore, "rows_by_day", counted)
    with open_raw(path_of(vela), "", read_only=False) as con:
        before = con.execute("select * from meta.gpu_training order by all").fetchall()
        fill_gpu_training(con, vela)
        assert con.execute("select * from meta.gpu_training order by all").fetchall() == before != []
    days = [date(2026, 3, 1), date(2026, 3, 2)]
    util, power = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_POWER_USAGE"
    assert read == {(util, day): 1 for day in days} | {(power, day): 2 for day in days}


def test_steps_of_days_fit_together_where_they_do_not_divide_the_day() -> None:
    days = [grid_of(datetime(2026, 3, day, tzinfo=UTC).date(), 7_000) for day in (1, 2, 3)]
    assert [grid.end_ms for grid in days[:2]] == [grid.start_ms for grid in days[1:]]
