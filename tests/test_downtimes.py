"""Downtime headlines: a story counted by hand, few values said as they are, censoring, and reasons."""

from collections.abc import Iterator, Sequence

import duckdb
import polars as pl
import pytest

from gangline import downtimes
from gangline.exclusions import NO_SESSIONS
from tests.recovering import EXPORT, cluster_of, days, launch

IDS = (
    "episodes, automatic_n, automatic_median_h, manual_n, manual_median_h, manual_min_h, manual_max_h, prequeued_n, "
    "first_manual_n, median_ratio, censored_n, p_value, km_median_h"
)
STORY = (
    launch("a", "kim", 0, 120),
    launch("b", "kim", 130, 120),  # a retry brings it back after 10 min
    launch("c", "kim", 260, 30),  # a retry in vain
    launch("d", "kim", 430, 100),  # a person does, 3 h after the end at minute 250
    launch("e", "kim", 590, 70, "completed"),  # a person does, after an hour
    launch("f", "lee", 700, 70, "killed"),  # a person stopped it
    launch("g", "lee", 775, 70, wait=60),  # it was in the queue: 5 min
    # nothing has brought it back when the export is made
)
SCHEMA = {
    "recovery_kind": pl.String,
    "to_session_h": pl.Float64,
    "downtime_h": pl.Float64,
    "is_censored": pl.Boolean,
    "observed_h": pl.Float64,
    "first_response": pl.String,
    "end_class": pl.String,
    "local_weekday": pl.Int32,
    "local_hour": pl.Int32,
}


def episodes_of(
    automatic: Sequence[float] = (), manual: Sequence[float] = (), open_h: Sequence[float] = ()
) -> pl.DataFrame:
    """Closed episodes of each kind, and open ones watched so long."""
    rows = [("automatic", hours, None, False, 999.0, "automatic", "failure", 1, 9) for hours in automatic]
    rows += [("manual", hours, None, False, 999.0, "automatic", "user", 1, 9) for hours in manual]
    rows += [(None, None, None, True, hours, None, "failure", 7, 23) for hours in open_h]
    return downtimes.with_hours(pl.DataFrame(rows, schema=SCHEMA, orient="row"))


@pytest.fixture(scope="module")
def story() -> Iterator[duckdb.DuckDBPyConnection]:
    with cluster_of(STORY) as con:
        yield con


def test_every_figure_of_the_story(story: duckdb.DuckDBPyConnection) -> None:
    figures = downtimes.figures(story, days(1, 10))
    assert sorted(name.removeprefix("downtimes.") for name in figures) == sorted(IDS.split(", "))
    values = {name.removeprefix("downtimes."): estimate.value for name, estimate in figures.items()}
    assert values == pytest.approx(
        {
            "episodes": 5,
            "automatic_n": 1,
            "automatic_median_h": 1 / 6,
            "manual_n": 2,
            "manual_median_h": 2.0,
            "manual_min_h": 1.0,
            "manual_max_h": 3.0,
            "prequeued_n": 1,
            "first_manual_n": 1,
            "median_ratio": 12.0,
            "censored_n": 1,
            "p_value": 2 / 3,
            "km_median_h": 1.0,
        }
    )
    assert downtimes.case(figures) == "compared"


def test_what_is_still_down_was_watched_up_to_the_export(story: duckdb.DuckDBPyConnection) -> None:
    last = downtimes.by_episode(story, days(1, 11)).row(-1, named=True)
    assert (last["is_censored"], last["failed_session_id"]) == (True, "g")
    assert last["observed_h"] == pytest.approx((EXPORT - 845) / 60)


def test_both_counts_stand_beside_each_other(story: duckdb.DuckDBPyConnection) -> None:
    table = downtimes.by_end(downtimes.with_hours(downtimes.by_episode(story, days(1, 11))))
    assert table.select("ends", "episodes").rows() == [
        ("all ends neither completed nor planned", 5),
        ("failures only", 4),
    ]


def test_an_export_without_sessions_gives_no_figure() -> None:
    with cluster_of([]) as con:
        figures = downtimes.figures(con, days(1, 11))
    assert {estimate.reason for estimate in figures.values()} == {NO_SESSIONS}
    assert downtimes.case(figures) == "no_source"


def test_a_window_without_a_downtime(story: duckdb.DuckDBPyConnection) -> None:
    figures = downtimes.figures(story, days(5, 6))
    assert downtimes.case(figures) == "none"
    assert figures["downtimes.episodes"].value == figures["downtimes.censored_n"].value == 0
    missing = {estimate.reason for estimate in figures.values() if estimate.value is None}
    assert missing == {downtimes.NO_EPISODE}


def test_checks_of_the_design() -> None:
    few = downtimes.by_kind(episodes_of(automatic=[5.0, 1.0, 2.2, 1.6])).row(0, named=True)
    assert few["median_h"] == pytest.approx(1.9)
    assert (few["low_h"], few["high_h"], few["coverage_ratio"]) == (1.0, 5.0, 0.875)
    assert few["values"] == "1.00, 1.60, 2.20, 5.00"
    many = downtimes.by_kind(episodes_of(manual=range(1, 18))).row(0, named=True)
    assert (many["low_h"], many["high_h"]) == (5.0, 13.0)
    assert many["coverage_ratio"] == pytest.approx(0.951, abs=5e-4)
    assert many["values"] is None
    mixed = episodes_of(automatic=[0.5, 1.0], manual=[3.0, 6.0], open_h=[2.0, 4.0])
    assert downtimes.survival(mixed).median("h").value == 3.0


def test_the_published_split_gives_the_published_ratio() -> None:
    # 504-GPU report: automatic n = 4, median 1.9 h; manual n = 17, median 3.3 h; "1.8 times" needs 3.33 to 3.34
    episodes = episodes_of([0.5, 0.55, 3.25, 9.65], [*[0.0] * 4, *[3.335] * 9, *[53.0] * 4])
    automatic, manual = downtimes.by_kind(episodes)["median_h"].to_list()
    assert automatic == pytest.approx(1.9)
    assert manual / automatic == pytest.approx(1.755, abs=5e-4)


def test_hours_go_to_training_where_nine_in_ten_know_it() -> None:
    closed = episodes_of(manual=range(1, 11)).with_columns(downtime_h=pl.col("to_session_h") + 1)
    first = pl.int_range(pl.len()) < pl.lit(1)
    nine = closed.with_columns(downtime_h=pl.when(~first).then("downtime_h"))
    eight = closed.with_columns(downtime_h=pl.when(pl.int_range(pl.len()) > 1).then("downtime_h"))
    assert [downtimes.measured_to(rows) for rows in (closed, nine, eight)] == [
        "downtime_h",
        "downtime_h",
        "to_session_h",
    ]
    assert downtimes.hours_of(downtimes.with_hours(nine), "manual") == [float(hours) for hours in range(3, 12)]
    assert downtimes.measured_to(episodes_of(open_h=[3.0])) == "to_session_h"


def test_figures_say_until_when_they_are_measured(story: duckdb.DuckDBPyConnection) -> None:
    figures = downtimes.figures(story, days(1, 11))
    hours = ("automatic_median_h", "manual_median_h", "manual_min_h", "manual_max_h", "km_median_h")
    for name in hours:
        assert str(figures[f"downtimes.{name}"].method).endswith("; until the session started that trained again")


def test_comparison_of_the_two_kinds() -> None:
    compared = downtimes.comparison(episodes_of([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], open_h=[50.0]))
    assert compared["p"].value == pytest.approx(0.1)
    assert compared["shift"].value == -3.0
    assert compared["chance_less"].value == 1.0


def test_one_kind_alone_is_no_comparison() -> None:
    with cluster_of(STORY[:2]) as con:
        figures = downtimes.figures(con, days(1, 2))
    assert downtimes.case(figures) == "one_kind"
    assert figures["downtimes.manual_median_h"].reason == "no person ended a downtime"
    assert figures["downtimes.p_value"].reason == "no person ended a downtime"


def test_hours_of_the_week() -> None:
    rows = downtimes.by_hour(episodes_of([1.0], [3.0], [7.0]))
    assert rows.rows() == [(1, 9, 2, 1, 2.0), (7, 23, 1, 1, None)]
