"""A file cut into shares, by one process or two, gives what reading it in one go gives."""

import gzip
import hashlib
import json
import os
import subprocess
import sys
import weakref
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import zstandard

from gangline.sources.files import InputFile
from gangline.sources.records import SourceOptions
from gangline.store import readers, second_reader, shares
from gangline.store.filling import Filled, fill, joined
from gangline.store.readers import fill_all, is_worth_a_helper
from gangline.store.recording import record_written
from gangline.store.shares import Share, is_cut, shares_of
from tests.store.stored import T0, Stored

OPTIONS = SourceOptions("prometheus", node_labels=("instance",))


def line(series: int, first: int, count: int, **labels: str) -> str:
    times = [T0 + 30_000 * step for step in range(first, first + count)]
    names = {"__name__": f"node_m{series % 2}", "instance": f"n{series}"} | labels
    return json.dumps({"metric": names, "values": [step % 7 for step in range(count)], "timestamps": times})


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """Two days of series in pieces, repeats and changed labels among them, and lines that cannot be read."""
    lines = [line(series, 40 * part, 45, pod=f"p{part}") for part in range(90) for series in range(5)]
    lines[100:100] = ["{oops", "", line(7, 0, 3).replace("[0, 1, 2]", "[0, 1]")]
    lines[300:300] = [line(8, 0, 3).replace("1,", "null,", 1), "{again"]
    lines.append(line(9, 0, 3000))  # longer than a share
    path = tmp_path / "export.jsonl"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some twenty shares of the export."""
    monkeypatch.setattr(shares, "SHARE_BYTES", 30_000)
    monkeypatch.setattr(shares, "UNPACKED_SHARE_BYTES", 30_000)
    monkeypatch.setattr(shares, "PLAIN_MIN_BYTES", 0)
    monkeypatch.setattr(shares, "PACKED_MIN_BYTES", 0)
    monkeypatch.setattr(shares, "CHUNK_BYTES", 10_000)


def pieces_of(path: Path, telemetry: Path, is_helped: bool = False) -> list[tuple[Share, Filled]]:
    return list(fill_all(shares_of(path, OPTIONS, telemetry), is_helped))


def told(filled: Filled | None, folder: Path) -> dict[str, Any]:
    """Everything that the ledger and the store are told of a file."""
    assert filled is not None
    made = Stored(folder)
    record_written(made.con, "f", filled.written)
    made.settle()
    later = made.con.execute("select sum(repeat_count), sum(conflict_count) from meta.sample_parts").fetchall()
    facts: dict[str, Any] = {
        "samples": repr([made.raw(metric) for metric in ("node_m0", "node_m1")]),  # NaN is not equal to itself
        "count": sum(len(series) for metric in ("node_m0", "node_m1") for series in made.raw(metric).values()),
        "series": made.con.execute("from meta.series_seen order by all").fetchall(),
        "repeats": (filled.written.repeats + later[0][0], filled.written.conflicts + later[0][1]),
        "log": asdict(filled.log),
        "sha256": filled.sha256,
        "damage": filled.damage,
    }
    made.con.close()
    return facts


@pytest.fixture
def straight(export: Path, tmp_path: Path) -> dict[str, Any]:
    """What reading it in one go tells."""
    whole = Share(export, OPTIONS, tmp_path / "straight/telemetry", export)
    return told(fill(whole), tmp_path / "straight")


def test_reading_in_one_go_finds_what_the_export_holds(export: Path, straight: dict[str, Any]) -> None:
    assert straight["sha256"] == hashlib.sha256(export.read_bytes()).hexdigest()
    assert [reject["line"] for reject in straight["log"]["rejects"]] == [101, 103, 302]
    assert straight["log"]["oddities"] == {"nan_or_stale": (1, 301)}
    assert straight["repeats"] == (5 * 89 * 5, 5 * 89 * 5)  # each piece begins 5 steps before the end of the last
    assert straight["count"] == 5 * 3605 + 3 + 3000


@pytest.mark.usefixtures("small_shares")
@pytest.mark.parametrize("is_helped", [False, True])
def test_shares_give_the_same(export: Path, straight: dict[str, Any], tmp_path: Path, is_helped: bool) -> None:
    pieces = pieces_of(export, tmp_path / "cut/telemetry", is_helped)
    ends = [share.end for share, _ in pieces]
    assert len(pieces) > 10
    assert [share.start for share, _ in pieces] == [0, *ends[:-1]]
    assert [share.is_last for share, _ in pieces] == [False] * (len(pieces) - 1) + [True]
    assert told(joined([filled for _, filled in pieces]), tmp_path / "cut") == straight


@pytest.mark.usefixtures("small_shares")
@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("is_helped", [False, True])
def test_packed_shares_give_the_same_and_free_their_memory(
    export: Path, straight: dict[str, Any], tmp_path: Path, ending: str, is_helped: bool
) -> None:
    pack = gzip.compress if ending == "gz" else zstandard.compress
    packed = tmp_path / f"export.{ending}"
    packed.write_bytes(pack(export.read_bytes()))
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208
    pieces = pieces_of(packed, tmp_path / "cut/telemetry", is_helped)
    assert len(pieces) > 10
    assert set(os.listdir("/proc/self/fd")) <= before  # noqa: PTH208
    sha256 = hashlib.sha256(packed.read_bytes()).hexdigest()
    assert told(joined([filled for _, filled in pieces]), tmp_path / "cut") == straight | {"sha256": sha256}


@pytest.mark.usefixtures("small_shares")
def test_what_is_left_early_frees_its_memory(export: Path, tmp_path: Path) -> None:
    packed = tmp_path / "export.gz"
    packed.write_bytes(gzip.compress(export.read_bytes()))
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208
    with closing(fill_all(shares_of(packed, OPTIONS, tmp_path / "telemetry"), is_helped=True)) as filled:
        assert next(filled)[1].log.loaded > 0
    assert set(os.listdir("/proc/self/fd")) <= before  # noqa: PTH208


@pytest.mark.usefixtures("small_shares")
def test_a_packed_file_that_breaks_off_says_so(export: Path, tmp_path: Path) -> None:
    packed = tmp_path / "export.gz"
    packed.write_bytes(gzip.compress(export.read_bytes())[:-4000])
    whole = fill(Share(packed, OPTIONS, tmp_path / "a/telemetry", packed))
    cut = joined([filled for _, filled in pieces_of(packed, tmp_path / "b/telemetry")])
    assert cut is not None
    assert cut.damage == whole.damage != ()
    assert told(cut, tmp_path / "b") == told(whole, tmp_path / "a")


@pytest.mark.usefixtures("small_shares")
def test_units_that_are_mixed_are_left_to_reading_in_one_go(export: Path, tmp_path: Path) -> None:
    with export.open("a") as out:
        out.write("\n" + line(1, 0, 1).replace("000]", "]"))
    assert joined([filled for _, filled in pieces_of(export, tmp_path / "telemetry")]) is None


@pytest.mark.usefixtures("small_shares")
def test_a_helper_that_is_lost_costs_nothing_but_time(
    export: Path, straight: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Short(second_reader.SecondReader):
        def fill(self, share: Share, meter: Any) -> Filled:
            self._process.kill()
            return super().fill(share, meter)

    monkeypatch.setattr(readers, "SecondReader", Short)
    pieces = pieces_of(export, tmp_path / "cut/telemetry", is_helped=True)
    assert told(joined([filled for _, filled in pieces]), tmp_path / "cut") == straight


@pytest.mark.usefixtures("small_shares")
def test_what_stops_the_helper_stops_the_reading(export: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "telemetry").write_text("no folder")
    monkeypatch.setattr(readers, "fill", lambda share, meter: Filled())
    with pytest.raises(OSError, match="telemetry"):
        pieces_of(export, tmp_path / "telemetry", is_helped=True)


def test_what_came_of_a_share_is_let_go_once_it_is_joined() -> None:
    """A file may have thousands of shares, each with every series."""
    made: list[weakref.ref[Filled]] = []
    alive: list[int] = []

    def pieces() -> Iterator[Filled]:
        for _ in range(5):
            alive.append(sum(each() is not None for each in made))
            piece = Filled(line_count=1)
            made.append(weakref.ref(piece))
            yield piece
            del piece

    whole = joined(pieces())
    assert whole is not None
    assert whole.line_count == 5
    assert max(alive) <= 2


def test_a_file_that_is_gone_is_a_problem_of_its_own(tmp_path: Path) -> None:
    ((_, filled),) = pieces_of(tmp_path / "gone", tmp_path / "telemetry")
    assert isinstance(filled.problem, FileNotFoundError)


@pytest.mark.usefixtures("small_shares")
def test_other_formats_and_small_files_are_never_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "scrape.txt"
    path.write_text('up{instance="n1"} 1 1709251200000\n' * 2000)
    assert [share.end for share in shares_of(path, OPTIONS, tmp_path)] == [None]
    assert not is_cut(InputFile(path), path.stat().st_size)
    path.write_text(line(1, 0, 10))
    assert is_cut(InputFile(path), path.stat().st_size)
    monkeypatch.setattr(shares, "PLAIN_MIN_BYTES", 10_000)
    assert [share.end for share in shares_of(path, OPTIONS, tmp_path)] == [None]


@pytest.mark.usefixtures("small_shares")
def test_a_line_longer_than_any_series_is_rejected_wherever_it_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("gangline.store.shares", "gangline.sources.prometheus_export"):
        monkeypatch.setattr(f"{module}.SERIES_MAX_BYTES", 50_000)
    path = tmp_path / "export.jsonl"
    path.write_text("\n".join([line(1, 0, 3), line(2, 0, 10_000), line(3, 0, 3), ""]))
    packed = tmp_path / "export.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for file in (path, packed):
        whole = joined([filled for _, filled in pieces_of(file, tmp_path / "telemetry")])
        assert whole is not None
        assert (whole.log.records, whole.log.loaded) == (3, 2)
        assert [reject.line for reject in whole.log.rejects] == [2]


def test_one_core_or_little_to_read_needs_no_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.delenv("GANGLINE_THREADS", raising=False)
    assert (is_worth_a_helper(1 << 20), is_worth_a_helper(1 << 30)) == (False, True)
    monkeypatch.setenv("GANGLINE_THREADS", "1")
    assert not is_worth_a_helper(1 << 30)
    monkeypatch.delenv("GANGLINE_THREADS")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert not is_worth_a_helper(1 << 30)


def test_the_order_is_that_of_the_shares_whoever_is_first(tmp_path: Path) -> None:
    def three() -> Iterator[Share]:
        for name in ("c", "a", "b"):
            path = tmp_path / name
            path.write_text(line(1, 0, {"c": 3000, "a": 3, "b": 5}[name]))
            yield Share(path, OPTIONS, tmp_path / "telemetry", path)

    done = list(fill_all(three(), is_helped=True))
    assert [share.path.name for share, _ in done] == ["c", "a", "b"]
    assert [next(iter(filled.written.series.values())).sample_count for _, filled in done] == [3000, 3, 5]


def test_lines_are_read_without_the_libraries_that_take_long_to_load(tmp_path: Path) -> None:
    lines = tmp_path / "export.jsonl"
    lines.write_text(line(1, 0, 300) + "\n" + line(2, 0, 300))
    source = f"""
import sys
from pathlib import Path
from gangline.sources.read_log import SourceOptions
from gangline.store.second_reader import Share, fill
path = Path({str(lines)!r})
filled = fill(Share(path, SourceOptions("prometheus"), path.parent / "telemetry", path, end=path.stat().st_size))
heavy = {{"duckdb", "pandas", "polars", "pydantic"}} & set(sys.modules)
print(filled.log.loaded, len(filled.written.parts), sorted(heavy))
"""
    told = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True, text=True)
    assert told.stdout == "2 2 []\n"
