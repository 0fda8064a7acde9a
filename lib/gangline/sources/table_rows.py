"""One row of a table, and what its cells say: texts, numbers, flags."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
MAX_COUNT = 2**31 - 1
_NUMBER = re.compile(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


class RowError(ValueError):
    """A row that cannot be read: why, and the mend."""


@dataclass(frozen=True)
class Row:
    """The cells of one row by column name (in lower case), with the line it begins on and its text as it stands."""

    line: int
    raw: str
    cells: Mapping[str, str]

    def text(self, column: str) -> str | None:
        """A cell as it stands, spaces and line breaks included; null where blank or absent."""
        cell = self.cells.get(column, "")
        return cell if cell.strip() else None

    def word(self, column: str) -> str | None:
        """A cell without the spaces around it; null where blank or absent."""
        return self.cells.get(column, "").strip() or None

    def required_word(self, column: str) -> str:
        """A cell that must not be blank."""
        word = self.word(column)
        if word is None:
            raise RowError(f"{column} is empty: give it a value")
        return word

    def number(self, column: str) -> float | None:
        """A finite number of at least 0."""
        word = self.word(column)
        if word is None:
            return None
        value = float(word) if _NUMBER.fullmatch(word) else math.inf
        if not math.isfinite(value):
            raise RowError(f"{column} is {shown(word)}: give a number of at least 0, or leave it empty")
        return value

    def count(self, column: str) -> int | None:
        """A whole number of at least 0."""
        value = self.number(column)
        if value is None:
            return None
        if value != int(value) or value > MAX_COUNT:
            raise RowError(f"{column} is {shown(self.required_word(column))}: give a whole number, or leave it empty")
        return int(value)

    def flag(self, column: str) -> bool | None:
        """True or false, in one of the usual spellings."""
        word = self.word(column)
        if word is None:
            return None
        if word.casefold() not in FLAGS:
            raise RowError(f"{column} is {shown(word)}: write true or false, or leave it empty")
        return FLAGS[word.casefold()]


def shown(text: str) -> str:
    """A cell as a message quotes it, cut where it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
