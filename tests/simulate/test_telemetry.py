"""A small plan's telemetry, written by two processes and read back by the reader of real exports."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from gangline.simulate.telemetry_files import write_telemetry
from tests.simulate.small_plan import END, GB, NODES, PLAN, SAVES, START, STEP, at
from tests.sources.prometheus_files import read_file

OPERATIONS = "node_mountstats_nfs_operations_{}_total"
Series = dict[int, float]


@dataclass(frozen=True)
class Told:
    """Everything that the files say."""

    series: dict[tuple[str, str], Series]
    files: list[str]

    def of(self, metric: str, node: str, **labels: str) -> NDArray[np.float64]:
        """A series by scrape, NaN where it has no sample."""
        wanted = {metric, *(f"{name}={value}" for name, value in labels.items())}
        found = [
            own for (told, instance), own in self.series.items() if instance == node and wanted <= set(told.split("|"))
        ]
        (samples,) = found
        values = np.full((END - START) // STEP, np.nan)
        values[[(time - START) // STEP for time in samples]] = list(samples.values())
        return values

    def steps(self, metric: str, node: str, **labels: str) -> NDArray[np.float64]:
        """What a counter counted in each step."""
        return np.diff(self.of(metric, node, **labels))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("telemetry")
    write_telemetry(folder, PLAN, lambda *_: None, workers=2)
    series: dict[tuple[str, str], Series] = {}
    for path in sorted(folder.iterdir()):
        for batch in read_file(path).batches:
            labels = dict(batch.labels)
            node = labels.pop("instance").partition(":")[0]
            key = "|".join([labels.pop("__name__"), *(f"{name}={value}" for name, value in labels.items())])
            pairs = zip(batch.times_ms.tolist(), batch.values.tolist(), strict=True)
            series.setdefault((key, node), {}).update(pairs)
    return Told(series, sorted(path.name for path in folder.iterdir()))


def test_a_file_a_day_and_nothing_else(told: Told) -> None:
    assert told.files == ["export_2025-09-04.jsonl.zst", "export_2025-09-05.jsonl.zst"]


def test_writes_are_those_of_the_plan_step_by_step(told: Told) -> None:
    wanted = np.zeros(719)
    wanted[200] = 26 * GB
    wanted[400], wanted[401] = 0.75 * 2 * GB, 0.25 * 2 * GB
    assert (
        told.steps(OPERATIONS.format("sent_bytes"), "gpu064", operation="WRITE")[:299].tolist() == wanted[:299].tolist()
    )
    assert (
        told.steps(OPERATIONS.format("sent_bytes"), "gpu064", operation="WRITE")[310:].tolist() == wanted[310:].tolist()
    )
    assert told.of(OPERATIONS.format("sent_bytes"), "gpu065", operation="WRITE")[-1] == 0
    handed = told.of("node_mountstats_nfs_write_bytes_total", "gpu062")
    assert handed[-1] == 52 * GB


def test_reads_and_what_the_page_cache_gives_again(told: Told) -> None:
    read = told.steps(OPERATIONS.format("received_bytes"), "gpu062", operation="READ")
    assert read[12:15].tolist() == [440e6 * 30, 880e6 * 30, 440e6 * 30]
    assert read.sum() == read[12:15].sum()
    handed = told.of("node_mountstats_nfs_read_bytes_total", "gpu062")[-1]
    assert handed - read.sum() == pytest.approx(200 * GB, abs=3)
    cached = told.of("node_memory_Cached_bytes", "gpu062")
    assert (cached[15] - cached[12], cached[499] - cached[12], cached[500] - cached[12]) == (200 * GB, 200 * GB, 0)


def _writes(told: Told) -> Iterator[tuple[float, ...]]:
    for node in NODES[:3]:
        parts = [told.steps(OPERATIONS.format("requests"), node, operation="WRITE")[400:402].sum()]
        parts += [
            told.steps(OPERATIONS.format(f"{which}_time_seconds"), node, operation="WRITE")[400:402].sum()
            for which in ("queue", "response", "request")
        ]
        yield tuple(parts)


def test_times_of_requests_are_those_of_the_plan(told: Told) -> None:
    requests, queue, response, request = np.array(list(_writes(told))).T
    assert requests.tolist() == [26_000, 26_000, 2_000]
    assert queue.sum() / requests.sum() == pytest.approx(1.890, abs=2e-6)
    assert response.sum() / requests.sum() == pytest.approx(0.136, abs=1e-6)
    assert request.sum() / requests.sum() == pytest.approx(2.030, abs=2e-6)
    assert np.quantile(queue / requests, 0.95) == pytest.approx(3.020, abs=1e-4)


def test_times_begin_between_the_saves_without_and_with_them(told: Told) -> None:
    queue = told.of(OPERATIONS.format("queue_time_seconds"), "gpu062", operation="WRITE")
    first = np.flatnonzero(~np.isnan(queue))[0]
    assert 201 < first < 400
    requests = told.of(OPERATIONS.format("requests"), "gpu062", operation="WRITE")
    assert np.flatnonzero(~np.isnan(requests))[0] == first
    assert not np.isnan(told.of(OPERATIONS.format("sent_bytes"), "gpu062", operation="WRITE")).any()


def test_metadata_share(told: Told) -> None:
    counts = {
        operation: sum(
            told.steps(OPERATIONS.format("requests"), node, operation=operation)[400:402].sum() for node in NODES[:3]
        )
        for operation in ("READ", "WRITE", "GETATTR", "LOOKUP")
    }
    metadata = counts["GETATTR"] + counts["LOOKUP"]
    assert metadata / sum(counts.values()) == pytest.approx(0.0085, abs=1e-4)


def test_gpus_wait_while_a_save_stalls_them(told: Told) -> None:
    util = told.of("DCGM_FI_DEV_GPU_UTIL", "gpu062", gpu="0")
    assert (util[20:40].max(), util[41:200].min()) == (0, 96)
    assert np.allclose(util[400:404], [98, 98 * 0.5, 98 * 0.9, 98], atol=2.6)  # 15 s of a step, then 3 s
    assert util[500:].max() == 0
    power = told.of("DCGM_FI_DEV_POWER_USAGE", "gpu062", gpu="0")
    assert power[41:200].min() > 850 > power[401] > 500


def test_staged_bytes_stand_while_they_are_written(told: Told) -> None:
    staged = told.of("node_memory_Shmem_bytes", "gpu062")
    levels = (staged[400:404] - staged[399]).tolist()
    assert levels == [0, 48 * GB, 48 * GB, 0]
    assert SAVES[1].steps[-1][0] + STEP == at(402)


def test_a_node_that_is_down_gives_nothing_and_counts_from_zero(told: Told) -> None:
    counted = told.of("node_intr_total", "gpu063")
    assert np.isnan(counted[520:560]).all()
    assert (counted[560], counted[561]) == (0, 78_000 * 30)
    assert told.of("up", "gpu063", job="node")[519:561].tolist() == [1, *[0] * 40, 1]
    assert told.of("up", "gpu063", job="all-smi")[540] == 0


def test_an_outage_of_one_exporter_leaves_the_others(told: Told) -> None:
    assert np.isnan(told.of("node_procs_running", "gpu064")[300:310]).all()
    assert not np.isnan(told.of("DCGM_FI_DEV_GPU_UTIL", "gpu064", gpu="7")).any()


def test_the_xid_gauge_keeps_the_last_one_until_the_node_comes_up(told: Told) -> None:
    gauge = told.of("DCGM_FI_DEV_XID_ERRORS", "gpu063", gpu="1")
    assert gauge[[497, 498, 499, 519]].tolist() == [0, 145, 79, 79]
    assert gauge[560] == 0
    assert told.of("DCGM_FI_DEV_XID_ERRORS", "gpu063", gpu="2")[519] == 0


def test_courses_of_a_case(told: Told) -> None:
    interrupts = told.steps("node_intr_total", "gpu063")
    assert interrupts[[449, 450, 451, 452]].tolist() == [300_000 * 30] * 4
    remapped = told.of("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "gpu063", gpu="1")
    assert remapped[[439, 440, 460, 479, 519]].tolist() == [0, 0, 20, 39, 40]
    errors = told.steps("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", "gpu063", gpu="1")
    assert errors[449:455].tolist() == [0, 0, 30, 60, 90, 0]
    beside = told.of("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "gpu063", gpu="2")
    assert np.nanmax(beside) == 0


def test_storage_fills(told: Told) -> None:
    free = told.of("node_filesystem_avail_bytes", "gpu062")
    assert (free[0], free[-1]) == ((2252 - 450) * 1000 * GB, (2252 - 963) * 1000 * GB)
    assert told.of("node_filesystem_size_bytes", "gpu062")[0] == 2252 * 1000 * GB
