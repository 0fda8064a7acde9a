"""Retry headlines: counted by hand over a small story, against published checks, and null with reasons."""

from collections.abc import Iterator

import duckdb
import pytest

from gangline import retries
from gangline.exclusions import NO_SESSIONS
from tests.recovering import EXPORT, by_hand, chains_of, cluster_of, days, launch

IDS = (
    "chains, attempts, retries, chains_recovered, chains_censored, chain_success, manual_sessions, manual_reached, "
    "manual_success, success_ratio, fisher_p, retry_success, auto_gap_median_min, auto_gap_q1_min, auto_gap_q3_min, "
    "manual_gap_median_min, manual_gap_min_min, manual_gap_max_min, failed_chain_h, failed_chain_gpu_h, "
    "failed_chain_share"
)
STORY = (
    # kim: trained for two hours, failed, one retry in vain, the next one trained; a person goes on half an hour later
    launch("k1", "kim", 0, 120),
    launch("k2", "kim", 130, 20),
    launch("k3", "kim", 161, 90),
    launch("k4", "kim", 281, 70, "completed"),
    # lee: two retries in vain, then a launch that was in the queue before
    launch("l1", "lee", 0, 15),
    launch("l2", "lee", 26, 15),
    launch("l3", "lee", 52, 30),
    launch("l4", "lee", 84, 45, wait=60),
    # may: the retry is open for half an hour when the export is made, its outcome not known
    launch("m1", "may", EXPORT - 100, 60),
    launch("m2", "may", EXPORT - 30, None, "running"),
)


@pytest.fixture(scope="module")
def story() -> Iterator[duckdb.DuckDBPyConnection]:
    with cluster_of(STORY) as con:
        yield con


def test_every_figure_of_the_story(story: duckdb.DuckDBPyConnection) -> None:
    figures = retries.figures(story, days(1, 11))
    values = {name.removeprefix("retries."): estimate.value for name, estimate in figures.items()}
    assert values == pytest.approx(
        {
            "chains": 3,
            "attempts": 8,
            "retries": 5,
            "chains_recovered": 1,
            "chains_censored": 1,
            "chain_success": 1 / 2,
            "manual_sessions": 2,
            "manual_reached": 1,
            "manual_success": 1 / 2,
            "success_ratio": 1.0,
            "fisher_p": 1.0,
            "retry_success": 1 / 4,
            "auto_gap_median_min": 11.0,
            "auto_gap_q1_min": 10.0,
            "auto_gap_q3_min": 11.0,
            "manual_gap_median_min": 16.0,
            "manual_gap_min_min": 2.0,
            "manual_gap_max_min": 30.0,
            "failed_chain_h": 1.0,
            "failed_chain_gpu_h": 16.0,
            "failed_chain_share": 60 / (120 + 90 + 70 + 60),
        }
    )
    assert str(figures["retries.chain_success"]) == "1 of 2, 50.0 % (9.5 to 90.5)"
    assert retries.case(figures) == "found"


def test_the_ids_are_those_that_others_rely_on(story: duckdb.DuckDBPyConnection) -> None:
    assert [name.removeprefix("retries.") for name in retries.figures(story, days(1, 11))] == IDS.split(", ")


def test_launches_by_hand_say_how_they_began(story: duckdb.DuckDBPyConnection) -> None:
    launches = retries.by_launch(story, days(1, 11))
    assert retries.start_kinds(launches) == {"first": 0, "manual": 1, "prequeued": 1, "requeue_unknown": 0}


def test_a_chain_leads_to_its_sessions(story: duckdb.DuckDBPyConnection) -> None:
    chains, launches = retries.by_chain(story, days(1, 11)), retries.by_launch(story, days(1, 11))
    table = retries.chain_table(chains, launches)
    assert dict(table.select("outcome", "sessions").iter_rows()) == {
        "recovered": ["k1", "k2", "k3"],
        "did not recover": ["l1", "l2", "l3"],
        "still open": ["m1", "m2"],
    }
    kim = retries.attempt_table(launches).filter(chain_id="chain:k1")
    assert kim["session_id"].to_list() == ["k1", "k2", "k3"]
    assert kim["outcome"].to_list() == ["trained", "did not train", "trained"]
    assert kim["gap_min"].to_list() == [None, 10.0, 11.0]


def test_training_hours_are_cut_to_the_window() -> None:
    with cluster_of([launch("a", "kim", 24 * 60 - 90, 60 * 4)]) as con:
        assert [retries.training_h(con, days(*span)) for span in ((1, 2), (2, 3), (1, 3))] == [1.5, 2.5, 4.0]


def test_an_export_without_sessions_gives_no_figure() -> None:
    with cluster_of([]) as con:
        figures = retries.figures(con, days(1, 11))
    assert {estimate.reason for estimate in figures.values()} == {NO_SESSIONS}
    assert [name.removeprefix("retries.") for name in figures] == IDS.split(", ")
    assert retries.case(figures) == "no_source"


def test_a_window_without_a_launch_counts_none_and_says_why(story: duckdb.DuckDBPyConnection) -> None:
    figures = retries.figures(story, days(5, 6))
    assert retries.case(figures) == "no_launch"
    assert figures["retries.chains"].value == figures["retries.manual_sessions"].value == 0
    assert figures["retries.chain_success"].reason == retries.NO_CHAIN
    assert figures["retries.manual_success"].reason == retries.NO_LAUNCH
    assert figures["retries.failed_chain_h"].reason == retries.NO_CHAIN
    assert figures["retries.auto_gap_median_min"].value is None


def test_launches_by_hand_alone_are_no_comparison() -> None:
    with cluster_of([launch("a", "kim", 0, 90), launch("b", "kim", 300, 90, "completed")]) as con:
        figures = retries.figures(con, days(1, 11))
    assert retries.case(figures) == "no_chain"
    assert figures["retries.success_ratio"].reason == "the first group has nothing in it"


def test_a_chain_without_a_launch_by_hand_is_no_comparison() -> None:
    with cluster_of([launch("a", "kim", 0, 30), launch("b", "kim", 40, 70, "completed")]) as con:
        figures = retries.figures(con, days(1, 2))
    assert retries.case(figures) == "undecided"
    assert figures["retries.chain_success"].value == 1.0
    assert figures["retries.manual_success"].reason == retries.NO_HAND
    assert figures["retries.failed_chain_h"].reason == retries.NO_FAILED_CHAIN


def test_single_node_sessions_are_no_launches() -> None:
    with cluster_of(["a, train, kim, n1, 2026-03-01T00:00Z, 2026-03-01T00:00Z, 2026-03-01T00:30Z, failed"]) as con:
        assert retries.case(retries.figures(con, days(1, 11))) == "no_launch"


def test_checks_of_the_design() -> None:
    # 12 chains, 4 recovered, against 104 launches by hand, 13 of which trained (504-GPU report, section on retries)
    chain, hand = retries.chain_success(chains_of(4, 8, 61)), retries.manual_success(by_hand(13, 104))
    assert (chain.low, chain.high) == pytest.approx((0.1381, 0.6094), abs=5e-5)
    assert (hand.low, hand.high) == pytest.approx((0.0745, 0.2022), abs=5e-5)
    retry = retries.retry_success(chains_of(4, 8, 61))
    assert (retry.numerator, retry.n) == (4, 61)
    assert (retry.low, retry.high) == pytest.approx((0.0258, 0.1568), abs=5e-5)
