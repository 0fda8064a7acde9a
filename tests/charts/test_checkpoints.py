"""Pictures of page 06: every mark has its place, names are text, nothing is a picture too."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from gangline import cadences, checkpoints, overheads, startups
from gangline.charts import (
    checkpoint_costs,
    checkpoint_intervals,
    checkpoint_lens,
    checkpoint_loads,
    checkpoint_losses,
    picture,
)
from gangline.checkpoints import Checkpoints
from gangline.save_lens import Lens
from tests.checkpointing import cluster_with_checkpoints
from tests.recovering import days
from tests.report.making import HOSTILE

WHOLE = days(1, 10)


@pytest.fixture(scope="module")
def found() -> Iterator[Checkpoints]:
    with cluster_with_checkpoints() as con:
        yield checkpoints.measured(con, WHOLE)


@pytest.fixture(scope="module")
def down() -> Iterator[pl.DataFrame]:
    with cluster_with_checkpoints() as con:
        yield overheads.by_downtime(con, WHOLE, checkpoints.measured(con, WHOLE).mtbf)


def lost_of(hours: list[float | None], evidence: str = "steps", interval_h: float | None = 2.0) -> pl.DataFrame:
    count = len(hours)
    return pl.DataFrame(
        {"lost_h": hours, "evidence": [evidence] * count, "interval_h": [interval_h] * count},
        schema={"lost_h": pl.Float64, "evidence": pl.String, "interval_h": pl.Float64},
    )


def test_the_strip_marks_kinds_medians_and_the_optimum(found: Checkpoints) -> None:
    dots = checkpoint_intervals.dots(cadences.judged(found.saves))
    chart = checkpoint_intervals.strip(dots, overheads.by_stage(found), list(found.stages))
    svg = picture.svg(chart)
    assert all(f">{word}<" in svg for word in ("4K", "32K", "as usual", "one missed", "soon after another"))
    layers = chart.to_dict()["layer"]
    assert [layer["mark"]["type"] for layer in layers] == ["rect", "rule", "rule", "point"]


def test_intervals_that_do_not_fit_are_thinned_evenly() -> None:
    rows = pl.DataFrame(
        {
            "save_id": [f"{place:05}" for place in range(2000)],
            "session_id": ["a"] * 2000,
            "stage": ["4K"] * 2000,
            "interval_h": [1 + place / 1000 for place in range(2000)],
            "kind": [cadences.REGULAR] * 2000,
        }
    )
    dots = checkpoint_intervals.dots(rows)
    assert dots.height == checkpoint_intervals.MOST_DOTS + 1
    assert (dots["interval_h"].min(), dots["interval_h"].max()) == (1.0, 2.999)


def test_the_cost_has_downtime_on_its_axis(found: Checkpoints, down: pl.DataFrame) -> None:
    svg = picture.svg(checkpoint_costs.overhead(overheads.curve(found), overheads.marks(found), down))
    assert all(f"h down: {name}<" in svg for name in down["downtime"])
    assert all(f">{word}<" in svg for word in ("now", "optimum", "Share of time lost (square-root scale)"))


def test_lost_work_is_counted_and_the_expectation_is_uniform() -> None:
    bins = checkpoint_losses.bins(lost_of([0.1, 0.3, 0.4, 1.9, None]))
    assert bins["ends"].to_list() == [1, 1, 1, *[0] * 8, 1, 0]  # bins of 10 min
    assert bins["expected"].to_list() == pytest.approx([4 / 12] * 12 + [0.0])
    edge = checkpoint_losses.bins(lost_of([0.0, 2.0]))
    assert edge["ends"].sum() == 2
    assert edge["to_h"].max() == pytest.approx(13 / 6)


def test_stages_have_their_own_expectation_and_untrained_ends_none() -> None:
    lost = pl.concat(
        [lost_of([0.2, 0.9], interval_h=1.0), lost_of([3.5], interval_h=4.0), lost_of([0.0], "never trained")]
    )
    bins = checkpoint_losses.bins(lost)
    expected = bins.drop_nulls("expected")
    assert expected["expected"].to_list() == pytest.approx([1.125, 1.125, *[0.125] * 6, 0.0])
    assert expected["expected"].sum() == pytest.approx(3)
    assert bins.filter(pl.col("evidence") == "never trained")["ends"].to_list() == [1]


def test_without_an_interval_nothing_is_expected() -> None:
    bins = checkpoint_losses.bins(lost_of([0.2, 400.0], interval_h=None))
    assert bins["expected"].null_count() == bins.height
    assert bins["to_h"].max() == 408
    assert picture.svg(checkpoint_losses.histogram(bins)).startswith("<svg")


def test_loads_and_starts(found: Checkpoints) -> None:
    rates = checkpoint_loads.rates(found.loads)
    assert rates.select("load_id", "rate", "share").rows()[:2] == [("load:a", "mean", 0.2), ("load:a", "peak", 0.4)]
    assert ">mean<" in picture.svg(checkpoint_loads.shares(rates, WHOLE))
    starts = checkpoint_loads.starts(startups.parts(found.loads), WHOLE)
    assert starts["label"].unique(maintain_order=True).to_list() == [
        "01 Mar 18:20, 2 nodes",
        "01 Mar 10:10, 2 nodes",
        "01 Mar 00:00, 2 nodes",
    ]
    svg = picture.svg(checkpoint_loads.split(starts))
    assert all(f">{part}<" in svg for part in startups.PARTS.values())


def test_a_rate_above_the_maximum_stays_in_the_picture(found: Checkpoints) -> None:
    rates = checkpoint_loads.rates(found.loads.with_columns(peak_share=pl.lit(1.4)))
    assert ">140%<" in picture.svg(checkpoint_loads.shares(rates, WHOLE))


def test_the_lens_shades_what_is_not_training() -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    instants = [start + timedelta(seconds=30 * place) for place in range(20)]
    rows = pl.concat(
        [
            pl.DataFrame({"layer": [name] * 20, "at": instants, "value": [float(place) for place in range(20)]})
            for name in ("Written (GB/s)", HOSTILE[0])
        ]
    )
    phases = pl.DataFrame(
        {"phase": ["training", "save", "training"], "from": instants[:3], "to": [*instants[1:3], instants[-1]]}
    )
    svg = picture.svg(checkpoint_lens.lens(Lens({"save_id": "x"}, WHOLE, rows, phases)))
    assert ">save<" in svg
    assert ">training<" not in svg
    assert "<script" not in svg


def test_hostile_stages_are_text(found: Checkpoints, down: pl.DataFrame) -> None:
    stage = "</script><b>{x}</b>"
    saves = found.saves.with_columns(stage=pl.lit(stage))
    dots = checkpoint_intervals.dots(cadences.judged(saves))
    costs = overheads.by_stage(found).head(1).with_columns(stage=pl.lit(stage))
    curve, marks = (rows.with_columns(stage=pl.lit(stage)) for rows in (overheads.curve(found), overheads.marks(found)))
    charts = (checkpoint_intervals.strip(dots, costs, [stage]), checkpoint_costs.overhead(curve, marks, down))
    assert all("<b>" not in picture.svg(chart) for chart in charts)


def test_nothing_is_a_picture_too() -> None:
    with cluster_with_checkpoints(saves=[]) as con:
        none = checkpoints.measured(con, days(5, 6))
    dots = checkpoint_intervals.dots(cadences.judged(none.saves))
    down = pl.DataFrame(schema={"downtime": pl.String, "downtime_h": pl.Float64, "lost_share": pl.Float64})
    charts = (
        checkpoint_intervals.strip(dots, overheads.by_stage(none), []),
        checkpoint_costs.overhead(overheads.curve(none), overheads.marks(none), down),
        checkpoint_losses.histogram(checkpoint_losses.bins(none.lost)),
        checkpoint_loads.shares(checkpoint_loads.rates(none.loads), WHOLE),
        checkpoint_loads.split(checkpoint_loads.starts(startups.parts(none.loads), WHOLE)),
    )
    assert all(picture.svg(chart).startswith("<svg") for chart in charts)
