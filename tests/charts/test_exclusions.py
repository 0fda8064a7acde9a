"""Pictures of exclusions: the first nodes and the mean of the rest, whole nodes only, the seen value beside chance."""

from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from gangline.charts import concentration, exclusions, picture, quality
from gangline.estimates.chance import Block, block_null
from gangline.estimates.estimate import Estimate
from gangline.windows import Window

WEEK = Window.between("2026-03-02", "2026-03-09", "UTC")
START = datetime(2026, 3, 2, tzinfo=UTC)
STATES = ("occupied", "idle", "asked_out", "down", "other_gang")


def nodes(count: int, **columns: Any) -> pl.DataFrame:
    hours = [float(count - place) for place in range(count)]
    frame = pl.DataFrame({"node": [f"n{place:04d}" for place in range(count)], "excluded_h": hours})
    counted = {f"{state}_sessions": pl.lit(columns.get(state, 0)) for state in STATES}
    return frame.with_columns(
        held_h=pl.col("excluded_h") / 2, excluded_ratio=pl.lit(0.25), verdict=pl.lit("mixed"), **counted
    )


def bars(count: int, per_node: int) -> pl.DataFrame:
    rows = [
        (f"n{node:04d}", "left_out", START + timedelta(minutes=2 * place), START + timedelta(minutes=2 * place + 1))
        for node in range(count)
        for place in range(per_node)
    ]
    moments = {"from_at": pl.Datetime("us", "UTC"), "to_at": pl.Datetime("us", "UTC")}
    return pl.DataFrame(rows, schema={"node": pl.String, "use": pl.String} | moments, orient="row")


def test_the_first_thirty_and_the_mean_of_the_rest() -> None:
    shown = exclusions.foremost(nodes(100))
    assert shown.height == exclusions.MOST_NODES + 1
    last = shown.row(-1, named=True)
    assert (last["node_label"], last["verdict"]) == ("mean of 70 others", None)
    assert last["excluded_h"] == pytest.approx(35.5)
    assert exclusions.foremost(nodes(30)).height == 30
    assert exclusions.foremost(nodes(0)).is_empty()


def test_bars_are_split_and_carry_their_verdict() -> None:
    drawn = picture.svg(exclusions.by_node(exclusions.foremost(nodes(3))))
    assert drawn.count(">mixed<") == 3
    assert exclusions.HELD in drawn
    assert exclusions.NOT_HELD in drawn


def test_starts_that_are_no_exclusions_stand_apart_where_there_are_any() -> None:
    alone = picture.svg(exclusions.states(exclusions.foremost(nodes(3, idle=2))))
    apart = picture.svg(exclusions.states(exclusions.foremost(nodes(3, idle=2, down=1))))
    assert "Not exclusions" not in alone
    assert "Not exclusions" in apart


def test_the_strip_keeps_whole_nodes_in_their_order() -> None:
    names = [f"n{node:04d}" for node in range(30)]
    few = exclusions.strip_rows(bars(30, 10), names[::-1])
    many = exclusions.strip_rows(bars(30, 700), names)
    assert few["node"].unique(maintain_order=True).to_list() == names[::-1]
    assert many["node"].unique(maintain_order=True).to_list() == names[:5]  # 5 x 700 fit into 4,000
    assert exclusions.strip_rows(bars(1, 5000), names).height == exclusions.MOST_BARS
    assert picture.svg(exclusions.strip(many, names, WEEK))
    assert exclusions.joined_s(WEEK) == pytest.approx(7 * 86_400 / 860)


def test_the_histogram_holds_every_draw_and_names_what_was_seen() -> None:
    every = frozenset(f"n{place}" for place in range(20))
    null = block_null([Block(frozenset({"n1", "n2", "n3"}), every, 1.0)] * 3 + [Block(frozenset({"n4"}), every, 9.0)])
    bins = exclusions.null_bins(null)
    assert bins["draws"].sum() == 2000
    assert "seen: 83.3 %" in picture.svg(exclusions.against_chance(bins, null.observed))


def test_no_draws_are_no_bins() -> None:
    bins = exclusions.null_bins(block_null([]))
    assert bins.is_empty()
    assert exclusions.against_chance(bins, Estimate.missing("ratio", "there is no gang session", n=0)) is not None


def test_the_lorenz_curve_is_thinned_but_keeps_its_end() -> None:
    points = concentration.curve(range(5000))
    assert points.height == 5001
    specification = picture.specification(concentration.lorenz_chart(points, "hours"))
    drawn = max(specification["datasets"].values(), key=len)  # type: ignore[attr-defined]
    assert len(drawn) <= concentration.MOST_POINTS + 2
    assert (drawn[0]["amount_share"], drawn[-1]["amount_share"]) == (0, 1)
    assert concentration.curve([0.0, 0.0]).is_empty()


def test_coverage_of_nothing_draws_nothing() -> None:
    schema = {"source": pl.String, "day": pl.Date, "events": pl.Int64, "day_share": pl.Float64}
    assert quality.coverage(pl.DataFrame(schema=schema), START, START, 1, "UTC") is not None
    full = pl.DataFrame({"source": ["slurm"], "day": [START.date()], "events": [3], "day_share": [1.0]})
    drawn = picture.svg(quality.coverage(full, START, START + timedelta(days=7), 1, "Asia/Seoul"))
    assert "Time (Asia/Seoul)" in drawn
