"""Names on axes: visible, on one line, cut to a width, never two alike."""

import unicodedata

import polars as pl
import pytest

from gangline.charts.labels import AXIS_WIDTH, legible, shortened
from tests.report.making import HOSTILE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpu001", "gpu001"),
        ("two\nlines\tx", "two↵lines⇥x"),
        ("a\u202eb", "a\\u{202e}b"),
        ("a\x00\x7fb", "a\\u{0}\\u{7f}b"),
        ("a\u200bb", "a\\u{200b}b"),
        ("한국어", "한국어"),
        ("", "(empty)"),
    ],
)
def test_what_cannot_be_seen_is_shown(text: str, expected: str) -> None:
    assert legible(text) == expected


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("x" * 10, 10, "x" * 10),
        ("x" * 11, 10, "x" * 9 + "…"),
        ("한국어노드이름", 10, "한국어노…"),
        ("🐕" * 10, 6, "🐕🐕…"),
        ("x" * 10_000, 10, "x" * 9 + "…"),
        ("e\u0301" * 10, 5, "e\u0301" * 4 + "…"),
        ("👩‍👩‍👧‍👧" * 5, 6, "👩‍👩…"),
    ],
)
def test_cut_to_columns(text: str, width: int, expected: str) -> None:
    assert legible(text, width) == expected


@pytest.mark.parametrize("name", HOSTILE)
def test_every_name_fits(name: str) -> None:
    shown = legible(name, AXIS_WIDTH)
    assert sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in shown) <= AXIS_WIDTH + shown.count("\u200d")
    assert not any(unicodedata.category(c) in {"Cc", "Cs", "Zl"} for c in shown)


def test_names_alike_after_the_cut_stay_apart() -> None:
    frame = pl.DataFrame({"node": ["x" * 40 + "1", "x" * 40 + "2", "gpu", None, "x" * 40 + "1"]})
    cut = "x" * (AXIS_WIDTH - 1) + "…"
    assert shortened(frame, "node")["node_label"].to_list() == [cut, f"{cut} (2)", "gpu", "no value", cut]
