"""Names from logs made legible: nothing invisible, nothing that turns the line, cut to a width."""

import unicodedata

import polars as pl

ELLIPSIS = "…"
AXIS_WIDTH = 28
ZERO_WIDTH_JOINER = "\u200d"
_PICTURES = {"\n": "↵", "\t": "⇥"}
_INVISIBLE = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}


def legible(text: str, width: int | None = None) -> str:
    """Show a text on one line: a line's end as ↵, other invisible characters as `\\u{...}`.

    Cut to `width`, which counts columns: Korean letters and emoji take two, combining marks none.

    Examples
    --------
    >>> legible("train\\nstep2"), legible("x" * 30, 8), legible("")
    ('train↵step2', 'xxxxxxx…', '(empty)')
    """
    if not text:
        return "(empty)"
    if width is None:
        return "".join(map(_visible, text))
    head = text[: 4 * width]
    return _cut("".join(map(_visible, head)), width, always=len(head) < len(text))


def shortened(frame: pl.DataFrame, column: str, width: int = AXIS_WIDTH) -> pl.DataFrame:
    """Add `<column>_label`, the column made legible for an axis, equal only where the names are equal.

    Two names that are alike after the cut get their ordinal (` (2)`), so that a chart never adds them up.
    """
    names = frame[column].unique(maintain_order=True).to_list()
    labels: dict[object, str] = {}
    for name in names:
        labels[name] = unused("no value" if name is None else legible(str(name), width), set(labels.values()))
    mapped = pl.Series(f"{column}_label", [labels[name] for name in frame[column].to_list()], dtype=pl.String)
    return frame.with_columns(mapped)


def _visible(character: str) -> str:
    if character in _PICTURES:
        return _PICTURES[character]
    if character != ZERO_WIDTH_JOINER and unicodedata.category(character) in _INVISIBLE:
        return f"\\u{{{ord(character):x}}}"
    return character


def _columns(character: str) -> int:
    if character == ZERO_WIDTH_JOINER or unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _cut(text: str, width: int, always: bool) -> str:
    if not always and sum(map(_columns, text)) <= width:
        return text
    used = kept = 0
    for position, character in enumerate(text):
        used += _columns(character)
        if used > width - 1:
            break
        kept = position + 1
    return text[:kept].rstrip(ZERO_WIDTH_JOINER) + ELLIPSIS


def unused(label: str, taken: set[str]) -> str:
    """Give the label, with an ordinal where it is taken.

    >>> unused("gpu…", {"gpu…", "gpu… (2)"})
    'gpu… (3)'
    """
    ordinal, candidate = 1, label
    while candidate in taken:
        ordinal += 1
        candidate = f"{label} ({ordinal})"
    return candidate
