"""VictoriaMetrics' lines: what its versions write that JSON does not know, and damage that costs only its line."""

import gzip
import json
import math
from pathlib import Path

import pytest
import zstandard

from gangline.sources import prometheus_export
from gangline.sources.records import SourceRefusedError
from tests.sources.prometheus_files import read_bytes

LINE = b'{"metric":{"__name__":"m","instance":"n1:9100"},"values":[%s],"timestamps":[%s]}\n'
T0 = 1_709_251_200_000


def line(values: str, times: str | None = None) -> bytes:
    count = values.count(",") + 1 if values else 0
    return LINE % (values.encode(), (times or ",".join(str(T0 + 1000 * n) for n in range(count))).encode())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,+Inf,3", [1, math.inf, 3]),
        ('1,"Infinity","-Infinity","NaN"', [1, math.inf, -math.inf, math.nan]),
        ("1,NaN,3", [1, math.nan, 3]),
        ("1,null,3", [1, math.nan, 3]),
        ("-0,0", [-0.0, 0.0]),
        ("9007199254740993,9223372036854775794,18446744073709551616", [9007199254740992.0, 2.0**63, 2.0**64]),
        ("5e-324,1.7976931348623157e+308", [5e-324, 1.7976931348623157e308]),
        ("1797693134862315000" + "0" * 290, [1.797693134862315e308]),
    ],
)
@pytest.mark.parametrize("repeats", [1, 700], ids=["few", "many"])
def test_values_that_json_has_no_word_for(tmp_path: Path, text: str, expected: list[float], repeats: int) -> None:
    read = read_bytes(tmp_path, line(",".join([text] * repeats)))
    assert repr(read.values()) == repr([[float(value) for value in expected] * repeats])
    assert read.log.loaded == 1


def test_oddities_are_counted_and_infinity_beside_nan_is_suspect(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, line("1,null,+Inf,2,NaN") + line("3,4"))
    assert read.log.oddities == {"nan_or_stale": (2, 1), "infinite": (1, 1), "nan_beside_infinity": (1, 1)}


def test_a_blank_of_dcgm_is_counted(tmp_path: Path) -> None:
    content = line("55,9223372036854775794").replace(b'"m"', b'"DCGM_FI_DEV_GPU_TEMP"')
    assert read_bytes(tmp_path, content).log.oddities == {"dcgm_blank": (1, 1)}


def test_escapes_empty_labels_and_a_label_that_looks_like_a_list(tmp_path: Path) -> None:
    labels = {"__name__": "m", "a": '"values":[1,2]', "b": "", "c": "x]y\n", "values": "1"}
    content = json.dumps({"metric": labels, "values": [1.5], "timestamps": [T0]}).encode()
    read = read_bytes(tmp_path, content.replace(b'"m"', b'"\\u003cm"'))
    assert read.labels() == [{"__name__": "<m", "a": '"values":[1,2]', "c": "x]y\n", "values": "1"}]
    assert (read.values(), read.times()) == ([[1.5]], [[T0]])


def test_any_order_of_keys_and_blanks(tmp_path: Path) -> None:
    content = b'{ "timestamps" : [ %d, %d ], "values": [1, 2] , "metric": {"__name__": "m"} }' % (T0, T0 + 1)
    read = read_bytes(tmp_path, content)
    assert (read.labels(), read.values(), read.times()) == ([{"__name__": "m"}], [[1, 2]], [[T0, T0 + 1]])


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (line("1,2", str(T0)), "2 values and 1 timestamp"),
        (line("1,abc"), "'abc' is no number"),
        (line("1,,2"), "'' is no number"),
        (b'{"metric":{"__name__":"m"},"values":[1,2', "breaks off"),
        (b'{"metric":{"__name__":"m"},"values":[1],"timestamps":[%d]' % T0, "no JSON"),
        (b'{"metric":{"x":"m"},"values":[1],"timestamps":[%d]}' % T0, "no metric name"),
        (b'{"metric":{"__name__":7},"values":[1],"timestamps":[%d]}' % T0, "no set of labels"),
        (line("1", "5"), "neither seconds nor milliseconds"),
        (b'{"metric":{"__name__":"m"},"values":[1],"values":[2]}', "no series of values"),
    ],
)
def test_damage_costs_its_own_line(tmp_path: Path, bad: bytes, reason: str) -> None:
    read = read_bytes(tmp_path, line("1") + bad.rstrip(b"\n") + b"\n" + line("3"))
    assert read.values() == [[1], [3]]
    assert [(reject.line, reason in reject.reason) for reject in read.log.rejects] == [(2, True)]


def test_seconds_are_told_by_size(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, line("1", "1709251200")).times() == [[1_709_251_200_000]]


@pytest.mark.parametrize("second", ["1709251200", "1709251200,1709251200000"])
def test_seconds_and_milliseconds_in_one_file_are_an_error(tmp_path: Path, second: str) -> None:
    content = line("1", "1709251200000") + line("1" + ",1" * second.count(","), second)
    with pytest.raises(SourceRefusedError, match="export:2: seconds and milliseconds are mixed"):
        read_bytes(tmp_path, content)


def test_equal_timestamps_are_one_array(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, line("1,2,3") + line("4,5,6"))
    assert read.batches[0].times_ms is read.batches[1].times_ms


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress], ids=["gz", "zst"])
def test_compressed_lines_read_alike(tmp_path: Path, pack: object) -> None:
    content = line("1,2,3") * 3
    assert read_bytes(tmp_path, pack(content)).values() == [[1, 2, 3]] * 3  # type: ignore[operator]


def test_invalid_utf8_is_kept_and_counted(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, line("1").replace(b"n1", b"n\xff"))
    assert read.labels() == [{"__name__": "m", "instance": "n\ufffd:9100"}]
    assert read.log.oddities == {"not_utf8": (1, 1)}


def test_a_line_that_fits_no_memory_costs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus_export, "SERIES_MAX_BYTES", 200)
    read = read_bytes(tmp_path, line("1") + line(",".join(["1"] * 300)) + line("2"))
    assert read.values() == [[1], [2]]
    assert [(reject.line, "export shorter windows" in reject.reason) for reject in read.log.rejects] == [(2, True)]
