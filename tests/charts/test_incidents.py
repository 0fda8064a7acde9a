"""Pictures of incidents: kinds with fixed colours, caps on rows, logarithms that hold zero lengths."""

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from gangline.charts import incidents, picture
from gangline.estimates import Estimate
from gangline.estimates.survival import kaplan_meier
from gangline.estimates.weibull import event_gaps, weibull
from gangline.incidents import Arrivals
from gangline.windows import Window

WEEK = Window.between("2026-03-02", "2026-03-09", "UTC")
START = datetime(2026, 3, 2, tzinfo=UTC)


def rows(count: int, kinds: int = 3, nodes: int = 5) -> pl.DataFrame:
    return incidents.with_kinds(
        pl.DataFrame(
            {
                "node": [f"n{place % nodes}" for place in range(count)],
                "kind": [f"kind {place % kinds}" if place else None for place in range(count)],
                "started_at": [START + timedelta(minutes=place) for place in range(count)],
                "duration_h": [place / 10 for place in range(count)],
                "is_censored": [place % 7 == 3 for place in range(count)],
            },
            schema_overrides={"started_at": pl.Datetime("us", "UTC")},
        ).with_columns(
            ended_at=pl.when("is_censored").then(None).otherwise(pl.col("started_at") + pl.duration(hours=1)),
            observed_until=pl.lit(WEEK.end),
        )
    )


def arrivals(starts: dict[str, list[float]], until: float) -> Arrivals:
    gaps = event_gaps(starts, until)
    return Arrivals(gaps, kaplan_meier(gaps.durations, gaps.is_ended), weibull(gaps.durations, gaps.is_ended, "h"))


def test_the_commonest_kinds_keep_their_names() -> None:
    named = incidents.with_kinds(rows(100, kinds=9).drop("kind_label"))
    names = incidents.kind_names(named)
    assert names == [f"kind {place}" for place in range(incidents.MOST_KINDS)] + [incidents.OTHER]
    assert "not said" in incidents.kind_names(rows(3))


def test_the_calendar_is_capped_in_nodes_and_bars() -> None:
    chart = incidents.calendar(rows(4000, nodes=100), WEEK)
    drawn = max(picture.specification(chart)["datasets"].values(), key=len)  # type: ignore[attr-defined]
    assert len({row["node_label"] for row in drawn}) == incidents.MOST_NODES
    assert len(drawn) <= incidents.MOST_BARS
    assert max(row["until_at"] for row in drawn) <= "2026-03-09T00:00:00+0000"
    assert picture.svg(chart)


def test_bins_hold_every_incident_and_lengths_of_zero() -> None:
    bins = incidents.duration_bins(rows(50))
    assert bins["incidents"].sum() == 50
    assert bins["from_h"][0] <= incidents.SHORTEST_H
    assert (bins["to_h"] / bins["from_h"]).to_list() == pytest.approx([10**0.25] * bins.height)


def test_unknown_quartiles_have_no_rule() -> None:
    known = Estimate(2.0, "h", 50)
    missing = Estimate.missing("h", "too few have ended")
    drawn = picture.svg(incidents.durations(incidents.duration_bins(rows(50)), [known, known, missing]))
    assert "half by 2.0 h" in drawn
    assert "three quarters" not in drawn


def test_dots_are_capped_evenly_with_the_longest_kept() -> None:
    many = rows(3000, kinds=2)
    drawn = incidents._evenly(many)
    assert all(count <= incidents.MOST_DOTS + 1 for count in drawn["kind_label"].value_counts()["count"])
    assert drawn["duration_h"].max() == many["duration_h"].max()
    assert picture.svg(incidents.by_kind(many))


def test_pictures_are_the_same_bytes_every_time() -> None:
    many = rows(400, kinds=6)
    assert len({picture.svg(incidents.by_kind(many)) for _ in range(8)}) == 1


def test_the_gap_curve_meets_its_laws() -> None:
    starts = {"a": [0.0, 10.0, 40.0, 90.0], "b": [5.0, 8.0]}
    told = arrivals(starts, 100.0)
    curves = incidents.gap_curve(told)
    seen = curves.filter(curve="seen")
    assert seen["longer_share"].is_sorted(descending=True)
    memoryless = curves.filter(curve="memoryless")
    mean_h = told.gaps.durations.sum() / 4  # gaps 10, 30, 50, 3 ended, 10 and 92 open
    assert memoryless["longer_share"][0] == pytest.approx(np.exp(-memoryless["gap_h"][0] / mean_h))
    assert picture.svg(incidents.gaps(curves))
    assert incidents.gap_curve(arrivals({"a": [1.0]}, 5.0)).is_empty()
