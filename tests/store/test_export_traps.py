"""Traps of Prometheus' and VictoriaMetrics' exports, from the file to what SQL and the matrices are told."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gangline.sources import prometheus
from gangline.sources.files import InputFile
from gangline.sources.records import ReadLog, SourceOptions
from gangline.store.matrix import Grid, read_increases, read_levels
from tests.store.stored import T0, Stored, stored


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Stored]:
    with stored(tmp_path) as store:
        yield store


def load(made: Stored, folder: Path, text: str, **options: str) -> ReadLog:
    path, log = folder / "export", ReadLog()
    path.write_text(text)
    made.load("f", *prometheus.read(InputFile(path), SourceOptions("prometheus", **options), log))  # type: ignore[arg-type]
    made.settle()
    return log


def line(values: str, times: list[int], **labels: str) -> str:
    names = json.dumps({"__name__": "m", "instance": "n1:9100"} | labels)
    return f'{{"metric":{names},"values":{values},"timestamps":{times}}}\n'


def samples(made: Stored) -> list[tuple[int, float]]:
    return [(time - T0, value) for _, time, value in made.in_sql()]


def series_of(made: Stored) -> dict[int, str]:
    return {series: "n1" for (series,) in made.con.execute("select series_id from meta.series_seen").fetchall()}


@pytest.mark.parametrize(
    "text",
    [
        line("[15,15]", [T0, T0]),
        line("[15]", [T0]) * 2,
        line("[15]", [T0], replica="a") + line("[15]", [T0], replica="b"),
    ],
)
def test_a_sample_that_is_exported_twice_counts_once(made: Stored, tmp_path: Path, text: str) -> None:
    load(made, tmp_path, text)
    assert samples(made) == [(0, 15.0)]


def test_of_replicas_that_differ_the_larger_value_stays_and_is_counted(made: Stored, tmp_path: Path) -> None:
    (tmp_path / "export").write_text(line("[15]", [T0], replica="a") + line("[17]", [T0], replica="b"))
    whole = InputFile(tmp_path / "export")
    written = made.load("f", *prometheus.read(whole, SourceOptions("prometheus"), ReadLog())).written
    made.settle()
    assert samples(made) == [(0, 17.0)]
    assert (written.repeats, written.conflicts) == (1, 1)


def test_a_staleness_marker_is_no_sample_and_nothing_is_carried_over_it(made: Stored, tmp_path: Path) -> None:
    log = load(made, tmp_path, line("[1,null,3]", [T0, T0 + 10, T0 + 20]))
    assert samples(made) == [(0, 1.0), (20, 3.0)]
    assert log.oddities == {"nan_or_stale": (1, 1)}
    levels = read_levels(made.store, "m", series_of(made), Grid(T0, 10, 3)).values[:, 0]
    np.testing.assert_array_equal(levels, [1.0, np.nan, 3.0])


def test_a_gap_of_two_steps_is_reported_and_counts_to_no_step(made: Stored, tmp_path: Path) -> None:
    load(made, tmp_path, line("[1,2,3,null,null,9,10]", [T0 + 10 * step for step in range(7)]))
    gaps = made.con.execute("select gap_count, longest_gap_ms from marts.series_days").fetchall()
    assert gaps == [(1, 30)]
    counted = read_increases(made.store, "m", series_of(made), Grid(T0, 10, 6)).values[:, 0]
    np.testing.assert_array_equal(counted, [1.0, 1.0, np.nan, np.nan, np.nan, 1.0])


def test_answers_asked_for_one_after_the_other_share_their_seam(made: Stored, tmp_path: Path) -> None:
    """55 days at 30 s are more points than one answer may have: the end of one is the start of the next."""

    def answer(first: int, last: int) -> str:
        points = [[(T0 + 30_000 * step) / 1000, f"{step}"] for step in range(first, last + 1)]
        result = [{"metric": {"__name__": "m", "instance": "n1:9100"}, "values": points}]
        return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})

    load(made, tmp_path, "\n".join([answer(0, 11_000), answer(11_000, 22_000)]), api_points="samples")
    assert samples(made) == [(30_000 * step, float(step)) for step in range(22_001)]
    counted = read_increases(made.store, "m", series_of(made), Grid(T0, 30_000 * 22_000, 1)).values
    assert counted.tolist() == [[22_000.0]]


def test_seconds_and_milliseconds_are_the_same_instants(made: Stored, tmp_path: Path) -> None:
    of_promtool = f'm{{instance="n1:9100"}} 4 {T0 / 1000:.3f}\n# EOF\n'
    load(made, tmp_path, of_promtool)
    assert samples(made) == [(0, 4.0)]
    assert made.con.execute("select first_at::varchar from meta.series_seen").fetchall() == [
        ("2024-03-01 00:00:00+00",)
    ]


@pytest.mark.parametrize(("text", "value"), [("NaN", None), ("+Inf", np.inf), ("-Inf", -np.inf), ("0.1", 0.1)])
def test_numbers_that_an_answer_writes_as_text(made: Stored, tmp_path: Path, text: str, value: float | None) -> None:
    result = [{"metric": {"__name__": "m"}, "values": [[1_709_251_230.123, text]]}]
    document = {"status": "success", "data": {"resultType": "matrix", "result": result}}
    load(made, tmp_path, json.dumps(document), api_points="samples")
    assert samples(made) == ([] if value is None else [(30_123, value)])
