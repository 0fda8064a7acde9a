"""Saves, loads and phases of gang sessions (analyses 6) through the whole ingest: each rule, and its edges."""

import json
import math
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gangline.config import load
from gangline.ingest import ingest
from gangline.warehouse import connect
from tests.phases.traffic import (
    GB,
    HOUR_S,
    NODES,
    OTHERS,
    STEP_S,
    Paint,
    Samples,
    Scrapes,
    Story,
    alike,
    everyone,
    lines,
    start_of,
)

CONFIG = """
[cluster]
name = "carina"
time_zone = "UTC"
nodes = ["n[01-10]", "m[01-10]"]
gpus_per_node = 2
gang_min_nodes = 10
[checkpoints]
save_start_gb_per_s = 2
save_end_gb_per_s = 1
load_read_gb_per_s = 0.5
[[sources]]
kind = "sessions_csv"
path = "sessions.csv"
exported_at = 2026-05-01T00:00:00Z
[[sources]]
kind = "prometheus"
path = "telemetry.jsonl"
"""


def by_step(*gb_per_s: float) -> list[Paint]:
    """What everyone together writes in steps of 30 s."""
    return [everyone(STEP_S * place, STEP_S * (place + 1), rate / 10) for place, rate in enumerate(gb_per_s)]


def without(*missed: int, nodes: int = 10) -> Any:
    """Scrapes of the first few nodes that failed."""
    return lambda node, samples: {
        second: value for second, value in samples.items() if node not in NODES[:nodes] or second not in missed
    }


def restarted_at(second: int) -> Any:
    """The first node's counter begins again from 0 then, in the middle of a save of 0.3 GB/s from 600 s on."""

    def spoil(node: str, samples: Samples) -> Samples:
        lost = 7 * GB + (second - 600) * 0.3 * GB
        return {at: value - lost if node == "n01" and at >= second else value for at, value in samples.items()}

    return spoil


def told_by_a_replica(at: int) -> Any:
    """One sample of the first node is from a replica that lags by a scrape and a little."""
    return lambda node, samples: samples | ({at: samples[at - STEP_S] * 0.995} if node == "n01" else {})


def stale(at: int) -> Any:
    return lambda node, samples: {second: math.nan if second == at else value for second, value in samples.items()}


def silent(nodes: int) -> Any:
    return lambda node, samples: {} if node in NODES[-nodes:] else samples


SAVE = [everyone(600, 660)]
STALLED = [(600, 660, 19.0), (660, 690, 76.0)]


def staggered(node: str) -> Scrapes:
    return Scrapes(offset_s=15 if node in NODES[5:] else 0)


def of_two_steps(node: str) -> Scrapes:
    return Scrapes(step_s=15 if node in NODES[5:] else 60)


Row = tuple[int, int, float, int]  # start, end, GB, writers
STORIES: list[tuple[Story, list[Row]]] = [
    (Story("one_save", SAVE, util=STALLED), [(600, 660, 180.0, 10)]),
    (
        Story("hysteresis", by_step(0, 0, 2.5, 1.8, 2.2, 0, 0, 0, 3, 0, 1.9, 2.1, 1.2, 2.5, 0)),
        [(60, 150, 195.0, 10), (240, 420, 321.0, 10)],
    ),
    (Story("at_the_thresholds", by_step(0, 2, 2, 0, 2.1, 1, 1, 0.9)), [(120, 210, 123.0, 10)]),
    (Story("above_from_the_start", by_step(3, 3, 0)), [(0, 60, 180.0, 10)]),
    (Story("open_at_the_end", [everyone(3540, 3900)]), [(3540, 3600, 180.0, 10)]),
    (Story("another_job_writes", [*SAVE, (OTHERS, 300, 900, 3.0)]), [(600, 660, 180.0, 10)]),
    (Story("few_writers", [(NODES[:2], 600, 660, 2.0), (NODES[2:], 600, 660, 0.01)]), [(600, 660, 244.8, 2)]),
    (Story("restart", SAVE, spoil=restarted_at(625)), [(600, 660, 172.5, 10)]),
    (Story("replica", SAVE, spoil=told_by_a_replica(660)), [(600, 660, 171.0, 10)]),
    (Story("one_node_silent", SAVE, spoil=silent(1)), [(600, 660, 162.0, 9)]),
    (Story("two_nodes_silent", SAVE, spoil=silent(2)), []),
    (Story("one_scrape_missed", SAVE, spoil=without(630)), [(600, 660, 180.0, 10)]),
    (Story("stale_marker", SAVE, spoil=stale(630)), [(600, 660, 180.0, 10)]),
    (Story("gap_inside", [everyone(570, 750)], spoil=without(630, 660, 690, nodes=2)), [(570, 750, 468.0, 10)]),
    (Story("gap_before_the_end", [everyone(570, 600)], spoil=without(630, 660, 690, nodes=2)), [(570, 720, 90.0, 10)]),
    (Story("gap_over_it_all", SAVE, spoil=without(*range(600, 690, 30))), []),
    (Story("mounts", SAVE, mounts=[("n01", 1.0), ("n02", 2.0)]), [(600, 660, 216.0, 10)]),
    (Story("staggered", SAVE, scrapes=staggered), [(600, 660, 157.5, 10)]),
    (Story("all_scraped_late", [everyone(607, 667)], scrapes=alike(Scrapes(offset_s=7))), [(607, 667, 180.0, 10)]),
    (Story("two_scrape_steps", [everyone(600, 720)], scrapes=of_two_steps), [(600, 720, 360.0, 10)]),
    (Story("coarse_scrapes", [everyone(660, 900)], scrapes=alike(Scrapes(step_s=120))), [(660, 900, 720.0, 10)]),
    (
        Story(
            "load",
            [everyone(900, 960)],
            read=[everyone(30, 630, 0.2), everyone(900, 1200, 0.2)],
            util=[(0, 660, 5.0), (1200, 1260, 5.0)],
        ),
        [(900, 960, 180.0, 10)],
    ),
]
NAMES = [story.name for story, _ in STORIES]
OTHER_STEPS = Story(
    "load_by_other_steps",
    SAVE,
    read=[everyone(0, 600, 0.2)],
    util=[(0, 600, 5.0), (600, 630, 19.0), (630, 645, 0.0)],
    read_scrapes=Scrapes(step_s=60),
    util_scrapes=Scrapes(step_s=15, offset_s=4),
)
HOUR = timedelta(seconds=HOUR_S)
HEADER = "session_id,job_name,owner,nodes,gpu_count,started_at,ended_at,end_reason"


def cluster(folder: Path, stories: list[Story], config_text: str = CONFIG) -> Path:
    rows = [
        f'{story.name},train,ana,"n[01-10]",20,{start_of(place):%FT%TZ},{start_of(place) + HOUR:%FT%TZ},failed'
        for place, story in enumerate(stories)
    ]
    (folder / "cluster.toml").write_text(config_text)
    (folder / "sessions.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    (folder / "telemetry.jsonl").write_text("\n".join(lines(stories)) + "\n")
    config = load(folder / "cluster.toml")
    assert all(outcome.is_clean for outcome in ingest(config).outcomes)
    return folder / "cluster.toml"


def asked(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with connect(load(path)) as con:
        return con.execute(sql).fetchall()


@pytest.fixture(scope="module")
def carina(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cluster(tmp_path_factory.mktemp("carina"), [story for story, _ in STORIES])


def second(at: datetime, name: str) -> float:
    return (at - start_of(NAMES.index(name))).total_seconds()


def phases_in(path: Path, name: str) -> list[tuple[str, float, float]]:
    rows = asked(path, f"select phase, started_at, ended_at from marts.phases where session_id = '{name}' order by 2")
    return [(phase, second(start, name), second(end, name)) for phase, start, end in rows]


@pytest.mark.parametrize(("story", "expect"), STORIES, ids=NAMES)
def test_story(carina: Path, story: Story, expect: list[Row]) -> None:
    rows = asked(
        carina,
        "select started_at, ended_at, bytes / 1e9, writer_nodes from marts.checkpoint_saves"
        f" where session_id = '{story.name}' order by 1",
    )
    found = [(second(start, story.name), second(end, story.name), gb, writers) for start, end, gb, writers in rows]
    assert [row[:2] + row[3:] for row in found] == [row[:2] + row[3:] for row in expect]
    assert [row[2] for row in found] == pytest.approx([row[2] for row in expect], rel=1e-9)


def save_of(path: Path, name: str, columns: str) -> tuple[Any, ...]:
    (row,) = asked(path, f"select {columns} from marts.checkpoint_saves where session_id = '{name}'")
    return row


def test_a_save_costs_what_gpus_did_not_do(carina: Path) -> None:
    columns = "round(stall_s, 9), stall_evidence, stall_resolution_s, stall_reason, duration_s, is_completed"
    assert save_of(carina, "one_save", columns) == (54, "utilisation", 30, None, 60, True)
    assert save_of(carina, "staggered", columns)[0] == 0


def test_rates_are_those_of_steps(carina: Path) -> None:
    rates = "mean_bytes_per_s / 1e9, peak_bytes_per_s / 1e9, known_s, node_count, reporting_nodes"
    assert save_of(carina, "at_the_thresholds", rates) == pytest.approx((41 / 30, 2.1, 90, 10, 10))
    assert save_of(carina, "one_node_silent", rates) == pytest.approx((2.7, 2.7, 60, 10, 9))
    assert save_of(carina, "gap_inside", rates) == pytest.approx((3, 3, 60, 10, 10))


def test_a_save_that_its_session_ends_in_is_not_completed(carina: Path) -> None:
    assert save_of(carina, "open_at_the_end", "is_completed, duration_s") == (False, 60)


def test_an_end_that_was_not_seen_gives_no_duration(carina: Path) -> None:
    row = save_of(carina, "gap_before_the_end", "duration_s, duration_reason")
    assert row == (None, "its ends were not seen: telemetry breaks off beside them")


def test_over_a_minute_nothing_is_measured(carina: Path) -> None:
    reason = "a scrape step of 120 s is over 60 s: too coarse to measure it"
    row = save_of(carina, "coarse_scrapes", "duration_s, duration_reason, stall_s, stall_reason, step_s")
    assert row == (None, reason, None, reason, 120)
    assert save_of(carina, "two_scrape_steps", "duration_s, round(stall_s, 9), step_s") == (120, 0, 60)


def test_the_interval_is_that_to_the_save_before(carina: Path) -> None:
    sql = "select interval_s, save_number from marts.checkpoint_saves where session_id = 'hysteresis' order by 2"
    assert asked(carina, sql) == [(None, 1), (180, 2)]


@pytest.mark.parametrize(
    ("name", "phases"),
    [
        (
            "load",
            [
                ("training", 0, 30),
                ("load", 30, 630),
                ("training", 630, 900),
                ("save", 900, 960),
                ("training", 960, 3600),
            ],
        ),
        (
            "gap_inside",
            [
                ("training", 0, 570),
                ("save", 570, 600),
                ("unknown", 600, 720),
                ("save", 720, 750),
                ("training", 750, 3600),
            ],
        ),
        (
            "all_scraped_late",
            [
                ("unknown", 0, 7),
                ("training", 7, 607),
                ("save", 607, 667),
                ("training", 667, 3577),
                ("unknown", 3577, 3600),
            ],
        ),
        ("two_nodes_silent", []),
    ],
)
def test_phases(carina: Path, name: str, phases: list[tuple[str, float, float]]) -> None:
    assert phases_in(carina, name) == phases


def test_a_load_is_measured(carina: Path) -> None:
    rows = asked(
        carina,
        "select session_id, start_to_load_s, duration_s, round(bytes / 1e9), round(mean_bytes_per_s / 1e9, 9),"
        " round(peak_bytes_per_s / 1e9, 9), node_count, first_step_at, first_step_reason from marts.checkpoint_loads",
    )
    assert rows == [("load", 30, 600, 1200, 2, 2, 10, None, "no run of the session logged a step")]


def test_sessions_that_telemetry_tells_nothing_of_are_named(carina: Path) -> None:
    sql = "select {} from marts.checkpoint_sessions where session_id = '{}'"
    columns = "telemetry_saves, known_steps, steps, telemetry_reason, load_reason"
    few = "fewer than nine tenths of its nodes ever report what they write"
    none = "no step of it reads above the threshold with idle GPUs"
    assert asked(carina, sql.format(columns, "two_nodes_silent")) == [
        (None, 0, 120, few, f"{few}, so loads are not told from saves")
    ]
    assert asked(carina, sql.format(columns, "gap_over_it_all")) == [(0, 116, 120, None, none)]


def test_traffic_and_gpus_scraped_at_other_steps(tmp_path: Path) -> None:
    path = cluster(tmp_path, [OTHER_STEPS])
    rows = asked(path, "select phase, epoch(ended_at - started_at) from marts.phases order by started_at")
    assert rows == [("load", 600), ("save", 60), ("training", 2940)]
    (stall_s,) = save_of(path, OTHER_STEPS.name, "stall_s")
    # the step before the save still loads: 1 - 5/95; in it 1 - 19/95, then half a step of nothing
    assert stall_s == pytest.approx((90 / 95 + 0.8 + 0.5) * STEP_S)


def test_without_thresholds_there_is_a_reason_and_no_figure(tmp_path: Path) -> None:
    bare = "\n".join(line for line in CONFIG.splitlines() if "_gb_per_s" not in line)
    path = cluster(tmp_path, [STORIES[0][0]], bare)
    columns = "save_start_bytes_per_s, save_reason, load_read_bytes_per_s, load_reason"
    ((start, save_reason, read, load_reason),) = asked(path, f"select {columns} from marts.checkpoint_rules")
    assert (start, read) == (None, None)
    assert save_reason == (
        "no [storage] max_write_gb_per_s, and no [checkpoints] save_start_gb_per_s and save_end_gb_per_s"
    )
    assert load_reason == "no [storage] max_read_gb_per_s, and no [checkpoints] load_read_gb_per_s"
    assert asked(path, "select telemetry_saves, telemetry_reason from marts.checkpoint_sessions") == [
        (None, save_reason)
    ]
    assert asked(path, "from marts.phases union all by name from marts.checkpoint_saves") == []


def test_the_real_shape_gives_every_save_of_the_truth(shared_data: Path, tmp_path: Path) -> None:
    """Unordered series, overlapping chunks, a counter's reset and a gap among them."""
    source = shared_data / "truth" / "telemetry" / "vm"
    truth = json.loads((source.parent / "truth.json").read_text())
    (tmp_path / "raw").mkdir()
    for name in ("cluster.toml", "raw/sessions.csv", "raw/telemetry.jsonl.gz"):
        (tmp_path / name).write_bytes((source / name).read_bytes())
    ingest(load(tmp_path / "cluster.toml"))
    with connect(load(tmp_path / "cluster.toml")) as con:
        rows = con.execute(
            "select epoch(started_at), epoch(ended_at), round(bytes), session_id, stage, interval_s, save_evidence"
            " from marts.checkpoint_saves order by started_at"
        ).fetchall()
        loads = con.execute(
            "select epoch(started_at - session_started_at), duration_s, node_count from marts.checkpoint_loads"
        ).fetchall()
    assert rows == [
        (
            save["start"],
            save["end"],
            round(save["bytes"]),
            f"s{save['session']}",
            save["stage"],
            save["interval"],
            "telemetry",
        )
        for save in truth["saves"]
    ]
    assert loads == [(0, 1500, 10)] * 4
