"""Lines of sacct text to records, where free text broke them: the cheapest reading, and whether it is the only one.

sacct escapes nothing, so a delimiter or a newline inside a name looks like the next column or the next record. Each
column's type says what may stand in it (`slurm_columns.ColumnKind`): every way of laying the tokens over the columns
is followed at once (a Viterbi search over columns), counting the delimiters and newlines that free text must have
held. A line that fits no record costs more than any of that. Two equally cheap readings that differ in a column that
is read make the record ambiguous.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gangline.sources.slurm_columns import ColumnKind, Layout

LINE_COST = 1 << 40
REFUSED = -1
LOOSE = frozenset({ColumnKind.TEXT, ColumnKind.WORD})


class Token(NamedTuple):
    """A stretch of text between delimiters."""

    text: str
    line: int
    starts_line: bool


@dataclass(frozen=True)
class Segment:
    """Consecutive lines that make one record, or one line that fits none (`fields` null)."""

    first: int
    last: int
    fields: list[str] | None
    is_ambiguous: bool = False


class _Start(NamedTuple):
    """Where a column of the record in hand begins: a linked list, newest first."""

    before: "_Start | None"
    column: int
    token: int


class _Done(NamedTuple):
    """Records and refused lines so far: a linked list, newest first."""

    before: "_Done | None"
    starts: _Start | None
    first: int
    end: int
    is_ambiguous: bool


class _Path(NamedTuple):
    cost: int
    signature: int
    is_ambiguous: bool
    starts: _Start | None
    done: _Done | None


_Front = dict[int, _Path]


def align(lines: Sequence[str], layout: Layout, whole: bool = False) -> list[Segment]:
    """The records and the refused lines that the lines make, in order.

    Parameters
    ----------
    lines
        Physical lines without their newlines.
    whole
        True asks for one record made of all the lines, or nothing.
    """
    tokens = [
        Token(text, number, position == 0)
        for number, line in enumerate(lines)
        for position, text in enumerate(line.split(layout.delimiter))
    ]
    front: _Front = {REFUSED: _Path(0, 0, False, None, None)}
    for index, token in enumerate(tokens):
        front = _advance(front, index, token, layout, whole)
    best = min(_finished(front, len(tokens), layout), key=lambda path: path.cost, default=None)
    return list(_segments(best, tokens, layout)) if best else []


def _advance(front: _Front, index: int, token: Token, layout: Layout, whole: bool) -> _Front:
    fits = _Fits(token.text, layout.kinds)
    following: _Front = {}
    for column, path in front.items():
        if token.starts_line:
            _begin_line(following, column, path, index, fits, layout, whole)
        elif column == REFUSED:
            _keep(following, REFUSED, path)
        elif column + 1 < layout.width and fits(column + 1):
            _keep(following, column + 1, _entered(path, column + 1, index, layout))
        if column != REFUSED and _stays(layout, column, token) and fits(column):
            _keep(following, column, path._replace(cost=path.cost + 1))
    return following


def _begin_line(
    following: _Front, column: int, path: _Path, index: int, fits: "_Fits", layout: Layout, whole: bool
) -> None:
    if column == layout.width - 1:
        path = _closed(path, index)
    elif column != REFUSED:
        return
    if not whole:
        refused = _Done(path.done, None, index, index + 1, False)
        _keep(following, REFUSED, path._replace(cost=path.cost + LINE_COST, done=refused))
    if fits(0) and not (whole and index):
        _keep(following, 0, _entered(path, 0, index, layout))


def _stays(layout: Layout, column: int, token: Token) -> bool:
    return layout.kinds[column] is ColumnKind.TEXT if token.starts_line else layout.may_continue(column)


def _entered(path: _Path, column: int, index: int, layout: Layout) -> _Path:
    tells = layout.is_read[column] or (column > 0 and layout.is_read[column - 1])
    signature = hash((path.signature, column, index)) if tells else path.signature
    return path._replace(signature=signature, starts=_Start(path.starts, column, index))


def _closed(path: _Path, index: int) -> _Path:
    first = path.starts
    while first is not None and first.before is not None:
        first = first.before
    begin = first.token if first else index
    done = _Done(path.done, path.starts, begin, index, path.is_ambiguous)
    return path._replace(is_ambiguous=False, starts=None, done=done)


def _keep(front: _Front, column: int, path: _Path) -> None:
    held = front.get(column)
    if held is None or path.cost < held.cost:
        front[column] = path
    elif path.cost == held.cost and (path.is_ambiguous or path.signature != held.signature):
        front[column] = held._replace(is_ambiguous=True)


def _finished(front: _Front, end: int, layout: Layout) -> Iterator[_Path]:
    for column, path in front.items():
        if column == layout.width - 1:
            yield _closed(path, end)
        elif column == REFUSED:
            yield path


def _segments(path: _Path, tokens: list[Token], layout: Layout) -> Iterator[Segment]:
    done, found = path.done, []
    while done is not None:
        found.append(done)
        done = done.before
    for part in reversed(found):
        fields = _fields(part, tokens, layout) if part.starts else None
        yield Segment(tokens[part.first].line, tokens[part.end - 1].line, fields, part.is_ambiguous)


def _fields(part: _Done, tokens: list[Token], layout: Layout) -> list[str]:
    fields = [""] * layout.width
    start: _Start | None = part.starts
    end = part.end
    while start is not None:
        fields[start.column] = _joined(tokens[start.token : end], layout.delimiter)
        end = start.token
        start = start.before
    return fields


def _joined(tokens: list[Token], delimiter: str) -> str:
    parts = [tokens[0].text]
    for token in tokens[1:]:
        parts += ["\n" if token.starts_line else delimiter, token.text]
    return "".join(parts)


class _Fits:
    """Whether one token's text may stand in a column, asked once a kind."""

    def __init__(self, text: str, kinds: tuple[ColumnKind, ...]) -> None:
        self.text = text
        self.kinds = kinds
        self.known: dict[ColumnKind, bool] = {}

    def __call__(self, column: int) -> bool:
        kind = self.kinds[column]
        if kind in LOOSE:
            return True
        if kind not in self.known:
            self.known[kind] = kind.pattern.fullmatch(self.text) is not None
        return self.known[kind]
