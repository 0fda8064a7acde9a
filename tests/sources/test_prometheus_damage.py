"""Exports cut, spoilt and mixed up: a line costs itself, what is whole is kept, and what is refused says why."""

import contextlib
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from gangline.sources import prometheus
from gangline.sources.files import InputFile
from gangline.sources.records import ReadLog, SourceOptions, SourceRefusedError
from tests.sources.prometheus_files import read_bytes

T0 = 1_709_251_200_000
LABELS = '{"__name__":"m","instance":"n1:9100"}'
LINE = f'{{"metric":{LABELS},"values":[1,2],"timestamps":[{T0},{T0 + 1000}]}}\n'
SERIES = f'{{"metric":{LABELS},"values":[[{T0 // 1000},"1"],[{T0 // 1000 + 1},"2"]]}}'
ANSWER = f'{{"status":"success","data":{{"resultType":"matrix","result":[{SERIES}]}}}}'
ERROR = '{"status":"error","errorType":"execution","error":"too many\\npoints \\ud800"}'
DUMP = f'{{__name__="m", instance="n1:9100"}} 1 {T0}\n{{__name__="m", instance="n1:9100"}} 2 {T0 + 1000}\n'
FORMS = {
    "export": LINE * 3,
    "answer": ANSWER,
    "answers": f"{ANSWER}\n{ERROR}\n{ANSWER}",
    "bare": f"{SERIES}\n{SERIES}\n",
    "dump": DUMP,
    "exposition": f'# TYPE m gauge\nm{{a="b"}} 1 {T0}\nm{{a="c"}} 2 {T0}\n',
    "openmetrics": f'm{{a="b"}} 1 {T0 / 1000:.3f} # {{t="1"}} 0.5\nm{{a="b"}} 2 {T0 / 1000 + 1:.3f}\n# EOF\n',
    "promtool": f'm{{a="b"}} =>\n1 @[{T0 // 1000}]\n2 @[{T0 // 1000 + 15}]\n',
    "grafana": f'"Time","m{{a=""b""}}"\n{T0},1\n{T0 + 1000},2\n',
    "mountstats": (
        f"{T0 // 1000}\ndevice 10.0.0.1:/a mounted on /a with fstype nfs statvers=1.1\n\topts:\trw,addr=10.0.0.1\n"
        "\tage:\t5\n\txprt:\ttcp 0 0 1 0 0 4 4 0 4 0 2 0 0\n\t        NULL: 1 1 0 44 24 0 0 0 0\n"
    ),
}


def survives(folder: Path, content: bytes) -> None:
    """The balance is checked where the file is read."""
    with contextlib.suppress(SourceRefusedError):
        read_bytes(folder, content, "gpu001.txt")


@pytest.mark.parametrize("form", FORMS)
def test_cut_or_spoilt_anywhere(tmp_path: Path, form: str) -> None:
    choose, whole = random.Random(form), FORMS[form].encode()
    for length in range(1, len(whole), 1 + len(whole) // 40):
        survives(tmp_path, whole[:length])
        survives(tmp_path, whole[length:])
    for _ in range(30):
        spoilt = bytearray(whole)
        for _ in range(choose.randrange(1, 20)):
            spoilt[choose.randrange(len(spoilt))] = choose.choice(b'\x00\xff\r"{}[],:=\\\n\t#|0x')
        survives(tmp_path, bytes(spoilt))


@pytest.mark.parametrize("form", ["dump", "exposition", "openmetrics", "promtool"])
def test_a_text_that_is_cut_invents_no_sample(tmp_path: Path, form: str) -> None:
    """Digits that are missing make another time, or another value, of the last line."""
    whole = FORMS[form].encode()
    known = _points(tmp_path, whole)
    for length in range(len(whole)):
        assert _points(tmp_path, whole[:length]) <= known, whole[:length]


def test_a_csv_that_is_cut_invents_no_sample(tmp_path: Path) -> None:
    content = f"m,{T0},1\nm,{T0 + 1000},234".encode()
    read = read_bytes(tmp_path, content, format="__name__,__timestamp__:unix_ms,__value__")
    assert read.values() == [[1.0]]
    assert [(reject.line, reject.reason[:20]) for reject in read.log.rejects] == [(2, "the file breaks off ")]


def _points(folder: Path, content: bytes) -> set[tuple[int, float]]:
    try:
        batches = read_bytes(folder, content).batches
    except SourceRefusedError:
        return set()
    return {point for batch in batches for point in zip(batch.times_ms.tolist(), batch.values.tolist(), strict=True)}


def test_a_last_line_without_a_newline_is_read_where_it_is_whole(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, DUMP.rstrip("\n").encode())
    assert (read.values(), read.log.rejected) == ([[1.0, 2.0]], 0)


def test_a_line_without_a_time_among_others_costs_itself(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, f"m 1 {T0}\nm 7\nm 2 {T0 + 1000}\n".encode())
    assert read.values() == [[1.0, 2.0]]
    assert [reject.line for reject in read.log.rejects] == [2]


@pytest.mark.parametrize("first", ['0000],"x":1}\n', "\0" * 5000, "\x1a\x01 junk\n", "junk\n\nmore junk\n"])
@pytest.mark.parametrize("rest", [LINE * 2, DUMP])
def test_a_damaged_beginning_costs_itself(tmp_path: Path, first: str, rest: str) -> None:
    read = read_bytes(tmp_path, (first + rest).encode())
    assert sum(batch.values.size for batch in read.batches) == rest.count("\n") * (2 if rest != DUMP else 1)
    assert read.log.rejected == sum(bool(line.strip("\0")) for line in first.split("\n"))


@pytest.mark.parametrize("content", [f"{ERROR}\n{ANSWER}", f"{ANSWER}\n{ERROR}"])
def test_an_error_among_answers_costs_itself(tmp_path: Path, content: str) -> None:
    read = read_bytes(tmp_path, content.encode())
    assert read.values() == [[1.0, 2.0]]
    assert [reject.reason for reject in read.log.rejects] == [
        "the server answered with an error, execution: too many points ?; export it again"
    ]


def test_an_error_alone_refuses_the_file_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(SourceRefusedError, match=r"^export: the server .* execution: too many points \?; export it"):
        read_bytes(tmp_path, ERROR.encode())


def test_series_cut_out_of_an_answer_are_read_as_it_is(tmp_path: Path) -> None:
    """As `jq -c '.data.result[]'` leaves them."""
    read = read_bytes(tmp_path, f"{SERIES}\n{SERIES}\n".encode())
    assert (read.values(), read.log.rejected) == ([[1.0, 2.0]] * 2, 0)


def test_a_series_without_labels_is_told(tmp_path: Path) -> None:
    nameless = SERIES.replace(LABELS, "null")
    content = ANSWER.replace(SERIES, f"{nameless},{SERIES},{nameless},{SERIES}")
    read = read_bytes(tmp_path, content.encode())
    assert (read.values(), read.log.rejected) == ([[1.0, 2.0]] * 2, 2)


def test_histograms_beside_numbers_are_counted(tmp_path: Path) -> None:
    both = SERIES.replace("]]}", f']],"histograms":[[{T0 // 1000},{{"count":"1"}}]]}}')
    read = read_bytes(tmp_path, ANSWER.replace(SERIES, f"{both},{both}").encode())
    assert (read.values(), read.log.oddities) == ([[1.0, 2.0]] * 2, {"histograms_left_out": (2, 1)})


DEEP = '"a":' + "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (f'{{"__name__":"m",{DEEP}}}', "nested too deep"),
        ('{"__name__":"m","a":"1","a":"2"}', "it has 'a' twice"),
        ('{"__name__":"%s"}' % ("x" * 300), "its metric's name has more than 240 bytes"),
        ('{"__name__":"%s"}' % ("é" * 100), "its metric's name has more than 240 bytes"),
    ],
)
@pytest.mark.parametrize("form", [LINE, ANSWER])
def test_labels_that_no_store_can_hold(tmp_path: Path, form: str, labels: str, reason: str) -> None:
    read = read_bytes(tmp_path, form.replace(LABELS, labels).encode())
    assert (read.batches, reason in read.log.rejects[0].reason) == ([], True)


def test_a_label_twice_in_text_costs_its_line(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, f'm{{a="1",a="2"}} 1 {T0}\nm 2 {T0}\n'.encode())
    assert (read.values(), "it has 'a' twice" in read.log.rejects[0].reason) == ([[2.0]], True)


@pytest.mark.parametrize("form", [LINE, ANSWER])
def test_half_a_character_is_shown_as_none(tmp_path: Path, form: str) -> None:
    read = read_bytes(tmp_path, form.replace("n1", "n\\ud800\\ud83d\\ude00").encode())
    assert read.labels() == [{"__name__": "m", "instance": "n\ufffd😀:9100"}]
    assert read.log.oddities == {"not_utf8": (1, 1)}


@pytest.mark.parametrize(
    "time", ["-5000", "0", "1000", "5e9", "4102444800000", "99999999999999", "1e30", "null", "+Inf"]
)
def test_times_of_another_century_are_none(tmp_path: Path, time: str) -> None:
    read = read_bytes(tmp_path, (LINE.replace(f"{T0},", f"{time},") + LINE).encode())
    assert read.values() == [[1.0, 2.0]]
    assert "in the years 2000 to 2099" in read.log.rejects[0].reason


def test_rows_of_a_panel_that_are_no_csv_cost_themselves(tmp_path: Path) -> None:
    rows = [f"{T0},1", f'{T0},"{"x" * 200_000}"', f"{T0},1\r2", "\0\0", f"{T0 + 1000},2"]
    read = read_bytes(tmp_path, ('"Time","m"\n' + "\n".join(rows) + "\n").encode())
    assert read.values() == [[1.0, 2.0]]
    assert [(reject.line, reject.reason[:16]) for reject in read.log.rejects] == [
        (3, "no row of CSV (f"),
        (4, "no row of CSV (n"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<!DOCTYPE html><p>502, Bad Gateway", r"export:1: no form of an export begins with '<!DOCTYPE"),
        ("curl: (7) Failed to connect\n", r"export:1: no form of an export begins with 'curl: \(7\)"),
        ("null", "export:1: no form of an export begins with 'null'; export it again"),
        ("m,1,2\n", "a CSV without a header; set format"),
    ],
)
def test_what_a_command_wrote_instead_of_an_export_is_shown(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(SourceRefusedError, match=message):
        read_bytes(tmp_path, content.encode())


def lines_of_seconds() -> Iterator[str]:
    yield f"m 1 {T0}"
    yield f"other 2 {T0}"
    yield f"m 3 {T0 // 1000}"


def test_the_line_that_mixes_seconds_and_milliseconds_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceRefusedError, match="export:3: seconds and milliseconds are mixed"):
        read_bytes(tmp_path, "\n".join([*lines_of_seconds(), ""]).encode())


def test_an_answer_that_mixes_units_keeps_what_came_before(tmp_path: Path) -> None:
    (tmp_path / "export").write_text(ANSWER.replace(SERIES, f"{SERIES},{SERIES.replace(str(T0 // 1000), str(T0))}"))
    batches, log = [], ReadLog()
    with pytest.raises(SourceRefusedError, match="export:2: seconds and milliseconds are mixed"):
        batches.extend(prometheus.read(InputFile(tmp_path / "export"), SourceOptions("prometheus"), log))
    assert (len(batches), log.loaded) == (1, 1)


def test_json_is_as_python_reads_it(tmp_path: Path) -> None:
    labels = {"__name__": "m", "a": "tab\there", "b": "\u2028", "c": '"\\'}
    content = LINE.replace(LABELS, json.dumps(labels)).replace("\\t", "\t")
    assert read_bytes(tmp_path, content.encode()).labels() == [labels]
