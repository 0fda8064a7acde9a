"""Loads as shares of the maximum, the parts of a start, and reasons where nothing can be told."""

from collections.abc import Iterator

import duckdb
import polars as pl
import pytest

from gangline import startups
from tests.checkpointing import cluster_with_checkpoints
from tests.recovering import days

WHOLE = days(1, 10)


@pytest.fixture(scope="module")
def loads() -> Iterator[pl.DataFrame]:
    with cluster_with_checkpoints() as con:
        yield startups.loads(con, WHOLE)


@pytest.fixture(scope="module")
def changed() -> Iterator[duckdb.DuckDBPyConnection]:
    """Loads with a first step before the load's end, none but training, and neither; no maximum."""
    with cluster_with_checkpoints() as con:
        con.execute(
            "update marts.checkpoint_loads set first_step_at = ended_at - interval 1 minute where session_id = 'a'"
        )
        con.execute("update marts.checkpoint_loads set first_step_at = null where session_id <> 'a'")
        con.execute(
            "update marts.checkpoint_loads set training_from = ended_at + interval 9 minute where session_id = 'b'"
        )
        con.execute("update marts.checkpoint_rules set max_read_bytes_per_s = null")
        yield con


def test_figures(loads: pl.DataFrame) -> None:
    figures = startups.figures(loads, None)
    values = {name.removeprefix("checkpoints."): estimate.value for name, estimate in figures.items()}
    assert values == pytest.approx(
        {
            "loads": 3,
            "load_median_min": 12,
            "load_mean_min": 14,
            "load_read_share_of_max": 0.2,
            "load_peak_share_of_max": 0.4,
        }
    )
    assert figures["checkpoints.load_median_min"].n == 3


def test_parts_follow_each_other_from_the_start(loads: pl.DataFrame) -> None:
    parts = startups.parts(loads).filter(pl.col("session_id") == "b")
    assert parts.select("part", "from_min", "to_min").rows() == [
        ("until it loads", 0, 4),
        ("load", 4, 24),
        ("until the first step", 24, 30),
    ]


def test_starts_by_node_count(loads: pl.DataFrame) -> None:
    mixed = loads.with_columns(node_count=pl.when(pl.col("session_id") == "b").then(16).otherwise(2))
    rows = startups.by_node_count(mixed).rows(named=True)
    assert [(row["node_count"], row["loads"]) for row in rows] == [(2, 2), (16, 1)]
    assert (rows[0]["load_min"], rows[0]["first_step_after_min"]) == (11, 20)
    assert (rows[1]["read_per_node_gb"], rows[1]["read_per_node_gb_per_s"]) == (1500, 1.25)


def test_where_no_step_is_logged_training_ends_the_start(changed: duckdb.DuckDBPyConnection) -> None:
    rows = startups.loads(changed, WHOLE).select("session_id", "first_step_min", "first_step_evidence").rows()
    assert rows == [("a", 0, "first step"), ("b", 9, "begin of training"), ("d", None, None)]
    parts = startups.parts(startups.loads(changed, WHOLE))
    assert parts.filter(pl.col("session_id") == "d")["part"].to_list() == ["until it loads", "load"]


def test_without_a_maximum_there_is_no_share(changed: duckdb.DuckDBPyConnection) -> None:
    figures = startups.figures(startups.loads(changed, WHOLE), None)
    assert figures["checkpoints.load_peak_share_of_max"].reason == startups.NO_MAXIMUM.format("read")
    assert figures["checkpoints.load_mean_min"].value == 14


def test_no_load_and_no_telemetry_are_told_apart(loads: pl.DataFrame) -> None:
    none = startups.figures(loads.clear(), None)
    assert none["checkpoints.loads"].value == 0
    missing = {estimate.reason for estimate in none.values() if estimate.value is None}
    assert missing == {startups.NO_LOAD}
    assert {estimate.reason for estimate in startups.figures(loads, "no telemetry").values()} == {"no telemetry"}
    coarse = loads.with_columns(load_min=pl.lit(None, pl.Float64), reason=pl.lit("too coarse"))
    assert startups.figures(coarse, None)["checkpoints.load_median_min"].reason == "too coarse"
    assert startups.load_table(loads)["read_gb"].to_list() == [12_000, 24_000, 14_400]
