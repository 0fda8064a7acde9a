"""Exports of VictoriaMetrics lines, read back by the reader that anyone's exports go through."""

from pathlib import Path

import numpy as np
import pytest

from gangline.simulate.vm_lines import SeriesBlock, Target, write_export
from tests.sources.prometheus_files import Read, read_file

TIMES = 1_757_000_000_123 + 30_000 * np.arange(5)
WHOLE = Target({"job": "node", "instance": "gpu062:9100"}, TIMES)
HALF = Target({"job": "node", "instance": "gpu063:9100"}, TIMES + 7, np.array([True, False, False, True, True]))
DARK = Target({"job": "node", "instance": "gpu064:9100"}, TIMES + 9, np.zeros(5, bool))
COUNTS = np.array([[1, 2, 3, 4, 5], [10, 20, 30, 40, 50], [7, 7, 7, 7, 7]])


def _written(folder: Path, *blocks: SeriesBlock) -> tuple[Read, int]:
    path = folder / "day.jsonl.zst"
    count = write_export(path, (WHOLE, HALF, DARK), iter(blocks))
    return read_file(path), count


def test_a_scrape_that_was_not_answered_leaves_its_samples_out(tmp_path: Path) -> None:
    read, count = _written(tmp_path, SeriesBlock("node_intr_total", (0, 1, 2), ({}, {}, {}), COUNTS))
    assert read.values() == [[1, 2, 3, 4, 5], [10, 40, 50]]
    assert read.times() == [TIMES.tolist(), [TIMES[0] + 7, TIMES[3] + 7, TIMES[4] + 7]]
    assert [labels["instance"] for labels in read.labels()] == ["gpu062:9100", "gpu063:9100"]
    assert count == 8


def test_up_is_there_where_a_target_is_not(tmp_path: Path) -> None:
    up = SeriesBlock("up", (1, 2), ({}, {}), np.array([[1, 0, 0, 1, 1], [0] * 5]), is_always=True)
    read, count = _written(tmp_path, up)
    assert read.values() == [[1, 0, 0, 1, 1], [0] * 5]
    assert read.times() == [(TIMES + 7).tolist(), (TIMES + 9).tolist()]
    assert count == 10


def test_labels_and_decimals(tmp_path: Path) -> None:
    label = {"operation": 'WR"ITE'}
    block = SeriesBlock("node_mountstats_nfs_operations_queue_time_seconds_total", (0,), (label,), COUNTS[:1], 3)
    read, _ = _written(tmp_path, block)
    assert read.values() == [[0.001, 0.002, 0.003, 0.004, 0.005]]
    assert read.labels() == [{"__name__": block.metric, **WHOLE.labels, **label}]
    assert read.log.rejected == 0


def test_a_file_that_is_not_whole_is_none(tmp_path: Path) -> None:
    def broken() -> object:
        yield SeriesBlock("a", (0,), ({},), COUNTS[:1])
        raise RuntimeError("cut")

    with pytest.raises(RuntimeError, match="cut"):
        write_export(tmp_path / "day.jsonl.zst", (WHOLE,), broken())  # type: ignore[arg-type]
    assert not (tmp_path / "day.jsonl.zst").exists()


def test_bytes_are_the_same_each_time(tmp_path: Path) -> None:
    block = SeriesBlock("node_intr_total", (0, 1, 2), ({}, {}, {}), COUNTS)
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        write_export(path, (WHOLE, HALF, DARK), iter([block]))
    assert paths[0].read_bytes() == paths[1].read_bytes()
