"""Curves of runs: which metric is which, stretches, what was done again, restarts, values that are no numbers."""

from collections.abc import Iterator
from datetime import timedelta

import duckdb
import polars as pl
import pytest

from gangline import run_curves
from tests.recovering import DAY, days
from tests.running import cluster_with_runs

WHOLE = days(1, 11)


@pytest.fixture(scope="module")
def story() -> Iterator[duckdb.DuckDBPyConnection]:
    with cluster_with_runs() as con:
        yield con


def metrics(*names: str) -> pl.DataFrame:
    return pl.DataFrame({"metric": list(names)}, schema={"metric": pl.String})


@pytest.mark.parametrize(
    ("what", "names", "expected"),
    [
        ("loss", ["loss"], "loss"),
        ("loss", ["val/loss", "train.loss"], "train.loss"),
        ("loss", ["lm loss validation", "lm loss"], "lm loss"),
        ("loss", ["moe_loss_total", "train/lm_loss"], "train/lm_loss"),
        ("loss", ["eval/loss", "aux_loss"], None),
        ("loss", ["glossary"], "glossary"),
        ("throughput", ["perf/tokens_per_sec", "lr"], "perf/tokens_per_sec"),
        ("throughput", ["tokens/s/gpu"], "tokens/s/gpu"),
        ("throughput", ["samples_per_second"], "samples_per_second"),
        ("throughput", ["tokens_seen"], None),
        ("step_time", ["iteration-time"], "iteration-time"),
        ("step_time", ["perf/step_s"], "perf/step_s"),
        ("step_time", ["step_time_ms"], "step_time_ms"),
        ("step_time", ["seconds_per_step"], "seconds_per_step"),
        ("step_time", ["global_step"], None),
        ("step_time", ["steps"], None),
        ("step_time", [], None),
    ],
)
def test_names_tell_which_metric_is_which(what: str, names: list[str], expected: str | None) -> None:
    assert run_curves.chosen(metrics(*names), what) == expected


def test_a_named_metric_is_taken_or_none() -> None:
    assert run_curves.chosen(metrics("a", "loss"), "loss", "a") == "a"
    assert run_curves.chosen(metrics("a", "loss"), "loss", "b") is None


def test_metrics_of_the_runs(story: duckdb.DuckDBPyConnection) -> None:
    # 15 rows, of which one is rework and one NaN
    assert run_curves.metrics(story, WHOLE).rows() == [("train/loss", 4, 13)]


def test_stretches_end_where_training_steps_back_and_where_rework_begins(story: duckdb.DuckDBPyConnection) -> None:
    steps = run_curves.over_steps(story, WHOLE, "train/loss").filter(effort="train")
    found = {key: (group["is_lost"][0], group["step"].to_list()) for key, group in steps.group_by("run_id", "stretch")}
    assert found == {
        ("ra", 100000): (False, [1, 10, 20]),
        ("ra", 100001): (True, [30, 40]),
        ("rb", 100000): (False, [21, 30]),
        ("rb", 100001): (True, [40]),
        ("rb", 100002): (False, [31, 40]),
    }


def test_over_time_keeps_least_and_greatest_of_a_stretch(story: duckdb.DuckDBPyConnection) -> None:
    first = run_curves.over_time(story, WHOLE, "train/loss").filter(run_id="ra").row(0, named=True)
    # 600 stretches of ten days are 24 minutes each: the rows at 10 and 20 min are one
    assert first["from_at"] == DAY + timedelta(minutes=10)
    assert (first["low"], first["middle"], first["high"], first["points"]) == pytest.approx((3.9, 3.95, 4.0, 2))


def test_progress_counts_steps_whose_value_is_no_number(story: duckdb.DuckDBPyConnection) -> None:
    progress = run_curves.progress(story, days(1, 2)).filter(run_id="rb")
    assert progress["step"].to_list()[-1] == 50
    assert run_curves.over_time(story, days(1, 2), "train/loss")["step"].max() == 40


def test_every_metric_is_known_whatever_the_window(story: duckdb.DuckDBPyConnection) -> None:
    assert run_curves.every_metric(story) == ["train/loss"]


def test_no_metric_gives_no_row(story: duckdb.DuckDBPyConnection) -> None:
    assert run_curves.over_time(story, WHOLE, None).is_empty()
    assert run_curves.over_steps(story, WHOLE, None).is_empty()
    assert run_curves.over_time(story, WHOLE, "'; drop table x --").is_empty()


def test_restarts_say_how_much_was_lost(story: duckdb.DuckDBPyConnection) -> None:
    assert run_curves.restarts(story, WHOLE).drop("at").rows() == [
        ("train", "rb", 21, 20, "new run"),
        ("train", "rb", 31, 10, "inside"),
    ]
    assert run_curves.restarts(story, days(2, 3)).is_empty()


def test_values_that_are_no_numbers_are_listed(story: duckdb.DuckDBPyConnection) -> None:
    (row,) = run_curves.not_numbers(story, WHOLE).drop("first_at").rows()
    assert row == ("train", "rb", "train/loss", "nan", 1, 50)


def test_nothing_gives_nothing() -> None:
    with cluster_with_runs(has_runs=False) as con:
        assert run_curves.metrics(con, WHOLE).is_empty()
        assert run_curves.progress(con, WHOLE).is_empty()
        assert run_curves.over_steps(con, WHOLE, "loss").is_empty()
        assert run_curves.restarts(con, WHOLE).is_empty()
        assert run_curves.not_numbers(con, WHOLE).is_empty()
