"""The records of `sacct -P` text, rebuilt where free text broke them over lines or shifted their columns.

A line whose fields fit the header is a record. Lines that do not are laid over the columns together
(`slurm_align.align`). What is left over may belong to the record before or after it: in the open last (first) column
it is added there; elsewhere a neighbour that may only look like a record is given up together with it, because a
wrong session is worse than a refused one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from gangline.sources.slurm_align import Segment, align
from gangline.sources.slurm_columns import ColumnKind, Layout

MAX_FRAGMENT_LINES = 400  # comments have tens of lines; the search for a reading must end
MAX_FRAGMENT_CHARS = 1_000_000
UNREADABLE = (
    "no sacct record: the columns do not fit the header, or the times are not in Slurm's own format; export with"
    " --delimiter='^|^' and SLURM_TIME_FORMAT=%s"
)
AMBIGUOUS = "free text holds delimiters or newlines that can be read in several ways; export with --delimiter='^|^'"

_DATED = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")

NumberedLine = tuple[int, str]


class Piece(NamedTuple):
    """A record's fields with the line it begins on, or why there are none."""

    line: int
    fields: list[str] | None
    text: str
    reason: str = ""
    is_rebuilt: bool = False


@dataclass
class Rebuilder:
    """Turns numbered lines into pieces, holding back what the next line may still change."""

    layout: Layout
    previous: Piece | None = None
    fragments: list[NumberedLine] = field(default_factory=list)
    fragment_chars: int = 0

    def feed(self, lines: Sequence[NumberedLine]) -> Iterator[Piece]:
        """The pieces that these lines complete."""
        split, delimiter, width, is_firm = str.split, self.layout.delimiter, self.layout.width, self.layout.is_firm
        for number, text in lines:
            fields = split(text, delimiter)
            if len(fields) != width or not is_firm(fields):
                yield from self._feed_doubtful(number, text)
            elif self.fragments:
                yield from self._settle(Piece(number, fields, text))
            else:
                if self.previous:
                    yield self.previous
                self.previous = Piece(number, fields, text)

    def finish(self) -> Iterator[Piece]:
        """The pieces that the end of the file completes."""
        while self.fragments and not self.fragments[-1][1].strip():
            self.fragments.pop()
        yield from self._settle(None)
        yield from [self.previous] if self.previous else []
        self.previous = None

    def _feed_doubtful(self, number: int, text: str) -> Iterator[Piece]:
        piece = self._standing(number, text)
        if piece is not None:
            yield from self._settle(piece)
            return
        self.fragments.append((number, text))
        self.fragment_chars += len(text)
        if len(self.fragments) > MAX_FRAGMENT_LINES or self.fragment_chars > MAX_FRAGMENT_CHARS:
            yield from self._give_up()

    def _standing(self, number: int, text: str) -> Piece | None:
        """The line as a record by itself: one with a single bad value, or made too wide by delimiters in free text."""
        fields = text.split(self.layout.delimiter)
        if len(fields) <= self.layout.width:
            return Piece(number, None, text, UNREADABLE) if self.layout.is_nearly_firm(fields) else None
        segments = align([text], self.layout, whole=True)
        return _piece(segments[0], [(number, text)]) if segments else None

    def _settle(self, following: Piece | None) -> Iterator[Piece]:
        """Decides about the fragments, now that the record after them (null: the file's end) is known."""
        fragments, self.fragments, self.fragment_chars = self.fragments, [], 0
        head, middle, tail = _parted(fragments, self.layout)
        if fragments and self.layout.is_open_at_both_ends:
            self.previous, middle, following = _doubted(self.previous, middle, following)
        joined, rest = _absorbed_after(self.previous, head, self.layout)
        if joined:
            following = following if middle else _disputed(head, following, self.layout)
            self.previous, head = joined, rest
        yield from [self.previous] if self.previous else []
        if not middle:
            head, tail = [], head
        yield from _refused(head)
        yield from middle
        claimed, tail = _absorbed_before(tail, following, self.layout)
        yield from _refused(tail)
        self.previous = claimed or following

    def _give_up(self) -> Iterator[Piece]:
        fragments, self.fragments, self.fragment_chars = self.fragments, [], 0
        yield from [self.previous] if self.previous else []
        self.previous = None
        yield from _refused(fragments)


def _parted(
    fragments: list[NumberedLine], layout: Layout
) -> tuple[list[NumberedLine], list[Piece], list[NumberedLine]]:
    """The fragments that open no record, the records they make, and the fragments that close none."""
    segments = align([text for _, text in fragments], layout) if len(fragments) > 1 else []
    made = [segment for segment in segments if segment.fields]
    if not made:
        return fragments, [], []
    first, last = made[0].first, made[-1].last
    inner = [segment for segment in segments if first <= segment.first <= last]
    return fragments[:first], [_piece(segment, fragments) for segment in inner], fragments[last + 1 :]


def _piece(segment: Segment, lines: Sequence[NumberedLine]) -> Piece:
    within = lines[segment.first : segment.last + 1]
    text = _text(within)
    if segment.fields is None:
        return Piece(within[0][0], None, text, UNREADABLE)
    if segment.is_ambiguous:
        return Piece(within[0][0], None, text, AMBIGUOUS)
    return Piece(within[0][0], segment.fields, text, is_rebuilt=True)


def _refused(lines: list[NumberedLine]) -> Iterator[Piece]:
    text = _text(lines)
    if text.strip():
        yield Piece(lines[0][0], None, text, UNREADABLE)


def _doubted(
    previous: Piece | None, middle: list[Piece], following: Piece | None
) -> tuple[Piece | None, list[Piece], Piece | None]:
    """The records around and among fragments, refused where these may end the one or begin the other.

    Only where both the first and the last column are free text, and one of them is read.
    """
    previous, following = _without_fields(previous), _without_fields(following)
    return previous, [piece._replace(fields=None, reason=AMBIGUOUS) for piece in middle], following


def _disputed(lines: list[NumberedLine], following: Piece | None, layout: Layout) -> Piece | None:
    """The record after fragments that the one before has taken: refused where they may as well be its beginning."""
    claimed, _ = _absorbed_before(lines, following, layout)
    if claimed and (claimed.fields is None or layout.is_read[0]):
        return _without_fields(following)
    return following


def _without_fields(piece: Piece | None) -> Piece | None:
    return piece and piece._replace(fields=None, reason=piece.reason or AMBIGUOUS)


def _absorbed_after(
    previous: Piece | None, lines: list[NumberedLine], layout: Layout
) -> tuple[Piece | None, list[NumberedLine]]:
    """The record with the fragments after it that its open end takes, or that leave it in doubt; and the others."""
    if previous is None or previous.fields is None or not lines:
        return None, lines
    if layout.kinds[-1] is ColumnKind.TEXT:
        fields = [*previous.fields[:-1], f"{previous.fields[-1]}\n{_text(lines)}"]
        added = Piece(previous.line, fields, _text([(0, previous.text), *lines]), is_rebuilt=True)
        return _unless_cut(added, lines, -1, layout)
    own = previous.text.split("\n")
    merged = align([*own, *(text for _, text in lines)], layout)[0]
    taken = merged.last + 1 - len(own)
    if merged.fields is None or taken <= 0:
        return None, lines
    broken = _column_of_newline(merged.fields, len(own) - 1)
    if _holds_anchor(previous.fields, range(broken + 1, layout.width), layout):
        return None, lines
    return Piece(previous.line, None, _text([(0, previous.text), *lines[:taken]]), AMBIGUOUS), lines[taken:]


def _absorbed_before(
    lines: list[NumberedLine], following: Piece | None, layout: Layout
) -> tuple[Piece | None, list[NumberedLine]]:
    """The record with the fragments before it that its open start takes, or that leave it in doubt; and the others."""
    if following is None or following.fields is None or not lines:
        return None, lines
    if layout.kinds[0] is ColumnKind.TEXT:
        fields = [f"{_text(lines)}\n{following.fields[0]}", *following.fields[1:]]
        added = Piece(lines[0][0], fields, _text([*lines, (0, following.text)]), is_rebuilt=True)
        return _unless_cut(added, lines, 0, layout)
    merged = align([*(text for _, text in lines), *following.text.split("\n")], layout)[-1]
    first = merged.first
    if merged.fields is None or first >= len(lines):
        return None, lines
    broken = _column_of_newline(merged.fields, len(lines) - first - 1)
    if _holds_anchor(following.fields, range(broken), layout):
        return None, lines
    return Piece(lines[first][0], None, _text([*lines[first:], (0, following.text)]), AMBIGUOUS), lines[:first]


def _unless_cut(
    added: Piece, lines: list[NumberedLine], column: int, layout: Layout
) -> tuple[Piece | None, list[NumberedLine]]:
    """The piece that took the lines into its open column, unless they may be what is left of a record of their own."""
    if not any(_is_cut_record(text, layout) for _, text in lines):
        return added, []
    return (_without_fields(added), []) if layout.is_read[column] else (None, lines)


def _is_cut_record(text: str, layout: Layout) -> bool:
    """Whether a line that is no record holds a job id in its place, or a time of its own."""
    fields = text.split(layout.delimiter)
    ids = (column for column in layout.anchors if layout.kinds[column] is ColumnKind.ID)
    has_id = any(ColumnKind.ID.pattern.fullmatch(fields[column]) for column in ids if column < len(fields) - 1)
    return has_id or any(_DATED.fullmatch(field) for field in fields)


def _text(lines: Sequence[NumberedLine]) -> str:
    return "\n".join(text for _, text in lines)


def _column_of_newline(fields: list[str], newline: int) -> int:
    """The column that holds a record's given newline, counted from 0."""
    seen = accumulate(value.count("\n") for value in fields)
    return next(column for column, count in enumerate(seen) if count > newline)


def _holds_anchor(fields: list[str], columns: range, layout: Layout) -> bool:
    """Whether a time or a state stands in these columns: more than a name would hold by chance."""
    firm = {ColumnKind.TIME, ColumnKind.STATE}
    return any(layout.kinds[column] in firm and fields[column] for column in columns)
