"""The real scrapes of one afternoon in the store: what is known to have happened, from whichever tool exported it."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gangline.counters import deltas_of
from gangline.sources import prometheus
from gangline.sources.files import InputFile
from gangline.sources.records import ReadLog, SourceOptions
from gangline.sources.samples import SampleBatch
from gangline.store.reading import SeriesSamples
from tests.store.stored import Stored

START = 1_795_972_352_573  # formats 1: the scenario's clock
ALL = (START - 60_000, START + 700_000)
XID, UTIL, REMAPPED = "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS"


def batches(path: Path) -> Iterator[SampleBatch]:
    return prometheus.read(InputFile(path), SourceOptions("prometheus"), ReadLog())


@pytest.fixture(scope="module")
def real(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stored]:
    made = Stored(tmp_path_factory.mktemp("real"))
    made.load("prometheus", *batches(shared_data / "real/prometheus/tsdb_dump_all.txt.gz"))
    made.settle()
    yield made
    made.con.close()


def of_gpu(stored: Stored, metric: str, node: str, gpu: int) -> SeriesSamples:
    """The one series of a GPU."""
    rows = stored.con.execute(
        "select distinct series_id from meta.series_seen where metric = ? and node_text = ? and gpu_index = ?",
        [metric, node, gpu],
    ).fetchall()
    assert len(rows) == 1
    (samples,) = stored.store.read(metric, *ALL, [rows[0][0]]).values()
    return samples


def changes(samples: SeriesSamples) -> list[tuple[int, float]]:
    """Seconds since the start, and value, of the first sample and of every change."""
    is_change = np.concatenate([[True], samples.values[1:] != samples.values[:-1]])
    seconds = (samples.times_ms[is_change] - START) // 1000
    return list(zip(seconds.tolist(), samples.values[is_change].tolist(), strict=True))


def test_an_xid_does_not_end_its_series(real: Stored) -> None:
    assert changes(of_gpu(real, XID, "gpu-node-01", 5)) == [(6, 0.0), (100, 94.0), (140, 63.0), (240, 0.0)]
    assert changes(of_gpu(real, XID, "gpu-node-01", 6)) == [(6, 0.0), (300, 31.0)]
    assert changes(of_gpu(real, XID, "gpu-node-02", 1)) == [(6, 0.0), (195, 79.0)]


def test_a_target_that_was_down_and_a_gpu_that_vanished_are_gaps(real: Stored) -> None:
    down, vanished = (of_gpu(real, UTIL, *which) for which in (("gpu-node-01", 0), ("gpu-node-02", 1)))
    for samples, first, last in ((down, 150, 240), (vanished, 205, 330)):
        deltas = deltas_of(samples.times_ms, samples.values)
        ((start, end),) = zip(deltas.start_ms[deltas.is_gap], deltas.end_ms[deltas.is_gap], strict=True)
        assert abs((start - START) / 1000 - first) <= 1.5
        assert abs((end - START) / 1000 - last) <= 1.5


def test_counters_go_on_and_restart_as_they_did(real: Stored) -> None:
    """GPU 5 remaps a row every 50 s; NVLink traffic counts anew after the outage from 150 to 240 s."""
    remapped = of_gpu(real, REMAPPED, "gpu-node-01", 5)
    assert (
        float(deltas_of(remapped.times_ms, remapped.values).increase.sum()) == (remapped.times_ms[-1] - START) // 50_000
    )
    traffic = of_gpu(real, "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "gpu-node-01", 0)
    is_before = traffic.times_ms < START + 150_000
    before, after = traffic.values[is_before], traffic.values[~is_before]
    assert after[0] < before[-1]
    counted = float(deltas_of(traffic.times_ms, traffic.values).increase.sum())
    assert counted == before[-1] - before[0] + after[-1]


def test_the_other_tool_finds_the_same_series_and_adds_nothing(real: Stored, shared_data: Path, tmp_path: Path) -> None:
    other = Stored(tmp_path)
    other.load("victoriametrics", *batches(shared_data / "real/victoriametrics/export_dcgm.jsonl"))
    for metric in (XID, UTIL, REMAPPED):
        ours, theirs = real.store.read(metric, *ALL), other.store.read(metric, *ALL)
        assert ours.keys() == theirs.keys()
        for series_id, samples in theirs.items():
            mine = ours[series_id]
            end = min(mine.times_ms[-1], samples.times_ms[-1])
            shared, other_shared = mine.times_ms <= end, samples.times_ms <= end
            np.testing.assert_array_equal(mine.times_ms[shared], samples.times_ms[other_shared])
            np.testing.assert_array_equal(mine.values[shared], samples.values[other_shared])
    other.con.close()
