"""The formats side by side on real exports, and what is told to bring another one."""

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest

from gangline.sources import prometheus
from gangline.sources.prometheus_grid import LOOK_BACK_MS
from gangline.sources.records import SourceRefusedError
from tests.sources.prometheus_files import SampleMap, read_bytes, read_file

EXTERNAL = ("cluster", "replica")


def _shared(left: SampleMap, right: SampleMap) -> list[tuple[tuple[str, ...], dict[int, float], dict[int, float]]]:
    """Series of both over the times that both cover."""
    rows = []
    for key in left.keys() & right.keys():
        start = max(min(left[key], default=0), min(right[key], default=0))
        end = min(max(left[key], default=0), max(right[key], default=0))
        rows.append((key, _between(left[key], start, end), _between(right[key], start, end)))
    return rows


def _between(samples: dict[int, float], start: int, end: int) -> dict[int, float]:
    return {time: value for time, value in samples.items() if start <= time <= end}


def test_prometheus_own_formats_agree_to_the_bit(shared_data: Path) -> None:
    real = shared_data / "real/prometheus"
    dump = read_file(real / "tsdb_dump_all.txt.gz").samples()
    compared = 0
    for name in ("util", "xid", "remap", "odd", "hist", "allsmi"):
        selected = read_file(real / f"range_selector_{name}.json").samples()
        for key, left, right in _shared(dump, selected):
            assert left == right, key
            compared += len(left)
    for key, samples in read_file(real / "derived_dump_openmetrics.om").samples().items():  # most of it thinned out
        assert samples.items() <= dump[key].items(), key
        compared += len(samples)
    assert compared > 30_000


QUERIES = ("qr_gpu_util.json", "qr_up.json", "qr_rfc3339.json", "range_selector_subquery.json")
PROMTOOL_QUERIES = ("promtool_query_range.json", "promtool_query_range.txt", "promtool_query_instant.txt")


def test_points_of_real_queries_are_marked_and_are_what_a_look_back_finds(shared_data: Path) -> None:
    real = shared_data / "real/prometheus"
    dump = {}
    for batch in read_file(real / "tsdb_dump_all.txt.gz").batches:
        dump.setdefault(frozenset(batch.labels.items()), []).append((batch.times_ms, batch.values))
    compared = 0
    for name in (*QUERIES, *PROMTOOL_QUERIES):
        for batch in read_file(real / name).batches:
            assert batch.is_gridded, name
            pieces = dump[frozenset(batch.labels.items())]
            times, values = (np.concatenate([piece[part] for piece in pieces]) for part in (0, 1))
            latest = np.searchsorted(times, batch.times_ms, side="right") - 1
            np.testing.assert_array_equal(batch.values, values[latest])
            assert (batch.times_ms - times[latest] < LOOK_BACK_MS).all()
            compared += latest.size
    assert compared > 1_200


def test_federation_is_what_was_scraped(shared_data: Path) -> None:
    real = shared_data / "real/prometheus"
    dump = read_file(real / "tsdb_dump_all.txt.gz").samples()
    federated = read_file(real / "federate.prom").samples(EXTERNAL)
    known = [key for key, samples in federated.items() if samples.items() <= dump[key].items()]
    assert len(known) == len(federated) > 260


def test_a_packed_export_of_the_other_tool_is_what_was_scraped(shared_data: Path) -> None:
    dump = read_file(shared_data / "real/prometheus/tsdb_dump_all.txt.gz").samples()
    packed = read_file(shared_data / "real/victoriametrics/export_gzip.jsonl.gz").samples(EXTERNAL)
    shared = _shared(packed, dump)
    assert sum(len(left) for _, left, _ in shared) > 2_000
    assert [key for key, left, right in shared if left != right] == []


def test_lines_in_chunks_read_as_plain_json_does(shared_data: Path) -> None:
    """The real chunked export repeats some timestamps with other values and lacks some, so it is its own measure."""
    path = shared_data / "real/victoriametrics/export_odd_reduce_mem.jsonl"
    plain: dict[str, list[tuple[int, float]]] = {}
    for text in path.read_text().splitlines():
        strict = re.sub(r"(?<=[\[,])([+-]?)Inf(?=[,\]])", r"\1Infinity", text)
        row = json.loads(re.sub(r"(?<=[\[,])\+Infinity", "Infinity", strict).replace("null", "NaN"))
        row["values"] = [float(value) for value in row["values"]]
        pairs = zip(row["timestamps"], row["values"], strict=True)
        plain.setdefault(json.dumps(row["metric"], sort_keys=True), []).extend(pairs)
    ours: dict[str, list[tuple[int, float]]] = {}
    for batch in read_file(path).batches:
        pairs = zip(batch.times_ms.tolist(), batch.values.tolist(), strict=True)
        ours.setdefault(json.dumps(dict(batch.labels), sort_keys=True), []).extend(pairs)
    assert {key: repr(value) for key, value in ours.items()} == {key: repr(value) for key, value in plain.items()}


def test_victoriametrics_lines_and_csv_agree(shared_data: Path) -> None:
    real = shared_data / "real/victoriametrics"
    columns = "__name__,gpu,Hostname,hostname,instance,__value__,__timestamp__:unix_ms"
    from_csv = read_file(real / "export_dcgm_unix_ms.csv", format=columns).samples()
    merged: SampleMap = {}
    kept = ("__name__=", "gpu=", "hostname=", "Hostname=", "instance=")
    for key, samples in read_file(real / "export_dcgm.jsonl").samples().items():
        merged.setdefault(tuple(sorted(label for label in key if label.startswith(kept))), {}).update(samples)
    shared = _shared(from_csv, merged)
    assert sum(len(left) for _, left, _ in shared) > 11_000
    for key, left, right in shared:
        assert left == right, key


def test_victoriametrics_against_prometheus_to_15_digits(shared_data: Path) -> None:
    """VictoriaMetrics stores decimals: subnormals become 0, the largest double loses its last digits."""
    real = shared_data / "real"
    ours = read_file(real / "victoriametrics/export_dcgm.jsonl").samples(EXTERNAL)
    ours |= read_file(real / "victoriametrics/export_odd.jsonl").samples(EXTERNAL)
    dump = read_file(real / "prometheus/tsdb_dump_all.txt.gz").samples()
    compared = 0
    for key, left, right in _shared(ours, dump):
        if "kind=tiny" in key or "kind=nan_sometimes" in key:
            continue
        assert left.keys() == right.keys(), key
        tolerance = 1e-12 if "kind=third" in key else 5e-15  # this version kept 12 digits of 1/3
        np.testing.assert_allclose(list(left.values()), [right[time] for time in left], rtol=tolerance)
        compared += len(left)
    assert compared > 20_000


def test_ground_truth_of_the_real_set(shared_data: Path) -> None:
    """formats 1: the target's outage, the counter resets, the XID changes, the GPU that vanished."""
    start = 1_795_972_352_573
    dump = read_file(shared_data / "real/prometheus/tsdb_dump_all.txt.gz").samples()
    (up,) = _of(dump, "__name__=up", "instance=127.0.0.1:9401").values()
    assert {round((time - start) / 1000) for time, value in up.items() if value == 0} >= set(range(152, 239))
    (odd,) = _of(dump, "__name__=odd_counter_total").values()
    drops = [time for (_, before), (time, after) in itertools.pairwise(odd.items()) if after < before]
    assert [round((time - start) / 1000) for time in drops] == [180]
    xids = _of(dump, "__name__=DCGM_FI_DEV_XID_ERRORS", "gpu=5", "hostname=gpu-node-01")
    assert sorted({value for samples in xids.values() for value in samples.values()}) == [0, 63, 94]
    (vanished,) = (
        samples
        for key, samples in _of(dump, "__name__=DCGM_FI_DEV_GPU_UTIL", "gpu=1", "Hostname=gpu-node-02").items()
        if len(samples) > 300
    )
    gap = max(np.diff(sorted(vanished)))
    assert 123_000 <= gap <= 128_000


def _of(samples: SampleMap, *labels: str) -> SampleMap:
    return {key: value for key, value in samples.items() if all(label in key for label in labels)}


@pytest.mark.parametrize(
    ("name", "head", "message"),
    [
        ("meta.json", b'{"ulid":"01ABC","minTime":1,"maxTime":2}', r"promtool tsdb dump .*/ > dump.txt"),
        ("index", b"\xba\xaa\xd7\x00\x02", "promtool tsdb dump"),
        ("000001", b"\x85\xbd\x40\xdd\x01", "promtool tsdb dump"),
        ("native.bin", b"\x00\x00\x01\x8d\xf5\x12\x34\x56" * 4, "curl -s .*/api/v1/export"),
        ("timeline.json", b'{"T0": 1.5}', "no series with samples in this JSON"),
        ("series.txt", b'{__name__="up", job="a"}\n', "no line of it is a sample"),
    ],
)
def test_other_forms_are_refused_with_the_command_to_run(tmp_path: Path, name: str, head: bytes, message: str) -> None:
    with pytest.raises(SourceRefusedError, match=message):
        read_bytes(tmp_path, head, name)


def test_a_database_folder_stands_for_one_of_its_blocks(tmp_path: Path) -> None:
    block = tmp_path / "data/01ABC"
    block.mkdir(parents=True)
    (block / "meta.json").write_text('{"ulid":"01ABC"}')
    assert prometheus.files(tmp_path / "data") == [block / "meta.json"]
    assert prometheus.files(block) == [block / "meta.json"]


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, b"").log.records == 0
