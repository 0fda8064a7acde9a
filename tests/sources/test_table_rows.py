"""Cells: what they say, and what is refused instead of guessed."""

import pytest

from gangline.sources.table_rows import Row, RowError


def row(cell: str) -> Row:
    return Row(2, cell, {"cell": cell})


def test_blank_and_absent_cells_are_null() -> None:
    for blank in ("", "  ", "\t"):
        assert row(blank).text("cell") is row(blank).word("cell") is row(blank).number("cell") is None
        assert row(blank).flag("cell") is row(blank).count("cell") is row("x").word("other") is None


def test_text_is_kept_and_words_are_trimmed() -> None:
    assert (row(" a\nb ").text("cell"), row(" a\nb ").word("cell")) == (" a\nb ", "a\nb")


def test_numbers() -> None:
    assert (row(" 4.5 ").number("cell"), row("0").number("cell"), row("7.0").count("cell")) == (4.5, 0.0, 7)


@pytest.mark.parametrize("cell", ["-1", "nan", "inf", "1e999", "8 GPUs", "1_000", "1,5", "٣"])
def test_what_is_no_number_is_refused(cell: str) -> None:
    with pytest.raises(RowError, match="give a number of at least 0, or leave it empty"):
        row(cell).number("cell")


@pytest.mark.parametrize("cell", ["1.5", "3000000000"])
def test_what_is_no_count_is_refused(cell: str) -> None:
    with pytest.raises(RowError, match="give a whole number"):
        row(cell).count("cell")


def test_flags() -> None:
    assert [row(cell).flag("cell") for cell in ("true", "No", "1", "FALSE")] == [True, False, True, False]
    with pytest.raises(RowError, match="cell is 'perhaps': write true or false, or leave it empty"):
        row("perhaps").flag("cell")


def test_required_cells() -> None:
    with pytest.raises(RowError, match="cell is empty: give it a value"):
        row(" ").required_word("cell")


def test_long_cells_are_cut_in_messages() -> None:
    with pytest.raises(RowError, match=r"^cell is 'x{57}\.\.\.': write"):
        row("x" * 500).flag("cell")
