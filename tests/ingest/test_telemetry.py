"""Samples through the whole ingest: published with the warehouse, the same in any order, after kills and full disks."""

import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gangline.config import Config, load
from gangline.counters import increases
from gangline.ingest import ingest
from gangline.store import parts, readers
from gangline.store.reading import ms_of
from gangline.warehouse import connect, samples_of
from tests.configs import cluster_head, source_entry

CONFIG = cluster_head("orion", "n[1-3]") + source_entry("prometheus", "raw/*")
T0 = 1_772_323_200_000  # 2026-03-01T00:00:00Z
WRITTEN = "node_mountstats_nfs_operations_sent_bytes_total"


def cluster(folder: Path, files: dict[str, str]) -> Config:
    (folder / "raw").mkdir(parents=True)
    (folder / "cluster.toml").write_text(CONFIG)
    for name, text in files.items():
        (folder / "raw" / name).write_text(text)
    return load(folder / "cluster.toml")


def lines(first: int, count: int, *, metrics: int = 2) -> str:
    """Three nodes' series over `count` steps of 30 s, node n3 named by its address's port and domain."""
    times = [T0 + 30_000 * step for step in range(first, first + count)]
    rows = []
    for metric in range(metrics):
        for node in ("n1:9100", "n2.dc:9100", "i-n3:9100"):
            values = [(step * 37 + metric) % 101 + 0.5 for step in range(first, first + count)]
            labels = {"__name__": f"node_m{metric}", "instance": node, "job": "node", "pod": f"p{first}"}
            rows.append(json.dumps({"metric": labels, "values": values, "timestamps": times}))
    return "\n".join(rows) + "\n"


def told(config: Config) -> dict[str, list[tuple[Any, ...]]]:
    """What SQL is told of the samples."""
    with connect(config) as con:
        return {
            name: con.execute(f"from marts.{name} order by all").fetchall()
            for name in ("samples", "series", "series_days", "scrape_days")
        }


FILES = {"a": lines(0, 60), "b": lines(50, 60), "c": lines(2870, 20)}


@pytest.mark.parametrize("order", ["abc", "cba", "bca"])
def test_files_in_any_order_or_at_once_give_the_same(tmp_path: Path, order: str) -> None:
    straight = cluster(tmp_path / "straight", FILES)
    ingest(straight)
    one_by_one = cluster(tmp_path / "one", {})
    for name in order:
        (one_by_one.folder / "raw" / name).write_text(FILES[name])
        ingest(one_by_one)
    assert told(one_by_one) == told(straight)
    assert len(told(straight)["samples"]) == 6 * (110 + 20)


def test_series_go_to_the_nodes_that_the_cluster_knows(tmp_path: Path) -> None:
    config = cluster(tmp_path / "c", FILES | {"x": lines(0, 2, metrics=1).replace("n2.dc", "n9")})
    ingest(config)
    with connect(config) as con:
        rows = con.execute(
            "select node, is_known_node, count(*), max(sample_count), max(step_s), max(labels->>'pod')"
            " from marts.series group by all order by all"
        ).fetchall()
        checks = con.execute(
            "select message from meta.checks where check_name = 'nodes_are_known' and contains(message, '[telemetry]')"
        ).fetchall()
    assert rows == [
        ("n1", True, 2, 130, 30.0, "p2870"),
        ("n2", True, 2, 130, 30.0, "p2870"),
        ("n3", True, 2, 130, 30.0, "p2870"),
        ("n9", False, 1, 2, 30.0, "p0"),
    ]
    assert len(checks) == 1


def test_the_ledger_accounts_for_lines_repeats_and_rejects(tmp_path: Path) -> None:
    config = cluster(tmp_path / "c", {"a": lines(0, 3) * 2 + "{oops\n"})
    (outcome,) = ingest(config).outcomes
    assert (outcome.log.loaded, outcome.log.rejected, outcome.log.oddities) == (12, 1, {"repeated_samples": (18, None)})
    with connect(config) as con:
        assert con.execute("select records, loaded, rejected from meta.files").fetchall() == [(13, 12, 1)]
        assert con.execute("select line, text from meta.rejects").fetchall() == [(13, "{oops")]


def test_strict_leaves_nothing_that_counts_and_the_next_ingest_sweeps_it(tmp_path: Path) -> None:
    config = cluster(tmp_path / "c", {"a": lines(0, 3) + "{oops\n"})
    ingest(config, is_strict=True)
    assert told(config)["samples"] == []
    (config.folder / "raw/a").write_text(lines(9, 3))
    ingest(config)
    with connect(config) as con:
        named = {name for (name,) in con.execute("select distinct file_name from meta.sample_parts").fetchall()}
    assert {path.name for path in (config.folder / "telemetry").rglob("*.parquet")} == named


def test_seconds_and_milliseconds_mixed_refuse_the_rest_of_the_file(tmp_path: Path) -> None:
    seconds = json.dumps({"metric": {"__name__": "m"}, "values": [1], "timestamps": [T0 // 1000]})
    config = cluster(tmp_path / "c", {"a": lines(0, 2, metrics=1) + seconds + "\n"})
    (outcome,) = ingest(config).outcomes
    assert outcome.refusal is not None
    assert "a:4: seconds and milliseconds are mixed" in outcome.refusal


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    config = cluster(tmp_path / "c", FILES)
    assert [outcome.log.loaded for outcome in ingest(config, is_dry_run=True).outcomes] == [6, 6, 6]
    assert sorted(path.name for path in config.folder.iterdir()) == ["cluster.toml", "raw"]


def test_the_folder_can_move_and_readers_stand_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = cluster(tmp_path / "c", FILES)
    ingest(config)
    before = told(config)
    shutil.move(config.folder, tmp_path / "else where, [x]")
    monkeypatch.chdir("/")
    assert told(load(tmp_path / "else where, [x]/cluster.toml")) == before


def test_a_reader_keeps_what_it_opened_while_another_file_is_merged(tmp_path: Path) -> None:
    config = cluster(tmp_path / "c", {"a": FILES["a"], "b": FILES["b"]})
    ingest(config)
    with connect(config) as reader:
        (config.folder / "raw/d").write_text(lines(40, 30))
        ingest(config)
        ingest(config, is_rebuild=True)
        assert reader.execute("select count(*) from marts.samples").fetchone() == (6 * 110,)


def test_parts_that_were_deleted_are_made_again(tmp_path: Path) -> None:
    config = cluster(tmp_path / "c", FILES)
    ingest(config)
    before = told(config)
    shutil.rmtree(config.folder / "telemetry/metric=node_m0")
    report = ingest(config)
    assert (len(report.outcomes), told(config)) == (3, before)


def test_killed_at_random_moments_then_run_again_gives_the_same(tmp_path: Path) -> None:
    files = {f"{number:02d}": lines(40 * number, 60, metrics=6) for number in range(10)}
    straight = cluster(tmp_path / "straight", files)
    started = time.monotonic()
    _run(straight.path).join()
    length = time.monotonic() - started
    killed = cluster(tmp_path / "killed", files)
    moments = random.Random(20261130)
    for _ in range(3):
        process = _run(killed.path)
        process.join(moments.uniform(0.3, 1.0) * length)
        if process.is_alive():
            os.kill(process.pid, signal.SIGKILL)
            process.join()
    ingest(killed)
    assert told(killed) == told(straight)


def _run(path: Path) -> Any:
    process = multiprocessing.get_context("spawn").Process(target=_ingest, args=(path,))
    process.start()
    return process


def _ingest(path: Path) -> None:
    """By two processes, however little there is to read."""
    readers.HELPED_MIN_BYTES = 0
    ingest(load(path))


def test_a_full_disk_leaves_the_warehouse_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = cluster(tmp_path / "c", {"a": FILES["a"]})
    ingest(config)
    before = told(config)
    (config.folder / "raw/b").write_text(FILES["b"])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "telemetry")

    with monkeypatch.context() as patch:
        patch.setattr(parts, "_table", full)
        with pytest.raises(OSError, match="No space left"):
            ingest(config)
    assert told(config) == before
    ingest(config)
    assert len(told(config)["samples"]) == 6 * 110


def test_a_long_line_fits_in_a_gibibyte(tmp_path: Path) -> None:
    count = 2_600_000
    values, times = ",".join(map(str, range(count))), ",".join(str(T0 + 1000 * n) for n in range(count))
    path = tmp_path / "long.jsonl"
    path.write_text(f'{{"metric":{{"__name__":"m"}},"values":[{values}],"timestamps":[{times}]}}\n')
    assert path.stat().st_size > 55_000_000
    script = f"""
import resource
from pathlib import Path
from gangline.sources import prometheus
from gangline.sources.files import InputFile
from gangline.sources.records import ReadLog, SourceOptions
from gangline.store.identity import NodeRule
from gangline.store.sink import SampleSink
sink = SampleSink(Path({str(tmp_path)!r}) / "telemetry", NodeRule())
for batch in prometheus.read(InputFile(Path({str(path)!r})), SourceOptions("prometheus"), ReadLog()):
    sink.take(batch)
written = sink.finish()
print(sum(part.sample_count for part in written.parts), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    samples, peak_kib = map(int, ran.stdout.split())
    assert samples == count
    assert peak_kib < 1 << 20


def test_the_known_cluster(shared_data: Path, tmp_path: Path) -> None:
    truth = json.loads((shared_data / "truth/telemetry/truth.json").read_text())["write_bytes_by_node"]
    shutil.copytree(shared_data / "truth/telemetry/vm", tmp_path / "vm", copy_function=shutil.copyfile)
    os.chmod(tmp_path / "vm", 0o755)  # noqa: PTH101
    config = load(tmp_path / "vm/cluster.toml")
    ingest(config)
    with connect(config) as con:
        series = dict(con.execute("select series_id, node from marts.series where metric = $1", [WRITTEN]).fetchall())
        span = con.execute("select min(first_at), max(last_at) from marts.series").fetchone()
        assert span is not None
        store = samples_of(con, config)
        samples = store.read(WRITTEN, ms_of(span[0]), ms_of(span[1]) + 1, series)
        by_node = {series[series_id]: float(increases(each.values).sum()) for series_id, each in samples.items()}
        of_sql = con.execute(
            """select node, list_sum(counter_increases(list(value order by "at")))
            from marts.samples join marts.series using (series_id, metric) where metric = $1 group by all""",
            [WRITTEN],
        ).fetchall()
    assert by_node == truth == dict(of_sql)
