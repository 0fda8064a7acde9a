"""Pictures of chains: what is drawn, hostile names on their axes, and nothing where there is nothing."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import duckdb
import polars as pl
import pytest

from gangline import retries, retry_gaps, retry_units
from gangline.charts import picture
from gangline.charts import retries as charts
from tests.recovering import cluster_of, days, launch
from tests.report.making import HOSTILE

RULE = retry_gaps.DelayRule(9.0, 15.0, 10.0)
WEEK = days(1, 11)


@pytest.fixture(scope="module")
def chain() -> Iterator[duckdb.DuckDBPyConnection]:
    """A chain that recovers at its third attempt, and a launch by hand two hours later."""
    lines = [launch("a", "kim", 0, 30), launch("b", "kim", 40, 15), launch("c", "kim", 66, 90)]
    with cluster_of([*lines, launch("d", "kim", 276, 30)]) as con:
        yield con


@pytest.fixture(scope="module")
def rows(chain: duckdb.DuckDBPyConnection) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Chains and launches."""
    return retries.by_chain(chain, WEEK), retries.by_launch(chain, WEEK)


def bars_of(chains: pl.DataFrame, launches: pl.DataFrame) -> pl.DataFrame:
    return charts.bars(retries.chain_table(chains, launches), retries.attempt_table(launches), WEEK)


def test_attempts_stand_after_the_end_of_the_first(rows: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    bars = bars_of(*rows)
    assert bars["label"].unique().to_list() == ["train · 01 Mar 00:00"]
    assert bars["result"].unique().to_list() == ["recovered at attempt 3"]
    assert bars["outcome"].to_list() == ["did not train", "did not train", "trained"]
    assert bars["from_h"].to_list() == pytest.approx([-charts.LEAD_H, 10 / 60, 36 / 60])
    assert bars["to_h"].to_list() == pytest.approx([0.0, 25 / 60, 126 / 60])
    assert "recovered at attempt 3" in picture.svg(charts.timeline(bars))


def test_gaps_are_counted_near_the_rule_and_over_the_day(rows: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    bins = charts.gap_bins(rows[1], RULE)
    assert bins.filter(panel="close").drop("panel").rows() == [
        ("automatic", 10.0, 11.0, 1),
        ("automatic", 11.0, 12.0, 1),
    ]
    assert bins.filter(panel="all").group_by("kind").agg(pl.col("launches").sum()).sort("kind").rows() == [
        ("automatic", 2),
        ("manual", 1),
    ]
    (by_hand,) = bins.filter(panel="all", kind="manual").iter_rows(named=True)
    assert by_hand["from_min"] <= 120 < by_hand["to_min"]
    assert "requeue_unknown" not in picture.svg(charts.gaps(bins, RULE))


def test_a_gap_of_nothing_stands_at_a_minute_and_one_in_the_queue_not_near_the_rule() -> None:
    launches = pl.DataFrame({"start_kind": ["prequeued"], "gap_min": [0.0], "submit_gap_min": [-90.0]})
    bins = charts.gap_bins(launches, RULE)
    assert bins.select("panel", "from_min").rows() == [("all", 1.0)]


def test_a_wide_rule_still_fits_its_panel() -> None:
    launches = pl.DataFrame({"start_kind": ["automatic"], "gap_min": [61.0], "submit_gap_min": [61.0]})
    bins = charts.gap_bins(launches, retry_gaps.DelayRule(59.0, 75.0, 60.0))
    assert bins.filter(panel="close").select("from_min", "to_min").rows() == [(60.0, 65.0)]


def test_hostile_names_are_drawn_apart() -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    names = [*HOSTILE, HOSTILE[0], None]
    chains = pl.DataFrame({"run_name": names}).with_columns(
        chain_id=pl.format("chain:{}", pl.int_range(pl.len())),
        first_started_at=pl.lit(start),
        outcome=pl.lit("did not recover"),
        recovered_attempt=pl.lit(None, pl.Int32),
        attempts=2,
        failed_h=1.0,
        failed_gpu_h=16.0,
    )
    attempts = chains.select(
        "chain_id",
        session_id="chain_id",
        attempt=1,
        started_at=pl.lit(start),
        ended_at=pl.lit(start + timedelta(hours=1)),
        duration_h=1.0,
        outcome=pl.lit("did not train"),
    )
    bars = charts.bars(chains, attempts, WEEK)
    assert bars["label"].n_unique() == len(names)
    for drawn in (charts.timeline(bars), charts.costs(charts.cost(chains, WEEK))):
        svg = picture.svg(drawn)
        assert "<script" not in svg
        assert svg.count("01 Mar") == len(names)


def test_success_names_every_unit_with_its_counts(rows: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    svg = picture.svg(charts.success(retry_units.intervals(retry_units.comparisons(*rows))))
    assert "by hand, with chains&#39; first attempts" in svg or "by hand, with chains' first attempts" in svg
    assert ">1 of 1<" in svg
    assert ">0 of 1<" in svg


def test_recovery_by_attempt_is_drawn_for_every_attempt(rows: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    spec = picture.specification(charts.by_attempt(retry_units.by_attempt(rows[1])))
    shares = next(data for data in spec["datasets"].values() if "recovered_share" in data[0])
    assert [row["recovered_share"] for row in shares] == [0.0, 0.0, 1.0]


def test_nothing_is_a_picture_too() -> None:
    with cluster_of([]) as con:
        chains, launches = retries.by_chain(con, WEEK), retries.by_launch(con, WEEK)
    drawn = [
        charts.timeline(bars_of(chains, launches)),
        charts.gaps(charts.gap_bins(launches, RULE), RULE),
        charts.success(retry_units.intervals(retry_units.comparisons(chains, launches))),
        charts.by_attempt(retry_units.by_attempt(launches)),
        charts.costs(charts.cost(retries.chain_table(chains, launches), WEEK)),
    ]
    assert all(picture.svg(chart).startswith("<svg") for chart in drawn)
