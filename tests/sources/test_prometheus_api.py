"""Answers of the HTTP API: wrapped or bare, whole or cut, samples or a grid."""

import json
import math
from pathlib import Path

import pytest

from gangline.sources import prometheus_api
from gangline.sources.records import SourceRefusedError
from tests.sources.prometheus_files import read_bytes

T0 = 1_709_251_200


def item(values: list[list[object]], **labels: str) -> dict[str, object]:
    return {"metric": {"__name__": "m", **labels}, "values": values}


def answer(*items: dict[str, object], **more: object) -> dict[str, object]:
    return {"status": "success", "data": {"resultType": "matrix", "result": list(items)}, **more}


def points(*values: str, start: float = T0, step: float = 15) -> list[list[object]]:
    return [[start + step * place, value] for place, value in enumerate(values)]


TEXT_FORMS = {
    "compact": lambda document: json.dumps(document, separators=(",", ":")),
    "spaced": json.dumps,
    "indented": lambda document: json.dumps(document, indent=2),
}


@pytest.mark.parametrize("form", TEXT_FORMS)
@pytest.mark.parametrize("wrap", [answer, lambda *items: list(items), lambda *items: {"result": list(items)}])
def test_every_wrapping_gives_the_same_series(tmp_path: Path, form: str, wrap: object) -> None:
    document = wrap(item(points("1", "NaN", "+Inf"), a="]]}"), item([]), item([[T0 + 0.123, "-0"]]))  # type: ignore[operator]
    read = read_bytes(tmp_path, TEXT_FORMS[form](document).encode())
    assert repr(read.values()) == repr([[1.0, math.nan, math.inf], [], [-0.0]])
    assert read.times() == [[T0 * 1000, T0 * 1000 + 15000, T0 * 1000 + 30000], [], [T0 * 1000 + 123]]
    assert read.labels()[0] == {"__name__": "m", "a": "]]}"}


def test_answers_in_a_row_and_their_chunk_seams(tmp_path: Path) -> None:
    content = "\n".join(json.dumps(answer(item(points("1", "2")))) for _ in range(3))
    assert read_bytes(tmp_path, content.encode()).values() == [[1, 2]] * 3


@pytest.mark.parametrize("chunk_bytes", [1, 7, 64, 1000])
def test_chunks_of_any_size_cut_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int) -> None:
    monkeypatch.setattr(prometheus_api, "CHUNK_BYTES", chunk_bytes)
    document = answer(item(points("1", "2"), a='{"metric":{'), item(points("3")), warnings=["slow"])
    read = read_bytes(tmp_path, json.dumps(document).encode())
    assert (read.values(), read.log.oddities) == ([[1, 2], [3]], {"answer_with_warnings": (1, None)})


def test_instants_are_grid_points_and_a_scalar_is_left_out(tmp_path: Path) -> None:
    instant = {"metric": {"__name__": "m"}, "value": [T0, "7"]}
    document = {"status": "success", "data": {"resultType": "vector", "result": [instant]}}
    (batch,) = read_bytes(tmp_path, json.dumps(document).encode()).batches
    assert (batch.is_gridded, batch.values.tolist()) == (True, [7.0])
    scalar = b'{"status":"success","data":{"resultType":"scalar","result":[1709251200,"7"]}}'
    assert read_bytes(tmp_path, scalar).log.ignored == {"scalar or string result": 1}


def test_histograms_are_left_out_and_counted(tmp_path: Path) -> None:
    histogram = {"metric": {"__name__": "h"}, "histograms": [[T0, {"count": "1", "buckets": [[0, "1", "2", "3"]]}]]}
    read = read_bytes(tmp_path, json.dumps(answer(histogram, item(points("1")))).encode())
    assert (read.values(), read.log.ignored) == ([[1]], {"native histogram": 1})


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"status": "error", "errorType": "bad_data", "error": 'parse "x"'}, 'bad_data: parse "x"'),
        ({"data": [{"__name__": "up"}]}, "no series with samples"),
    ],
)
def test_errors_and_other_json_are_refused(tmp_path: Path, document: object, message: str) -> None:
    with pytest.raises(SourceRefusedError, match=message):
        read_bytes(tmp_path, json.dumps(document).encode())


def test_an_empty_answer_is_no_error(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, json.dumps(answer()).encode())
    assert (read.batches, read.log.records) == ([], 0)


@pytest.mark.parametrize(("cut", "whole"), [(3, 2), (4, 2), (5, 1), (20, 1), (40, 1)])
def test_an_answer_that_breaks_off_keeps_what_is_whole(tmp_path: Path, cut: int, whole: int) -> None:
    content = json.dumps(answer(item(points("1", "2")), item(points("3", "4"))), separators=(",", ":")).encode()
    read = read_bytes(tmp_path, content[:-cut])
    assert read.values() == [[1, 2], [3, 4]][:whole]
    assert read.log.rejected == 1


def test_a_bad_point_costs_its_series(tmp_path: Path) -> None:
    read = read_bytes(tmp_path, json.dumps(answer(item([[T0, "1"], [T0, "x"]]), item(points("3")))).encode())
    assert (read.values(), read.log.rejects[0].reason) == ([[3]], "'x' is no number; export it again")


LOOKED_UP = points("1", "5", "5", "5") + points("9", start=T0 + 150)
MOVING = points(*"1234567")


@pytest.mark.parametrize(
    ("series", "option", "is_gridded"),
    [
        ([LOOKED_UP, MOVING], None, True),
        ([MOVING, MOVING], None, False),  # on a grid, but nothing that a look-back would leave
        ([LOOKED_UP, points("1", "2", start=T0 + 0.4)], None, False),  # no common grid
        ([points("5", "5", "5"), points(*"123456789")], None, False),  # equal from its start: it may just be constant
        ([points("1", *["5"] * 30), points(*map(str, range(40)))], None, False),  # longer than Prometheus looks back
        ([LOOKED_UP, MOVING], "raw", False),
        ([MOVING], "grid", True),
    ],
)
def test_a_grid_is_told_from_samples(
    tmp_path: Path, series: list[object], option: str | None, is_gridded: bool
) -> None:
    content = json.dumps(answer(*(item(values) for values in series))).encode()  # type: ignore[arg-type]
    read = read_bytes(tmp_path, content, api_points=option)
    assert {batch.is_gridded for batch in read.batches} == {is_gridded}


def test_points_of_several_targets_on_one_grid_are_a_querys(tmp_path: Path) -> None:
    """Prometheus scrapes each target at an offset of its own, which a query's grid does not know."""
    targets = [item(MOVING, instance=name) for name in ("n1:9100", "n2:9100")]
    late = item(points(*"1234567", start=T0 + 3.217), instance="n2:9100")
    for series, is_gridded in ((targets, True), ([targets[0], late], False)):
        content = json.dumps(answer(*series)).encode()
        assert {batch.is_gridded for batch in read_bytes(tmp_path, content).batches} == {is_gridded}
        assert {batch.is_gridded for batch in read_bytes(tmp_path, content, api_points="raw").batches} == {False}


@pytest.mark.parametrize(
    ("content", "option", "is_gridded"),
    [
        ('up{instance="a"} => 1 @[1709251200]\nup{instance="b"} => 0 @[1709251200]\n', None, True),
        ('up{instance="a"} =>\n1 @[1709251200]\n1 @[1709251260]\n' * 2, None, False),
        ('m{instance="a"} =>\n1 @[1709251200]\n1 @[1709251260]\n' * 2, "grid", True),
    ],
)
def test_what_promtool_prints_is_told_alike(tmp_path: Path, content: str, option: str | None, is_gridded: bool) -> None:
    read = read_bytes(tmp_path, content.encode(), api_points=option)
    assert {batch.is_gridded for batch in read.batches} == {is_gridded}


def test_a_series_that_fits_no_memory_ends_the_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus_api, "SERIES_MAX_BYTES", 300)
    monkeypatch.setattr(prometheus_api, "CHUNK_BYTES", 50)
    content = json.dumps(answer(item(points("1")), item(points(*["1"] * 100)))).encode()
    read = read_bytes(tmp_path, content)
    assert (read.values(), read.log.rejected) == ([[1]], 1)
    assert "export shorter windows" in read.log.rejects[0].reason
