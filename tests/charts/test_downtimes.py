"""Pictures of downtimes: dots, medians, incidence and the week; nothing where there is nothing."""

import polars as pl
import pytest

from gangline import downtimes, recoveries
from gangline.charts import downtimes as charts
from gangline.charts import picture
from tests.test_downtimes import episodes_of


def with_ids(episodes: pl.DataFrame) -> pl.DataFrame:
    return episodes.with_columns(failed_session_id=pl.format("s{}", pl.int_range(pl.len())))


def test_a_dot_an_episode_and_an_open_one_at_the_time_it_was_watched() -> None:
    rows = charts.dots(with_ids(episodes_of(automatic=[0.0], manual=[3.0, 5.0], open_h=[7.0])))
    assert rows.select("group", "shown_h").rows() == [
        ("by a retry", charts.LEAST_H),
        ("by a person", 3.0),
        ("by a person", 5.0),
        ("still down", 7.0),
    ]
    assert rows["lane"].to_list() == [0, 0, 1, 0]


def test_many_are_thinned_evenly_and_keep_their_ends() -> None:
    rows = charts.dots(with_ids(episodes_of(manual=[float(hours) for hours in range(1, 1001)])))
    assert rows.height <= charts.MOST_DOTS + 1
    assert (rows["shown_h"].min(), rows["shown_h"].max()) == (1.0, 1000.0)


def test_an_episode_without_a_length_has_no_dot() -> None:
    closed = episodes_of(manual=[float(hours) for hours in range(1, 21)]).with_columns(
        downtime_h=pl.when(pl.int_range(pl.len()) > 0).then(pl.col("to_session_h"))
    )
    assert charts.dots(with_ids(downtimes.with_hours(closed))).height == 19


def test_the_strip_names_its_groups_and_draws_each_median() -> None:
    episodes = with_ids(episodes_of(automatic=[0.2, 0.5], manual=[3.0, 5.0, 6.0]))
    chart = charts.strip(charts.dots(episodes), downtimes.by_kind(episodes))
    svg = picture.svg(chart)
    assert all(f">{name}<" in svg for name in ("by a retry", "by a person", "failure", "user"))
    medians = next(data for data in picture.specification(chart)["datasets"].values() if "median_h" in data[0])
    assert [row["median_h"] for row in medians] == pytest.approx([0.35, 5.0])


def test_incidence_has_a_line_a_kind() -> None:
    steps = recoveries.steps(recoveries.curves(episodes_of(automatic=[0.2], manual=[3.0], open_h=[2.0])))
    svg = picture.svg(charts.incidence(steps))
    assert ">by a retry<" in svg
    assert "from the queue" not in svg


def test_the_week_has_its_counts_in_its_cells() -> None:
    rows = downtimes.by_hour(episodes_of(automatic=[0.2], manual=[3.0] * 11))
    svg = picture.svg(charts.week(rows, "Asia/Seoul"))
    assert ">12</text>" in svg
    assert "Asia/Seoul" in svg


def test_nothing_is_a_picture_too() -> None:
    nothing = with_ids(episodes_of())
    drawn = [
        charts.strip(charts.dots(nothing), downtimes.by_kind(nothing)),
        charts.incidence(recoveries.steps(recoveries.curves(nothing))),
        charts.week(downtimes.by_hour(nothing), "UTC"),
    ]
    assert all(picture.svg(chart).startswith("<svg") for chart in drawn)
