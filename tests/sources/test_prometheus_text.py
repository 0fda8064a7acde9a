"""Lines of samples: exposition, federation, OpenMetrics, promtool's dumps and queries, CSV."""

import math
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gangline.sources import prometheus_lines
from gangline.sources.records import SourceRefusedError
from tests.sources.prometheus_files import read_bytes

T0 = 1_709_251_200_000
SCRAPE = rb"""# HELP m Some help
# TYPE m counter
m{v="say \"hi\"",w=""} 1 1709251200000
m{v="line1\nline2", } 2 1709251200000
m{v="back\\slash\\n"} +Inf 1709251200000
m{v="a,b=c{d} 7"} 4 1709251200000
m{v="tab	here"} -0 1709251200000

# just a comment
h_bucket{le="+Inf"} 6 1709251200000
# TYPE h histogram
h_count 7 1709251200000
"""


def test_exposition_escapes_kinds_and_values(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, SCRAPE.replace(b"tab", b"cr\rtab"))
    assert [labels.get("v") for labels in read.labels()] == [
        'say "hi"', "line1\nline2", "back\\slash\\n", "a,b=c{d} 7", "cr\rtab\there", None, None,
    ]  # fmt: skip
    assert repr([values for (values,) in read.values()]) == repr([1.0, 2.0, math.inf, 4.0, -0.0, 6.0, 7.0])
    assert [batch.metric_kind for batch in read.batches] == ["counter"] * 7
    assert "w" not in read.labels()[0]


def test_a_dump_has_its_name_anywhere_and_go_escapes(tmp_path: Path) -> None:
    content = (
        rb'{Hostname="n1", __name__="m", v="t\tr\r\u00fc\x41\\t"} 9.007199254740992e+15 1709251200000' + b"\n"
        rb'{Hostname="n1", __name__="m", v="t\tr\r\u00fc\x41\\t"} NaN 1709251230000' + b"\n"
    )
    read = read_bytes(tmp_path, content)
    assert read.labels() == [{"Hostname": "n1", "__name__": "m", "v": "t\tr\rüA\\t"}]
    assert repr(read.values()) == repr([[9007199254740992.0, math.nan]])
    assert read.times() == [[T0, T0 + 30_000]]


def test_openmetrics_in_seconds_with_an_exemplar_and_a_quoted_name(tmp_path: Path) -> None:
    content = b'm{a="b"} 1 1709251200.123 # {trace="}"} 0.5 1709251200\n{"m.x", "l.y"="v"} 2 1709251200\n# EOF\n'
    read = read_bytes(tmp_path, content)
    assert read.labels() == [{"__name__": "m", "a": "b"}, {"__name__": "m.x", "l.y": "v"}]
    assert (read.times(), read.log.oddities) == ([[T0 + 123], [T0]], {"exemplar_left_out": (1, 1)})


def test_promtool_queries(tmp_path: Path) -> None:
    content = b'up{job="a"} =>\n1 @[1709251200]\n0 @[1709251215.5]\nup{job="b"} => 3 @[1709251200]\n'
    read = read_bytes(tmp_path, content)
    assert (read.values(), read.times()) == ([[1, 0], [3]], [[T0, T0 + 15_500], [T0]])


def test_a_scrape_without_times_needs_its_instant(tmp_path: Path) -> None:
    with pytest.raises(SourceRefusedError, match="export:1: the line holds no time; set exported_at"):
        read_bytes(tmp_path, b"up 1\n")
    read = read_bytes(tmp_path, b"up 1\nm 2 1709251200000\n", exported_at=datetime(2024, 3, 1, 0, 0, 1, tzinfo=UTC))
    assert read.times() == [[T0 + 1000], [T0]]


def test_bad_lines_cost_themselves(tmp_path: Path) -> None:
    content = b'm{a="b} 1 1709251200000\nm 1 1709251200000\nm x 1709251230000\nm 3 1709251260000\nm 1 2 3 4\n'
    read = read_bytes(tmp_path, content)
    assert [batch.values.tolist() for batch in read.batches] == [[1], [3]]
    assert sorted(reject.line or 0 for reject in read.log.rejects) == [1, 3, 5]


def test_many_lines_are_held_a_bounded_number_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus_lines, "SAMPLES_HELD", 10)
    read = read_bytes(tmp_path, b"".join(b"m %d %d\n" % (n, T0 + n) for n in range(25)))
    assert [batch.values.size for batch in read.batches] == [10, 10, 5]


CSV = (
    b'm,"say \\"hi\\"",,1.5,1709251200000\n'
    b'm,"a,b",x,+Inf,1709251200000\n'
    b'm,"line1\\nline2",cr\rtab\t,NaN,1709251200000\n'
    b"m,too,few\n"
)


def test_csv_of_victoriametrics(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, CSV, format="__name__,v,w,__value__,__timestamp__:unix_ms")
    assert read.labels() == [
        {"__name__": "m", "v": 'say "hi"'},
        {"__name__": "m", "v": "a,b", "w": "x"},
        {"__name__": "m", "v": "line1\nline2", "w": "cr\rtab\t"},
    ]
    assert repr(read.values()) == repr([[1.5], [math.inf], [math.nan]])
    assert [(reject.line, reject.text) for reject in read.log.rejects] == [(4, "m,too,few")]


@pytest.mark.parametrize(
    ("time_format", "text", "expected"),
    [
        ("unix_s", "1709251200", T0),
        ("rfc3339", "2024-03-01T09:00:00+09:00", T0),
        ("unix_ns", "1709251200000000000", T0),
    ],
)
def test_csv_times(tmp_path: Path, time_format: str, text: str, expected: int) -> None:
    read = read_bytes(tmp_path, f"m,1,{text}\n".encode(), format=f"__name__,__value__,__timestamp__:{time_format}")
    assert read.times() == [[expected]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (None, "a CSV without a header; set format"),
        ("__name__,__value__", "no __timestamp__"),
        ("__name__,__value__,__timestamp__:custom:2006", "no zone; export with __timestamp__:unix_ms"),
    ],
)
def test_csv_needs_its_columns(tmp_path: Path, columns: str | None, message: str) -> None:
    with pytest.raises(SourceRefusedError, match=message):
        read_bytes(tmp_path, b"m,1,1709251200000\n", format=columns)


def test_an_endless_line_is_one_reject(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, b"m 1 1709251200000\n" + b"x" * (3 << 20) + b"\nm 2 1709251230000\n")
    assert (read.values(), [reject.line for reject in read.log.rejects]) == ([[1, 2]], [2])
