"""Times in a table's cells: ISO 8601 with an offset or Z, else on the clocks of the source's zone."""

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

from gangline.sources.clocks import ImpossibleTimeError, Instants, resolve
from gangline.sources.records import ReadLog, SourceOptions
from gangline.sources.table_rows import Row, RowError, shown

# 1970 and before are some tool's zero time; one end in the year 9999 would keep every open session running till then
YEARS = range(1971, 2100)
# fromisoformat alone would read the 13 digits of an epoch in milliseconds as a date of the year 1710.
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:?\d\d.*)?|\d{8}T\d{4}.*")


def ordered_instants(row: Row, columns: Sequence[str], options: SourceOptions, log: ReadLog) -> Instants:
    """The UTC instants of a row's cells, null where blank.

    Parameters
    ----------
    columns
        In the order in which their times must have come: where a clock change repeats an hour, the readings that
        keep this order stand, else the earlier ones; either is counted as `ambiguous_local_time`.

    Raises
    ------
    RowError
        If a cell is no time, if the clocks never showed it, or if the last column's time is before the one ahead.
    """
    walls = [wall_time(row, column) for column in columns]
    try:
        resolved = resolve(walls, ZoneInfo(options.time_zone))
    except ImpossibleTimeError as error:
        raise RowError(f"{error}: correct it, or give it with its offset") from error
    for (first, begun), (last, over) in list(pairwise(zip(columns, resolved.instants, strict=True)))[-1:]:
        if begun is not None and over is not None and over < begun:
            times = f"{last} {row.word(last)} is before {first} {row.word(first)}"
            raise RowError(f"{times}: correct one of them, or leave {last} empty")
    if resolved.is_ambiguous:
        log.odd("ambiguous_local_time", row.line)
    return resolved.instants


def wall_time(row: Row, column: str) -> datetime | None:
    """A cell as a time, with its offset where it has one."""
    word = row.word(column)
    if word is None:
        return None
    at = iso_time(word)
    if at is None:
        raise RowError(f"{column} is {shown(word)}: write it as 2026-03-02T14:05:00+09:00, or leave it empty")
    if at.year not in YEARS:
        raise RowError(f"{column} is {shown(word)}, a zero time or none of ours: leave it empty where it is not known")
    return at


def iso_time(text: str) -> datetime | None:
    """An ISO 8601 date, or date and time; null for any other text."""
    try:
        return datetime.fromisoformat(text) if _ISO.fullmatch(text) else None
    except ValueError:
        return None
