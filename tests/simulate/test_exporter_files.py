"""All further metrics of a tiny plan, written and read back by the reader of real exports."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from gangline.simulate import exporter_files
from gangline.simulate.exporter_days import DayPart, ExporterDays
from gangline.simulate.exporter_files import NoRoomError, check_room, size_of, write_full
from gangline.simulate.exporter_metrics import exporter_metrics
from gangline.store.identity import NodeRule, identify
from tests.simulate.tiny_plan import BUSY_FROM, NODES, SCRAPES, TINY, UNSCRAPED, at
from tests.sources.prometheus_files import read_file

SERIES = 6_692  # of a node
LEFT = SCRAPES - len(UNSCRAPED)
FILES = ["full_2025-09-04_gpu062.jsonl.zst", "full_2025-09-05_gpu062.jsonl.zst"]
Values = NDArray[np.float64]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("full")
    assert write_full(folder, TINY, lambda *_: None, workers=1) == SERIES * (SCRAPES + LEFT)
    return folder


@pytest.fixture(scope="module")
def told(folder: Path) -> dict[tuple[tuple[str, str], ...], Values]:
    """Every series by scrape, NaN where it has no sample."""
    series: dict[tuple[tuple[str, str], ...], Values] = {}
    for path in sorted(folder.iterdir()):
        for batch in read_file(path).batches:
            values = series.setdefault(tuple(sorted(batch.labels.items())), np.full(SCRAPES, np.nan))
            values[(batch.times_ms - at(0)) // 30_000] = batch.values
    return series


def _of(told: dict[tuple[tuple[str, str], ...], Values], metric: str, node: str, **labels: str) -> Values:
    wanted = {("__name__", metric), *labels.items()}
    (found,) = [
        own for key, own in told.items() if wanted <= set(key) and dict(key)["instance"].partition(":")[0] == node
    ]
    return found


def test_every_series_and_every_answered_scrape_is_there(
    folder: Path, told: dict[tuple[tuple[str, str], ...], Values]
) -> None:
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert len(told) == SERIES * len(NODES)
    missing = {node: (UNSCRAPED if node == "gpu063" else ()) for node in NODES}
    for key, values in told.items():
        node = dict(key)["instance"].partition(":")[0]
        assert tuple(np.flatnonzero(np.isnan(values))) == missing[node], key


def test_the_store_tells_all_series_and_their_nodes_apart(told: dict[tuple[tuple[str, str], ...], Values]) -> None:
    found = [identify(dict(key), NodeRule()) for key in told]
    assert len({series.series_id for series in found}) == SERIES * len(NODES)
    assert {series.node_text for series in found} == set(NODES)


def _falls(told: dict[tuple[tuple[str, str], ...], Values]) -> Iterator[str]:
    counters = {row.metric for row in exporter_metrics() if row.kind == "counter"}
    for key, values in told.items():
        labels = dict(key)
        parts = (values[: UNSCRAPED[0]], values[UNSCRAPED[-1] + 1 :]) if "gpu063" in labels["instance"] else (values,)
        if labels["__name__"] in counters and any((np.diff(part) < 0).any() for part in parts):
            yield labels["__name__"]


def test_counters_fall_only_where_their_node_comes_up(told: dict[tuple[tuple[str, str], ...], Values]) -> None:
    assert list(_falls(told)) == []
    energy = _of(told, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "gpu063", gpu="3")
    assert energy[8] <= 90_000 < 4 * 4_350_000 <= energy[4]


def test_values_follow_what_the_node_does(told: dict[tuple[tuple[str, str], ...], Values]) -> None:
    busy, idle = (_of(told, "DCGM_FI_DEV_FB_USED", node, gpu="7") for node in NODES)
    assert busy.tolist() == [4] * BUSY_FROM + [171_200] * (SCRAPES - BUSY_FROM)
    assert set(idle[~np.isnan(idle)]) == {4}
    powers = _of(told, "DCGM_FI_DEV_POWER_USAGE_INSTANT", "gpu062", gpu="0")
    assert powers[:BUSY_FROM].max() < 180 < 900 < powers[BUSY_FROM:].min()
    seconds = _of(told, "node_cpu_seconds_total", "gpu062", cpu="111", mode="user")
    assert np.all(np.abs(np.diff(seconds)[BUSY_FROM:] - 5) <= 0.2)


def test_parts_are_equal_however_they_are_made(folder: Path, tmp_path: Path) -> None:
    write_full(tmp_path, TINY, lambda *_: None, workers=2)
    assert [(tmp_path / name).read_bytes() for name in FILES] == [(folder / name).read_bytes() for name in FILES]
    days = ExporterDays(TINY)
    day = next(days.grid.days())
    alone = [block.values for block in days.blocks(DayPart(day, range(1, 2)))]
    both = [block.values[len(block.values) // 2 :] for block in days.blocks(DayPart(day, range(2)))]
    assert all(np.array_equal(one, two) for one, two in zip(alone, both, strict=True))


def test_a_part_that_is_there_is_left(folder: Path, tmp_path: Path) -> None:
    (tmp_path / FILES[0]).write_bytes(b"")
    told: list[str] = []
    write_full(tmp_path, TINY, lambda name, *_: told.append(name), workers=1)
    assert (told, (tmp_path / FILES[0]).read_bytes()) == ([FILES[1]], b"")


def test_its_size_is_told_and_where_it_has_no_room(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    size = size_of(TINY)
    assert (size.metrics, size.series_per_node, size.samples, size.files) == (722, SERIES, SERIES * 2 * SCRAPES, 2)
    monkeypatch.setattr(exporter_files.shutil, "disk_usage", lambda _: SimpleNamespace(free=100_000))
    check_room(folder, TINY, is_begun=True)
    with pytest.raises(NoRoomError, match=r"need about 0\.000133 GB and 0\.0001 GB are free there: make room"):
        check_room(folder / "new", TINY, is_begun=False)
