"""Figures: their rows, and the words that a change may be called."""

from collections.abc import Sequence

import pytest

from gangline.estimates import Estimate
from gangline.report import cards
from gangline.report.figures import Direction, Figure, Judgement

EIGHT = (0.50, 0.52, 0.49, 0.51, 0.50, 0.48, 0.52, 0.51)


def figure(
    value: float | None,
    previous: float | None,
    better: Direction = Direction.LOWER,
    history: Sequence[float | None] = EIGHT,
    p_value: float | None = None,
) -> Figure:
    made = Estimate.missing("ratio", "no session") if value is None else Estimate(value, "ratio", 531)
    return Figure("exclusions.top3_share_hours", made, previous, "Top three", "Share.", better, p_value, history)


def test_the_row_is_that_of_figures_json() -> None:
    assert figure(0.53, 0.51).row() == {
        "id": "exclusions.top3_share_hours",
        "value": 0.53,
        "unit": "ratio",
        "n": 531,
        "low": None,
        "high": None,
        "level": None,
        "method": "",
        "reason": None,
        "previous": 0.51,
    }


def test_a_missing_value_carries_its_reason() -> None:
    row = figure(None, 0.51).row()
    assert (row["value"], row["reason"]) == (None, "no session")


@pytest.mark.parametrize(
    ("value", "previous", "better", "expected"),
    [
        (0.53, 0.51, Direction.LOWER, Judgement.WORSE),
        (0.53, 0.51, Direction.HIGHER, Judgement.BETTER),
        (0.40, 0.51, Direction.LOWER, Judgement.BETTER),
        (0.53, 0.51, Direction.NEITHER, Judgement.OUTSIDE),
        (0.515, 0.51, Direction.LOWER, Judgement.USUAL),
        (0.52, 0.51, Direction.LOWER, Judgement.USUAL),
        (0.51, 0.51, Direction.LOWER, Judgement.USUAL),
        (None, 0.51, Direction.LOWER, Judgement.UNKNOWN),
        (0.51, None, Direction.LOWER, Judgement.UNKNOWN),
    ],
)
def test_words_of_a_change(value: float, previous: float, better: Direction, expected: Judgement) -> None:
    assert figure(value, previous, better).judgement() is expected


def test_fewer_than_eight_windows_are_no_range() -> None:
    assert figure(0.9, 0.51, history=EIGHT[1:]).judgement() is Judgement.USUAL
    assert figure(0.9, 0.51, history=(None, *EIGHT[1:])).judgement() is Judgement.USUAL


def test_an_exact_test_of_rates_counts_below_five_per_cent() -> None:
    assert figure(0.515, 0.51, p_value=0.049).judgement() is Judgement.WORSE
    assert figure(0.515, 0.51, p_value=0.05).judgement() is Judgement.USUAL


def test_no_change_is_neutral_and_square() -> None:
    written = cards.change(figure(0.51, 0.51), "2025-W40")
    assert "■" in written
    assert "is-better" not in written
    assert "is-worse" not in written
    assert "within the usual range" in written


def test_colour_follows_the_word() -> None:
    written = cards.change(figure(0.53, 0.51), "2025-W40")
    assert "is-worse" in written
    assert "▲</span> +2.0 points</b> vs 2025-W40, worse" in written


def test_no_window_before_is_said() -> None:
    assert "no value for 2025-W40" in cards.change(figure(0.53, None), "2025-W40")


def test_a_card_without_a_window_before_says_nothing_of_one() -> None:
    assert "vs" not in cards.cards([figure(0.53, None)], None)


def test_labels_are_escaped() -> None:
    hostile = Figure("a.b", Estimate(1.5, "h", 3), 1.0, "<script>", "<img src=x>")
    assert "<script" not in cards.cards([hostile], "<b>")
    assert "<img" not in cards.cards([hostile], "<b>")


@pytest.mark.parametrize(
    ("estimate", "shown"),
    [
        (Estimate(0.532, "ratio", 10), '53.2<span class="card-unit"> %</span>'),
        (Estimate(0.0001, "p", 10), "&lt; 0.001"),
        (Estimate(12345, "sessions", 12345), '12,345<span class="card-unit"> sessions</span>'),
        (Estimate.missing("h", "none"), '<span class="card-missing">not measured</span>'),
    ],
)
def test_large_values(estimate: Estimate, shown: str) -> None:
    assert f'<p class="card-value">{shown}</p>' in cards.cards([Figure("a.b", estimate, label="A")], None)


def test_a_course_breaks_where_a_value_is_missing() -> None:
    drawn = cards.course([1.0, 2.0, None, 3.0, 4.0], "x")
    assert drawn.count("<polyline") == 2
    assert 'points="3.0,23.0 29.5,16.3"' in drawn


def test_one_value_is_no_course() -> None:
    assert cards.course([None, 1.0], "x") == ""
