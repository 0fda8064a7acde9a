"""The unit of comparison: the design's checks, where the direction turns, attempts by number, equal evidence."""

import polars as pl
import pytest

from gangline import retry_units
from gangline.estimates.proportions import proportion
from gangline.retry_units import Comparison
from tests.recovering import by_hand, chains_of

SCHEMA = {
    "chain_id": pl.String,
    "attempt": pl.Int64,
    "is_chain_within": pl.Boolean,
    "manual_sequence_id": pl.String,
    "manual_attempt": pl.Int64,
    "is_manual_sequence_within": pl.Boolean,
    "reached_training": pl.Boolean,
    "training_evidence": pl.String,
}


def chain(name: str, *reached: bool | None, within: bool = True) -> pl.DataFrame:
    rows = [(name, place, within, None, None, None, one, "duration") for place, one in enumerate(reached, 1)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def sequence(name: str, *reached: bool | None, within: bool = True, evidence: str = "duration") -> pl.DataFrame:
    rows = [(None, None, None, name, place, within, one, evidence) for place, one in enumerate(reached, 1)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def test_checks_of_the_design() -> None:
    # 504-GPU report: 4 of 12 chains, 13 of 104 launches by hand, 61 retries; the chains' first attempts never trained
    launches = pl.concat([by_hand(13, 104), *(chain(f"c{n}", False, n < 4) for n in range(12))], how="diagonal")
    first, second, third, *_ = retry_units.comparisons(chains_of(4, 8, 61), launches)
    assert first.ratio.value == pytest.approx(2.667, abs=5e-4)
    assert (first.ratio.low, first.ratio.high) == pytest.approx((0.982, 6.148), abs=5e-4)
    assert first.p.value == pytest.approx(0.0749, abs=5e-5)
    assert second.ratio.value == pytest.approx(0.525, abs=5e-4)
    assert (second.ratio.low, second.ratio.high) == pytest.approx((0.185, 1.444), abs=5e-4)
    assert second.p.value == pytest.approx(0.293, abs=5e-4)
    assert (third.manual.numerator, third.manual.n) == (13, 116)
    words = "single retries against launches by hand (0.52 times, p = 0.293)"
    assert retry_units.turned([first, second, third]) == [words]


def test_the_direction_of_a_tie_does_not_turn() -> None:
    even = Comparison("a", "b", proportion(1, 2), proportion(2, 4))
    more = Comparison("a", "c", proportion(1, 2), proportion(1, 4))
    assert (even.higher, more.higher) == ("neither", "automatic")
    assert retry_units.turned([even, more]) == []
    assert retry_units.turned([more, even]) == []


def test_an_empty_side_is_not_known() -> None:
    nothing = retry_units.comparisons(chains_of(1, 1, 2), by_hand(0, 0))
    assert {one.higher for one in nothing} == {"not known"}
    table = retry_units.table(nothing)
    assert table["times"].to_list() == ["not measured"] * 6
    assert table["by_hand"].to_list() == ["not measured"] * 6
    assert retry_units.intervals(nothing)["unit"].to_list() == ["chains", "single retries"]


def test_sequences_by_hand_are_judged_as_chains_are() -> None:
    launches = pl.concat(
        [
            sequence("s1", True),
            sequence("s2", True, False),
            sequence("s3", False, True),
            sequence("s4", False, None),
            sequence("s5", None, True),
            sequence("s6", True, within=False),
            chain("c", False, True),
        ]
    )
    found = {name: rest for name, *rest in retry_units.manual_sequences(launches).iter_rows()}
    assert found == {
        "s1": [1, True, False],
        "s2": [2, True, False],
        "s3": [2, True, True],
        "s4": [2, None, None],
        "s5": [2, True, True],
    }
    *_, all_sequences, longer = retry_units.comparisons(chains_of(1, 1, 2), launches)
    assert (all_sequences.manual.numerator, all_sequences.manual.n) == (4, 4)
    assert (longer.manual.numerator, longer.manual.n) == (2, 3)


def test_recovery_by_attempt_number() -> None:
    launches = pl.concat(
        [
            chain("c1", True, False, True, False),
            chain("c2", False, True),
            chain("c3", False, False),
            chain("c4", False, False, None),
            chain("c5", False, True, within=False),
        ]
    )
    columns = ("attempt", "tried", "open", "trained", "ended", "recovered")
    assert retry_units.by_attempt(launches).select(columns).rows() == [
        (1, 4, 0, 1, 0, 0),
        (2, 4, 0, 1, 1, 1),
        (3, 2, 1, 1, 1, 2),
    ]
    shares = retry_units.by_attempt(launches)["success_share"].to_list()
    assert shares == [0.25, 0.25, 1.0]


def test_no_chain_has_no_attempt() -> None:
    assert retry_units.by_attempt(sequence("s1", True)).is_empty()


def test_an_attempt_that_is_open_has_no_share() -> None:
    assert retry_units.by_attempt(chain("c", False, None))["success_share"].to_list() == [0.0, None]


def test_evidence_and_success_on_equal_evidence() -> None:
    launches = pl.concat([sequence("s1", True), sequence("s2", False, evidence="run"), chain("c0", False, True)])
    assert retry_units.evidence(launches).rows() == [("duration", 3, 0.75, 2, 1), ("run", 1, 0.25, 0, 1)]
    chains = chains_of(1, 0, 1).with_columns(has_equal_evidence=True, training_evidence=pl.lit("duration"))
    found = retry_units.on_equal_evidence(chains, launches)
    assert [(one.automatic_unit, one.automatic.value, one.manual.value) for one in found] == [
        ("chains, duration", 1.0, 1.0),
        ("single retries, duration", 1.0, 1.0),
        ("chains, run", None, 0.0),
        ("single retries, run", None, 0.0),
    ]


def test_chains_of_mixed_evidence_are_in_no_comparison_of_equal_evidence() -> None:
    chains = chains_of(1, 0, 1).with_columns(has_equal_evidence=False, training_evidence=pl.lit("duration"))
    whole, single = retry_units.on_equal_evidence(chains, sequence("s1", True))
    assert (whole.automatic.n, single.automatic.n) == (0, 0)
