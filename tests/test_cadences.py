"""Intervals by stage: usual, missed, doubled; what has none; which stages there are."""

from collections.abc import Iterator

import duckdb
import polars as pl
import pytest

from gangline import cadences
from tests.checkpointing import TOO_COARSE, cluster_with_checkpoints, save
from tests.recovering import days

WHOLE = days(1, 10)
STAGES = "insert into meta.stages values ('100K', '2026-03-05', null), ('4K', null, '2026-03-02')"


@pytest.fixture(scope="module")
def story() -> Iterator[duckdb.DuckDBPyConnection]:
    with cluster_with_checkpoints() as con:
        yield con


def test_intervals_and_shares_by_stage(story: duckdb.DuckDBPyConnection) -> None:
    saves = cadences.saves(story, WHOLE)
    table = cadences.by_stage(saves, ["4K", "32K", "100K"])
    assert table["stage"].to_list() == ["4K", "32K"]
    four, long = table.rows(named=True)
    assert (four["saves"], four["sessions"], four["intervals"]) == (8, 2, 6)
    assert (four["median_min"], four["q1_min"], four["q3_min"]) == pytest.approx((100, 100, 100))
    assert (four["usual_share"], four["missed_share"]) == pytest.approx((4 / 6, 1 / 6))
    assert (four["missed"], four["doubled"]) == (1, 1)
    assert (long["median_min"], long["low_min"], long["usual_share"]) == (150, None, 1)


def test_what_is_out_of_step_is_named_furthest_first(story: duckdb.DuckDBPyConnection) -> None:
    rows = cadences.irregular(cadences.judged(cadences.saves(story, WHOLE)))
    assert rows.select("save_id", "interval_min", "times_median", "kind").rows() == [
        ("save:b:840", pytest.approx(40), pytest.approx(0.4), cadences.DOUBLED),
        ("save:a:360", pytest.approx(200), pytest.approx(2.0), cadences.MISSED),
    ]


@pytest.mark.parametrize(
    ("minutes", "kind"),
    [
        (90, cadences.REGULAR),
        (110, cadences.REGULAR),
        (89, cadences.OTHER),
        (180, cadences.MISSED),
        (220, cadences.MISSED),
        (221, cadences.OTHER),
        (50, cadences.OTHER),
        (49, cadences.DOUBLED),
        (300, cadences.OTHER),
    ],
)
def test_kinds_have_their_edges(minutes: float, kind: str) -> None:
    hours = [*[100 / 60] * 9, minutes / 60]
    saves = pl.DataFrame({"stage": ["4K"] * 10, "interval_h": hours, "save_id": [str(place) for place in range(10)]})
    assert cadences.judged(saves)["kind"].to_list()[-1] == kind


def test_a_stage_that_only_has_first_saves_has_no_interval(story: duckdb.DuckDBPyConnection) -> None:
    saves = cadences.saves(story, WHOLE).filter(pl.col("interval_h").is_null())
    assert cadences.interval(saves, "4K").reason == cadences.ONLY_FIRST
    assert cadences.interval(saves, "100K").reason == cadences.NO_SAVE
    assert cadences.by_stage(saves, ["4K"]).row(0, named=True)["usual_share"] is None


def test_a_stall_that_is_not_known_says_why(story: duckdb.DuckDBPyConnection) -> None:
    saves = cadences.saves(story, WHOLE)
    assert cadences.stall(saves, "4K").value == 30
    assert cadences.stall(saves, "32K").reason == TOO_COARSE
    assert cadences.stall(saves, "100K").reason == cadences.NO_SAVE
    untold = saves.with_columns(stall_reason=pl.lit(None, pl.String))
    assert cadences.stall(untold, "32K").reason == cadences.NO_STALL_TOLD
    evidence = cadences.by_evidence(saves).select("stage", "saves", "stall_s", "stall_reason").rows()
    assert evidence == [("32K", 2, None, TOO_COARSE), ("4K", 8, 30.0, None)]


def test_stages_of_the_config_stand_first() -> None:
    with cluster_with_checkpoints() as con:
        con.execute(STAGES)
        assert cadences.stages(con) == ["4K", "100K", "32K"]


def test_saves_without_a_stage_are_named_so() -> None:
    with cluster_with_checkpoints(saves=[save("a", 60, 60, 20, None)]) as con:
        assert cadences.stages(con) == [cadences.NO_STAGE]
        assert cadences.saves(con, WHOLE)["stage"].to_list() == [cadences.NO_STAGE]
    with cluster_with_checkpoints(saves=[]) as con:
        assert cadences.stages(con) == [cadences.NO_STAGE]


def test_a_save_belongs_to_the_window_of_its_start(story: duckdb.DuckDBPyConnection) -> None:
    assert cadences.saves(story, days(2, 10)).is_empty()
    table = cadences.table(cadences.saves(story, WHOLE))
    assert table.height == 10
    assert table.row(0, named=True)["mean_gb_per_s"] == 10
