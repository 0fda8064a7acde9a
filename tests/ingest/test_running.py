"""The whole ingest on small files: what is read once, what is kept, and that order does not matter."""

import itertools
import multiprocessing
import os
import random
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from gangline.config import Config, load
from gangline.ingest import ingest
from gangline.warehouse import WarehouseError, connect, writing
from tests.configs import cluster_head, source_entry

CONFIG = (
    cluster_head("orion", "n[1-4]", gang_min_nodes=3)
    + source_entry("sessions_csv", "raw/*.csv")
    + source_entry("incidents", "incidents/*.csv")
)
HEADER = "session_id,job_name,owner,nodes,created_at,started_at,ended_at,end_reason\n"
WEEK_1 = HEADER + (
    "1,train,kim,n[1-3],2026-03-01T00:00:00Z,2026-03-01T00:01:00Z,2026-03-01T05:00:00Z,failed\n"
    "2,train,kim,n[1-3],2026-03-01T05:10:00Z,2026-03-01T05:11:00Z,,running\n"
)
WEEK_2 = HEADER + (
    "2,train,kim,n[1-3],2026-03-01T05:10:00Z,2026-03-01T05:11:00Z,2026-03-03T00:00:00Z,completed\n"
    "3,debug,lee,n4,2026-03-02T00:00:00Z,2026-03-02T00:00:00Z,2026-03-02T08:00:00Z,killed\n"
)
WEEK_3 = HEADER + "2,train,,n[1-3],,2026-03-01T05:11:00Z,2026-03-03T00:00:00Z,completed\n"
BAD_ROW = "4,bad,kim,n1,2026-03-02T00:00:00Z,yesterday,,running\n"
TEXTS = {"a": WEEK_1, "b": WEEK_2, "c": WEEK_3}
VOLATILE = {"meta.build", "meta.files"}


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return _cluster(tmp_path / "cluster", {"week1.csv": WEEK_1, "week2.csv": WEEK_2})


def _cluster(folder: Path, files: dict[str, str]) -> Config:
    (folder / "raw").mkdir(parents=True)
    (folder / "cluster.toml").write_text(CONFIG)
    for name, text in files.items():
        (folder / "raw" / name).write_text(text)
    return load(folder / "cluster.toml")


def content(config: Config) -> dict[str, list[str]]:
    """Everything that a warehouse says, without what depends on the clock or on a file's name."""
    with connect(config) as con:
        tables = con.execute(
            "select table_schema || '.' || table_name from information_schema.tables where table_type = 'BASE TABLE'"
        ).fetchall()
        return {
            name: sorted(map(repr, con.execute(f"from {name}").fetchall()))
            for (name,) in tables
            if name not in VOLATILE and not name.startswith("raw.")
        }


def test_first_ingest_loads_and_second_finds_nothing_to_do(config: Config) -> None:
    first = ingest(config)
    assert [(outcome.shown_path, outcome.log.loaded) for outcome in first.outcomes] == [
        ("raw/week1.csv", 2),
        ("raw/week2.csv", 2),
    ]
    assert first.empty_sources == ["incidents:incidents/*.csv"]
    before = (config.folder / "warehouse.duckdb").read_bytes()
    second = ingest(config)
    assert (second.outcomes, second.known, second.is_built) == ([], 2, False)
    assert (config.folder / "warehouse.duckdb").read_bytes() == before


def test_a_session_in_two_exports_is_one_row_and_the_end_is_known(config: Config) -> None:
    ingest(config)
    with connect(config) as con:
        rows = con.execute("select session_id, end_reason, owner from marts.sessions order by 1").fetchall()
    assert rows == [("1", "failed", "kim"), ("2", "completed", "kim"), ("3", "killed", "lee")]


@pytest.fixture(scope="module")
def straight_content(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    straight = _cluster(
        tmp_path_factory.mktemp("straight") / "c", {f"{name}.csv": text for name, text in TEXTS.items()}
    )
    ingest(straight)
    return content(straight)


@pytest.mark.parametrize("order", list(itertools.permutations(TEXTS)), ids="".join)
def test_any_order_of_files_gives_the_same(
    tmp_path: Path, order: tuple[str, ...], straight_content: dict[str, list[str]]
) -> None:
    one_by_one = _cluster(tmp_path / "one_by_one", {})
    for name in order:
        (one_by_one.folder / "raw" / f"{name}.csv").write_text(TEXTS[name])
        ingest(one_by_one)
    assert content(one_by_one) == straight_content


def test_the_same_content_under_two_names_counts_once(config: Config) -> None:
    shutil.copy(config.folder / "raw/week1.csv", config.folder / "raw/copy.csv")
    report = ingest(config)
    assert (len(report.outcomes), report.known) == (2, 1)
    with connect(config) as con:
        assert con.execute("select count(*) from marts.sessions").fetchone() == (3,)


def test_a_file_that_is_gone_stays_read(config: Config) -> None:
    ingest(config)
    before = content(config)
    (config.folder / "raw/week1.csv").unlink()
    (config.folder / "raw/week3.csv").write_text(WEEK_3)
    assert ingest(config).missing_files == ["raw/week1.csv"]
    assert content(config)["marts.sessions"] == before["marts.sessions"]


def test_other_options_read_a_file_again(config: Config) -> None:
    ingest(config)
    path = config.path
    path.write_text(CONFIG.replace('path = "raw/*.csv"', 'path = "raw/*.csv"\ntime_zone = "Asia/Seoul"'))
    report = ingest(load(path))
    assert len(report.outcomes) == 2
    with connect(config) as con:
        assert con.execute("select count(*) from meta.files").fetchone() == (2,)


def test_rejects_are_kept_with_their_line_and_strict_refuses_the_file(config: Config, tmp_path: Path) -> None:
    bad = _cluster(tmp_path / "bad", {"good.csv": WEEK_1, "bad.csv": WEEK_2 + BAD_ROW})
    strict = ingest(bad, is_strict=True)
    assert [outcome.shown_path for outcome in strict.refused] == ["raw/bad.csv"]
    with connect(bad) as con:
        assert con.execute("select path from meta.files").fetchall() == [("raw/good.csv",)]
    ingest(bad)
    with connect(bad) as con:
        (row,) = con.execute("select path, line, text from meta.rejects join meta.files using (file_id)").fetchall()
        assert row[:2] == ("raw/bad.csv", 4)
        assert "yesterday" in row[2]
        sums = con.execute("select records = loaded + ignored + rejected from meta.files").fetchall()
    assert sums == [(True,), (True,)]


def test_a_file_that_was_corrected_is_no_longer_refused(config: Config) -> None:
    """What was read of it before stays, as a log's does that another one has taken the place of."""
    file = config.folder / "raw" / "week2.csv"
    file.write_text(WEEK_2 + BAD_ROW)
    ingest(config)
    assert ingest(config, is_strict=True).blemished == ["raw/week2.csv"]
    file.write_text(WEEK_2)
    assert [ingest(config, is_strict=True).blemished for _ in range(2)] == [[], []]
    file.unlink()
    assert ingest(config, is_strict=True).blemished == []


@pytest.mark.parametrize("is_dry_run", [False, True])
def test_what_cannot_be_opened_is_said_and_the_rest_is_read(config: Config, is_dry_run: bool) -> None:
    raw = config.folder / "raw"
    (raw / "folder.csv").mkdir()
    (raw / "dangling.csv").symlink_to("nowhere")
    (raw / "loop.csv").symlink_to("loop.csv")
    (raw / "device.csv").symlink_to("/dev/zero")
    os.mkfifo(raw / "pipe.csv")
    (raw / "wide.csv").write_bytes(WEEK_1.encode("utf-16"))
    report = ingest(config, is_dry_run=is_dry_run)
    assert [(outcome.shown_path, str(outcome.refusal).split(": ")[1]) for outcome in report.refused] == [
        ("raw/dangling.csv", "cannot be read (No such file or directory)"),
        ("raw/device.csv", "cannot be read (it is no regular file)"),
        ("raw/loop.csv", "cannot be read (Too many levels of symbolic links)"),
        ("raw/pipe.csv", "cannot be read (it is no regular file)"),
        ("raw/wide.csv", "this is UTF-16 text"),
    ]
    assert sum(outcome.log.loaded for outcome in report.outcomes) == 4


def test_a_dry_run_writes_nothing(config: Config) -> None:
    report = ingest(config, is_dry_run=True)
    assert [outcome.log.loaded for outcome in report.outcomes] == [2, 2]
    assert sorted(path.name for path in config.folder.iterdir()) == ["cluster.toml", "raw"]


def test_a_cluster_without_data_builds(tmp_path: Path) -> None:
    empty = _cluster(tmp_path / "empty", {})
    assert ingest(empty).empty_sources == ["sessions_csv:raw/*.csv", "incidents:incidents/*.csv"]
    with connect(empty) as con:
        assert con.execute("select count(*) from marts.sessions").fetchone() == (0,)


def test_a_running_writer_stops_a_second_one(config: Config) -> None:
    ingest(config)
    with writing(config), pytest.raises(WarehouseError, match="is writing it"):
        ingest(config, is_rebuild=True)


def test_rebuild_reads_everything_again(config: Config) -> None:
    ingest(config)
    before = content(config)
    assert len(ingest(config, is_rebuild=True).outcomes) == 2
    assert content(config) == before


def test_killed_at_random_moments_then_run_again_gives_the_same(tmp_path: Path) -> None:
    texts = {f"{number:02d}.csv": _many_sessions(number) for number in range(12)}
    straight = _cluster(tmp_path / "straight", texts)
    started = time.monotonic()
    _run_ingest(straight.path).join()
    length = time.monotonic() - started
    killed = _cluster(tmp_path / "killed", texts)
    moments = random.Random(20261130)
    for _ in range(4):
        process = _run_ingest(killed.path)
        process.join(moments.uniform(0.2, 1.0) * length)
        if process.is_alive():
            os.kill(process.pid, signal.SIGKILL)
            process.join()
    ingest(killed)
    assert content(killed) == content(straight)


def _run_ingest(path: Path) -> Any:
    process = multiprocessing.get_context("spawn").Process(target=_ingest_path, args=(path,))
    process.start()
    return process


def _ingest_path(path: Path) -> None:
    ingest(load(path))


def _many_sessions(seed: int) -> str:
    numbers = random.Random(seed)
    rows = []
    for row in range(200):
        hour, minute = numbers.randrange(20), numbers.randrange(60)
        day = f"2026-03-{numbers.randrange(1, 28):02d}"
        start, end = f"{day}T{hour:02d}:{minute:02d}:00Z", f"{day}T23:00:00Z"
        rows.append(f"{seed}-{row},job,kim,n{numbers.randrange(1, 5)},,{start},{end},failed\n")
    return HEADER + "".join(rows)


def test_equal_sessions_are_one_stretch_of_use(tmp_path: Path) -> None:
    """Rows that are equal may stand in another order each time that they are ordered."""
    row = "{},job,kim,n1,,2026-03-01T00:00:00Z,2026-03-01T01:00:00Z,failed\n"
    config = _cluster(tmp_path / "equal", {"a.csv": HEADER + "".join(row.format(number) for number in range(8000))})
    ingest(config)
    with connect(config) as con:
        stretches = con.execute("select epoch(until_at) - epoch(started_at) from intermediate.int_node_busy_merged")
        assert stretches.fetchall() == [(3600.0,)]
