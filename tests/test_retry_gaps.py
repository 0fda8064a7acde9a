"""Gaps: the rule's window, the chance level beside it, and what other windows would find."""

from collections.abc import Iterator

import duckdb
import polars as pl
import pytest

from gangline import retry_gaps
from gangline.retries import by_launch
from gangline.retry_gaps import DelayRule
from tests.recovering import cluster_of, days, launch

RULE = DelayRule(9.0, 15.0, 10.0)


def gaps_of(*minutes: float, end_class: str = "failure", rule: str = "none") -> pl.DataFrame:
    return pl.DataFrame(
        {
            "submit_gap_min": [float(minute) for minute in minutes],
            "start_rule": [rule] * len(minutes),
            "previous_end_class": [end_class] * len(minutes),
        },
        schema_overrides={"previous_end_class": pl.String},
    )


@pytest.fixture(scope="module")
def three_links() -> Iterator[duckdb.DuckDBPyConnection]:
    """Links after 10, 7 and 40 minutes of three owners; the retry after 7 minutes trained."""
    lines = [launch(f"{owner}1", owner, 0, 30) for owner in ("kim", "lee", "may")]
    lines += [launch("kim2", "kim", 40, 20), launch("lee2", "lee", 37, 90), launch("may2", "may", 70, 20)]
    with cluster_of(lines) as con:
        yield con


def test_the_rule_is_the_configs(three_links: duckdb.DuckDBPyConnection) -> None:
    assert retry_gaps.rule(three_links) == RULE
    assert retry_gaps.longest_min(three_links) == 24 * 60


def test_a_rule_is_widened_about_its_delay_and_moved_by_its_width() -> None:
    assert RULE.widened(2) == DelayRule(8.0, 20.0, 10.0)
    assert RULE.moved(-1) == DelayRule(3.0, 9.0, 4.0)


def test_gaps_beside_the_window_are_the_chance_level() -> None:
    level = retry_gaps.chance_level(gaps_of(2.9, 3, 8.9, 9, 10, 15, 15.1, 21, 21.1), RULE)
    assert level.rows() == [
        ("just before", 3.0, 9.0, 2, 2.0),
        ("the rule's window", 9.0, 15.0, 3, 3.0),
        ("just after", 15.0, 21.0, 2, 2.0),
    ]
    assert retry_gaps.by_chance(level).value == pytest.approx(2 / 3)


def test_an_earlier_window_that_would_begin_before_the_end_is_scaled_up() -> None:
    level = retry_gaps.chance_level(gaps_of(0.5, 2.5, 3.0), DelayRule(2.0, 8.0, 3.0))
    assert level.row(0) == ("just before", 0.0, 2.0, 1, 3.0)
    none = retry_gaps.chance_level(gaps_of(0, 1), DelayRule(-1.0, 5.0, 0.0))
    assert none.row(0) == ("just before", 0.0, 0.0, 0, None)
    assert retry_gaps.by_chance(none).value == 0.0


def test_more_beside_than_inside_is_all_chance() -> None:
    assert retry_gaps.by_chance(retry_gaps.chance_level(gaps_of(4, 5, 10, 16, 17), RULE)).value == 1.0


def test_no_gap_in_the_window_has_no_chance_level() -> None:
    share = retry_gaps.by_chance(retry_gaps.chance_level(gaps_of(4), RULE))
    assert share.reason == "no gap falls into the rule's window"


@pytest.mark.parametrize(
    ("end_class", "rule", "gaps"),
    [
        ("failure", "delay", 1),
        ("user", "none", 1),
        (None, "none", 1),
        ("completed", "none", 0),
        ("planned", "none", 0),
        ("failure", "attempt", 0),
        ("failure", "created", 0),
    ],
)
def test_only_links_that_the_delay_decides_tell_of_chance(end_class: str, rule: str, gaps: int) -> None:
    assert retry_gaps.judged_by_delay(gaps_of(10, end_class=end_class, rule=rule)).height == gaps


def test_other_windows_find_other_chains(three_links: duckdb.DuckDBPyConnection) -> None:
    found = retry_gaps.sensitivity(three_links, days(1, 2))
    assert dict(found.select("window", "chains").iter_rows()) == {
        "half as wide": 1,
        "as configured": 1,
        "twice as wide": 1,
        "four times as wide": 2,
        "just before": 1,
        "just after": 0,
    }
    wide = found.filter(window="four times as wide").row(0, named=True)
    assert (wide["recovered"], wide["chain_success_ratio"], wide["manual_success_ratio"]) == (1, 0.5, 0.0)
    assert found["fisher_p"].to_list()[-1] is None


def test_gaps_by_hand_are_those_of_a_day(three_links: duckdb.DuckDBPyConnection) -> None:
    launches = by_launch(three_links, days(1, 2))
    assert sorted(retry_gaps.manual_gaps(launches, 24 * 60)["gap_min"]) == [7.0, 40.0]
    assert retry_gaps.manual_gaps(launches, 40)["gap_min"].max() == 40.0
    assert retry_gaps.manual_gaps(launches, 39.9)["gap_min"].to_list() == [7.0]
    assert retry_gaps.automatic_gaps(launches)["gap_min"].to_list() == [10.0]
