"""CSV from Grafana's panels: its shapes, delimiters, time and value forms."""

from pathlib import Path

import pytest

from gangline.sources.prometheus_grafana import is_grafana
from tests.sources.prometheus_files import Read, read_bytes, read_file

T0 = 1_709_251_200_000
BOM = b"\xef\xbb\xbf"


def points(read: Read) -> dict[str, list[tuple[int, float]]]:
    assert all(batch.is_gridded for batch in read.batches)
    return {
        ",".join(f"{name}={value}" for name, value in batch.labels.items()): list(
            zip(batch.times_ms.tolist(), batch.values.tolist(), strict=True)
        )
        for batch in read.batches
    }


def test_joined_by_time_with_blanks(tmp_path: Path) -> None:
    content = (
        BOM + b'"Time","up{job=""a, b"", node=""n1""}","{node=""n2""}","GPU 0 util"\r\n%d,1,,3.5\r\n%d,,2,\r\n\r\n'
    )
    read = read_bytes(tmp_path, content % (T0, T0 + 15_000))
    assert points(read) == {
        "__name__=up,job=a, b,node=n1": [(T0, 1.0)],
        '__name__={node="n2"}': [(T0 + 15_000, 2.0)],
        "__name__=GPU 0 util": [(T0, 3.5)],
    }
    assert read.log.rejected == 0


def test_rows_newest_first_and_semicolons_with_decimal_commas(tmp_path: Path) -> None:
    content = b'sep=;\r\n"Time";"Metric";"Value"\r\n%d;a;2,5\r\n%d;a;1\r\n' % (T0 + 1000, T0)
    assert points(read_bytes(tmp_path, content)) == {"__name__=a": [(T0 + 1000, 2.5), (T0, 1.0)]}


def test_tables_have_a_column_a_label(tmp_path: Path) -> None:
    content = b'"Time","__name__","gpu","Value #A"\n%d,util,0,97\n%d,util,1,12\n' % (T0, T0)
    assert points(read_bytes(tmp_path, content)) == {
        "__name__=util,gpu=0": [(T0, 97.0)],
        "__name__=util,gpu=1": [(T0, 12.0)],
    }


def test_frames_one_after_the_other(tmp_path: Path) -> None:
    content = b'"Time","a"\n%d,1\n\n"Time","b"\n%d,2\n' % (T0, T0)
    assert points(read_bytes(tmp_path, content)) == {"__name__=a": [(T0, 1.0)], "__name__=b": [(T0, 2.0)]}


def test_formatted_values_are_read_only_where_no_unit_can_have_scaled_them(tmp_path: Path) -> None:
    content = '"Time","a"\n2024-03-01 09:00:00,97%\n2024-03-01 09:00:15,655 W\n2024-03-01 09:00:30,1.98 GHz\n'
    read = read_bytes(tmp_path, content.encode(), time_zone="Asia/Seoul")
    assert points(read) == {"__name__=a": [(T0, 97.0), (T0 + 15_000, 655.0)]}
    assert [(reject.line, "Formatted data" in reject.reason) for reject in read.log.rejects] == [(4, True)]


@pytest.mark.parametrize("text", ["2024-03-10 02:30:00", "yesterday"])
def test_times_that_are_none(tmp_path: Path, text: str) -> None:
    read = read_bytes(tmp_path, f'"Time","a"\n{text},1\n{T0},2\n'.encode(), time_zone="America/New_York")
    assert points(read) == {"__name__=a": [(T0, 2.0)]}
    assert read.log.rejected == 1


def test_the_config_can_say_that_they_are_samples(tmp_path: Path) -> None:
    (batch,) = read_bytes(tmp_path, b'"Time","a"\n%d,1\n' % T0, api_points="raw").batches
    assert not batch.is_gridded


def test_what_begins_with_time_and_what_does_not() -> None:
    assert is_grafana(BOM + b'"Time","x"')
    assert is_grafana(b"sep=,\r\nTime,x")
    assert not is_grafana(b"m,1,1709251200000")
    assert not is_grafana(b'Time{a="b"} 1 1709251200000')


def test_the_real_shape(shared_data: Path) -> None:
    read = read_file(shared_data / "real/grafana/joined_by_time_raw.csv")
    assert read.log.rejected == 0
    assert {labels["__name__"] for labels in read.labels()} == {"DCGM_FI_DEV_GPU_UTIL"}
    range_query = read_file(shared_data / "real/prometheus/qr_gpu_util.json").samples()
    assert read.samples() == {key: range_query[key] for key in read.samples()}
