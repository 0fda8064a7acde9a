"""Rebuilding records that free text broke."""

import pytest

from gangline.sources.slurm_align import align
from gangline.sources.slurm_columns import layout_of
from gangline.sources.slurm_text import AMBIGUOUS, MAX_FRAGMENT_LINES, UNREADABLE, Piece, Rebuilder

HEADER = "JobIDRaw|Partition|JobName|State|Submit|Start|End|NodeList"
TAIL = "COMPLETED|2026-03-02T10:00:00|2026-03-02T10:00:00|2026-03-02T11:00:00|n1"


def rebuilt(text: str, header: str = HEADER) -> list[Piece]:
    """The pieces of a text under a header."""
    rebuilder = Rebuilder(layout_of(header, None, "sacct.txt:1"))
    lines = list(enumerate(text.split("\n"), start=2))
    return [*rebuilder.feed(lines), *rebuilder.finish()]


def told(text: str, header: str = HEADER) -> list[tuple[int, str]]:
    """Each piece's line with its job name, or why it has none."""
    column = header.split("|").index("JobName")
    return [(piece.line, piece.fields[column] if piece.fields else piece.reason) for piece in rebuilt(text, header)]


def test_a_newline_and_a_delimiter_in_names_make_two_jobs() -> None:
    assert told(f"2|gpu|train\nstep2|{TAIL}\n3|gpu|a|b|{TAIL}") == [(2, "train\nstep2"), (4, "a|b")]


def test_many_lines_and_delimiters_in_one_name() -> None:
    name = "\n".join(f"x{line}|{'|' * line}" for line in range(30))
    assert told(f"1|gpu|ok|{TAIL}\n2|gpu|{name}|{TAIL}\n3|gpu|ok|{TAIL}") == [(2, "ok"), (3, name), (33, "ok")]


def test_an_open_last_column_takes_the_lines_after_it() -> None:
    header = "JobIDRaw|Partition|State|Submit|Start|End|NodeList|JobName"
    assert told(f"1|gpu|{TAIL}|a\nb|c\n\nd\n2|gpu|{TAIL}|e\n", header) == [(2, "a\nb|c\n\nd"), (6, "e")]


def test_an_open_first_column_takes_the_lines_before_it() -> None:
    header = "JobName|JobIDRaw|Partition|State|Submit|Start|End|NodeList"
    assert told(f"a|1|gpu|{TAIL}\nb\nc|2|gpu|{TAIL}", header) == [(2, "a"), (3, "b\nc")]


def test_two_open_ends_leave_a_stray_line_in_doubt() -> None:
    header = "JobName|JobIDRaw|Partition|State|Submit|Start|End|NodeList|Comment"
    text = f"a|1|gpu|{TAIL}|\nb|2|gpu|{TAIL}|\nstray\nc|3|gpu|{TAIL}|\nd|4|gpu|{TAIL}|"
    assert told(text, header) == [
        (2, "a"), (3, AMBIGUOUS), (4, UNREADABLE), (5, AMBIGUOUS), (6, "d"),
    ]  # fmt: skip


def test_a_delimiter_between_two_free_columns_is_ambiguous() -> None:
    header = "JobIDRaw|JobName|Comment|State|Submit|Start|End|NodeList"
    assert told(f"1|a|b|c|{TAIL}\n2|a|b|{TAIL}", header) == [(2, AMBIGUOUS), (3, "a")]


def test_a_doubt_about_columns_that_are_not_read_is_none() -> None:
    header = "JobIDRaw|JobName|State|Submit|Start|End|NodeList|Comment|Constraints|UID"
    assert told(f"1|a|{TAIL}|x|y|z|0", header) == [(2, "a")]


def test_a_name_that_looks_like_the_next_row_takes_both_down() -> None:
    assert told(f"1|gpu|x\n7|gpu|y|{TAIL}\n8|gpu|z|{TAIL}") == [(2, AMBIGUOUS), (4, "z")]


def test_a_damaged_line_leaves_its_neighbours() -> None:
    cut = "|".join(TAIL.split("|")[2:])
    assert told(f"1|gpu|a|{TAIL}\n{cut}\n3|gpu|c|{TAIL}") == [(2, "a"), (3, UNREADABLE), (4, "c")]
    assert told(f"1|gpu|a|{TAIL}\n2|gpu|b|SOON{TAIL[9:]}|\n3|gpu|c|{TAIL}")[0] == (2, "a")


def test_an_open_end_swallows_no_cut_record() -> None:
    read, unread = (f"JobIDRaw|Partition|{{}}State|Submit|Start|End|NodeList|{last}" for last in ("JobName", "WorkDir"))
    cut = f"2|gpu|b|COMPL\n3|gpu|c|{TAIL}|/tmp"
    assert told(f"1|gpu|a|{TAIL}|/tmp\n{cut}", unread.format("JobName|")) == [(2, "a"), (3, AMBIGUOUS)]
    late = f"{'|'.join(TAIL.split('|')[2:])}|b"
    text = f"1|gpu|{TAIL}|a\n{late}\n3|gpu|{TAIL}|c"
    assert told(text, read.format("")) == [(2, AMBIGUOUS), (4, "c")]


def test_a_file_cut_in_the_middle_of_a_record() -> None:
    assert told(f"1|gpu|a|{TAIL}\n2|gpu|b|COMPL") == [(2, "a"), (3, UNREADABLE)]


def test_blank_lines_are_no_records() -> None:
    assert told(f"1|gpu|a|{TAIL}\n\n2|gpu|b|{TAIL}\n\n\n") == [(2, "a"), (4, "b")]


def test_endless_fragments_are_given_up_in_bounded_pieces() -> None:
    pieces = rebuilt("\n".join(["junk"] * (3 * MAX_FRAGMENT_LINES)))
    assert [piece.line for piece in pieces] == [2, MAX_FRAGMENT_LINES + 3, 2 * MAX_FRAGMENT_LINES + 4]
    assert {piece.fields is None for piece in pieces} == {True}


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_commas_in_node_lists_and_tres_are_told_from_delimiters(delimiter: str) -> None:
    header = "JobIDRaw|JobName|State|Submit|Start|End|NodeList|AllocTRES|UID".replace("|", delimiter)
    row = f"1|a|{TAIL}[1-2,4],m5|cpu=1,gres/gpu=8|1000".replace("|", delimiter)
    (piece,) = rebuilt(row, header)
    assert piece.fields
    assert piece.fields[6:] == ["n1[1-2,4],m5", "cpu=1,gres/gpu=8", "1000"]


def test_whole_asks_for_one_record_or_nothing() -> None:
    layout = layout_of(HEADER, None, "sacct.txt:1")
    rows = [f"1|gpu|a|{TAIL}", f"2|gpu|b|{TAIL}"]
    (both,) = align(rows, layout, whole=True)
    assert both.fields
    assert both.fields[2] == f"a|{TAIL}\n2|gpu|b"
    assert [segment.fields and segment.fields[2] for segment in align(rows, layout)] == ["a", "b"]
    assert align(["1|gpu"], layout, whole=True) == []
