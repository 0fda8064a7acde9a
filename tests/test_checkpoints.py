"""Checkpoint headlines: a story counted by hand, one figure a stage, and a reason wherever there is no value."""

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from gangline import checkpoints, overheads, warehouse
from gangline.report import catalogue
from gangline.report.opening import export_window
from gangline.windows import Window
from tests.checkpointing import COVERED, NO_NODES, TOO_COARSE, cluster_with_checkpoints, covered, fill
from tests.fleets import ingested
from tests.recovering import at, days

WHOLE = days(1, 10)
BY_STAGE = (
    "interval_median_h",
    "stall_median_s",
    "young_optimum_min",
    "actual_over_optimum",
    "overhead_actual",
    "overhead_optimum",
)
NO_THRESHOLD = "no [storage] max_write_gb_per_s"


@pytest.fixture
def story() -> Iterator[duckdb.DuckDBPyConnection]:
    with cluster_with_checkpoints() as con:
        yield con


def test_every_figure_of_the_story(story: duckdb.DuckDBPyConnection) -> None:
    figures = checkpoints.figures(story, WHOLE)
    values = {name.removeprefix("checkpoints."): estimate.value for name, estimate in figures.items()}
    assert {name: value for name, value in values.items() if not name.endswith(".32K")} == pytest.approx(
        {
            "saves": 10,
            "interval_median_h.4K": 100 / 60,
            "stall_median_s.4K": 30,
            "young_optimum_min.4K": 25,  # sqrt(2 x 30 s x 37,500 s)
            "actual_over_optimum.4K": 4,
            "overhead_actual.4K": 30 / 6000 + 6000 / 75_000,
            "overhead_optimum.4K": 0.04,
            "runs": 3,
            "abnormal_ends": 2,
            "failure_ends": 2,
            "training_h": 1250 / 60,
            "mtbf_h": 1250 / 120,
            "lost_mean_h": 2.75,
            "lost_total_h": 5.5,
            "loads": 3,
            "load_median_min": 12,
            "load_mean_min": 14,
            "load_read_share_of_max": 0.2,
            "load_peak_share_of_max": 0.4,
            "save_write_share_of_max": 0.74,
        }
    )
    assert figures["checkpoints.interval_median_h.32K"].value == 2.5
    assert {figures[f"checkpoints.{name}.32K"].reason for name in BY_STAGE[1:]} == {TOO_COARSE}


def test_every_figure_has_its_card(story: duckdb.DuckDBPyConnection) -> None:
    figures = checkpoints.figures(story, WHOLE)
    known = {name for name in catalogue.CATALOGUE if name.startswith("checkpoints.")}
    assert {name if name in known else name.rpartition(".")[0] for name in figures} == known
    assert {figure.label for figure in catalogue.headlines(figures)} >= {"Interval between saves, 4K", "Saves"}


def test_a_stage_may_have_dots_in_its_name(story: duckdb.DuckDBPyConnection) -> None:
    story.execute("update marts.checkpoint_saves set stage = 'v1.5 {x}' where stage = '4K'")
    labels = {figure.label for figure in catalogue.headlines(checkpoints.figures(story, WHOLE))}
    assert "Stall of a save, v1.5 {x}" in labels


def test_a_window_without_saves(story: duckdb.DuckDBPyConnection) -> None:
    found = checkpoints.measured(story, days(5, 6))
    figures = checkpoints.headlines(found)
    assert checkpoints.case(found) == "none"
    assert figures["checkpoints.saves"].value == 0
    assert figures["checkpoints.save_write_share_of_max"].reason == checkpoints.NO_SAVES
    assert figures["checkpoints.stall_median_s.4K"].reason == "no save of the stage starts in the window"
    assert checkpoints.absence(story, Window.between("2025-01-01", "2025-01-08", "UTC")) == checkpoints.NO_GANG


def test_a_rule_that_is_missing_is_the_reason_of_everything(story: duckdb.DuckDBPyConnection) -> None:
    fill(story, "checkpoint_saves", [])
    fill(story, "checkpoint_loads", [])
    fill(story, "checkpoint_sessions", [covered("a", 0, 600, NO_THRESHOLD)])
    fill(story, "checkpoint_rules", [{"save_reason": NO_THRESHOLD, "load_reason": "no metric"}])
    found = checkpoints.measured(story, WHOLE)
    figures = checkpoints.headlines(found)
    assert checkpoints.case(found) == "unseen"
    saves = ("saves", "save_write_share_of_max", *(f"{name}.no_stage" for name in BY_STAGE))
    assert {figures[f"checkpoints.{name}"].reason for name in saves} == {NO_THRESHOLD}
    assert figures["checkpoints.load_mean_min"].reason == figures["checkpoints.loads"].reason == "no metric"
    assert figures["checkpoints.lost_total_h"].value == pytest.approx(5.5)


def test_no_session_that_is_watched_is_the_commonest_reason(story: duckdb.DuckDBPyConnection) -> None:
    rows = [covered("a", 0, 600, "odd"), covered("b", 610, 1000, NO_NODES), covered("c", 1010, 1030, NO_NODES)]
    fill(story, "checkpoint_sessions", rows)
    assert checkpoints.absence(story, WHOLE) == NO_NODES
    assert checkpoints.load_absence(story, WHOLE) == NO_NODES
    fill(story, "checkpoint_sessions", [*rows, *COVERED])
    assert checkpoints.absence(story, WHOLE) is None


def test_sessions_that_tell_nothing_are_named(story: duckdb.DuckDBPyConnection) -> None:
    watched = checkpoints.coverage(story, WHOLE)
    assert watched["session_id"].to_list() == ["c", "a", "b", "d"]
    assert checkpoints.silent(watched).select("session_id", "telemetry_reason").rows() == [("c", NO_NODES)]
    assert checkpoints.twice_told(watched).is_empty()
    story.execute("update marts.checkpoint_sessions set save_evidence = 'logged', telemetry_saves = 3 where saves = 2")
    both = checkpoints.twice_told(checkpoints.coverage(story, WHOLE))
    assert both.select("session_id", "saves", "telemetry_saves").rows() == [("d", 2, 3)]


def test_saves_that_only_runs_tell_have_no_write_rate(story: duckdb.DuckDBPyConnection) -> None:
    story.execute("update marts.checkpoint_saves set mean_bytes_per_s = null")
    figure = checkpoints.figures(story, WHOLE)["checkpoints.save_write_share_of_max"]
    assert figure.reason == "no save is seen in the telemetry"


def test_the_rate_of_ends_is_compared_with_the_window_before(story: duckdb.DuckDBPyConnection) -> None:
    half = Window.between(at(720), at(1440), "UTC")
    assert checkpoints.changes(story, half)["checkpoints.mtbf_h"] == pytest.approx(1.0)
    assert checkpoints.changes(story, WHOLE) == {}


def test_cadence_alone_says_why_there_is_no_optimum(story: duckdb.DuckDBPyConnection) -> None:
    story.execute("update marts.checkpoint_saves set stall_s = null, stall_reason = 'unknown stall'")
    found = checkpoints.measured(story, WHOLE)
    assert checkpoints.case(found) == "cadence"
    assert checkpoints.best_known(found).reason == "unknown stall"


def test_an_optimum_without_an_interval_is_no_case_of_its_own(story: duckdb.DuckDBPyConnection) -> None:
    story.execute("update marts.checkpoint_saves set interval_s = null")
    found = checkpoints.measured(story, WHOLE)
    assert found.stages["4K"].young_optimum_min.value
    assert (checkpoints.case(found), overheads.by_stage(found).height) == ("cadence", 0)


def test_telemetry_of_another_time_tells_nothing_of_a_window(story: duckdb.DuckDBPyConnection) -> None:
    fill(story, "checkpoint_sessions", [covered("d", 1100, 12960) | {"known_until": 2000}])
    assert checkpoints.absence(story, days(2, 3)) is None
    assert checkpoints.absence(story, days(5, 6)) == "no telemetry of its nodes from within the window"
    watched = checkpoints.coverage(story, days(5, 6))
    assert checkpoints.silent(watched)["telemetry_reason"].to_list() == [checkpoints.absence(story, days(5, 6))]


def test_costs_of_the_story(story: duckdb.DuckDBPyConnection) -> None:
    found = checkpoints.measured(story, WHOLE)
    costs = overheads.by_stage(found)
    assert costs.select("stage", "interval_min", "young_min", "over_optimum").rows() == [
        ("4K", pytest.approx(100), pytest.approx(25), pytest.approx(4)),
        ("32K", 150, None, None),
    ]
    assert costs["daly_min"][0] == pytest.approx(25 * (1 + (30 / 75_000) ** 0.5 / 3 + 30 / 75_000 / 9) - 0.5)
    assert costs["reason"].to_list() == [None, TOO_COARSE]
    assert overheads.furthest(costs)["stage"] == "4K"
    assert overheads.others(costs) == []


def test_the_curve_is_lowest_at_the_optimum_and_holds_both_marks(story: duckdb.DuckDBPyConnection) -> None:
    found = checkpoints.measured(story, WHOLE)
    curve, marks = overheads.curve(found), overheads.marks(found)
    lowest = curve.sort("overhead_share").row(0, named=True)
    assert lowest["interval_h"] == pytest.approx(25 / 60)
    assert lowest["overhead_share"] == pytest.approx(0.04)
    assert (curve["low_share"] < curve["overhead_share"]).all()
    assert (curve["high_share"] > curve["overhead_share"]).all()
    assert marks.select("place", "interval_h").rows() == [
        ("now", pytest.approx(100 / 60)),
        ("optimum", pytest.approx(25 / 60)),
    ]
    assert curve["interval_h"].min() < 25 / 60 / 7 < 100 / 60 < curve["interval_h"].max()  # type: ignore[operator]


def test_downtime_stands_on_the_same_axis(story: duckdb.DuckDBPyConnection) -> None:
    found = checkpoints.measured(story, WHOLE)
    rows = overheads.by_downtime(story, WHOLE, found.mtbf).rows(named=True)
    # a retry restores it after 50 min (a failed attempt between), a person after 130 min
    for row in rows:
        assert row["lost_share"] == pytest.approx(row["downtime_h"] / (1250 / 120 + row["downtime_h"]))
        assert row["low_share"] < row["lost_share"] < row["high_share"]
    assert len({row["downtime_h"] for row in rows}) == len(rows) > 0
    assert overheads.by_downtime(
        story, WHOLE, checkpoints.best_known(checkpoints.measured(story, days(5, 6)))
    ).is_empty()


def test_nothing_to_cost_is_empty(story: duckdb.DuckDBPyConnection) -> None:
    found = checkpoints.measured(story, days(5, 6))
    assert overheads.by_stage(found).is_empty()
    assert overheads.curve(found).is_empty()
    assert overheads.marks(found).is_empty()


def test_figures_of_the_shared_telemetry_are_those_that_were_drawn(shared_data: Path) -> None:
    source = shared_data / "truth" / "telemetry"
    truth = json.loads((source / "truth.json").read_text("utf-8"))["figures"]
    config = ingested(source / "vm", "vesta")
    con = warehouse.connect(config)
    figures = checkpoints.figures(con, export_window(con, "UTC"))
    con.close()
    told = {name: value for name, value in truth.items() if name.startswith("checkpoints.")}
    assert {name: figures[name].value for name in told} == pytest.approx(told)
    assert told
