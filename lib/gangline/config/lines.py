"""Where the keys of a TOML text stand (tomllib gives no positions)."""

import re

Key = tuple[str | int, ...]

_HEADER = re.compile(r"^\s*(\[\[|\[)\s*(.+?)\s*(\]\]|\])\s*(#.*)?$")
_ASSIGNMENT = re.compile(
    r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")
_TOKEN = re.compile(r'"""|\'\'\'|"(?:[^"\\]|\\.)*"|\'[^\']*\'|#.*|[\[\]{}]')


def key_lines(text: str) -> dict[Key, int]:
    """The line (from 1) of every table header and assigned key, by its path; arrays of tables count from 0.

    Examples
    --------
    >>> key_lines('[a]\\nb = 1\\n[[s]]\\nkind = "x"')
    {('a',): 1, ('a', 'b'): 2, ('s', 0): 3, ('s', 0, 'kind'): 4}
    """
    lines: dict[Key, int] = {}
    table: Key = ()
    scanner = _ValueScanner()
    for number, line in enumerate(text.splitlines(), start=1):
        if scanner.is_open():
            scanner.feed(line)
        elif header := _HEADER.match(line):
            table = _table_path(header, lines)
            lines.setdefault(table, number)
        elif assignment := _ASSIGNMENT.match(line):
            lines.setdefault((*table, *_parts(assignment[1])), number)
            scanner.feed(line[assignment.end() :])
    return lines


def line_of(key: Key, lines: dict[Key, int]) -> int | None:
    """The line of a key, else of the nearest table above it that stands in the text."""
    while key and key not in lines:
        key = key[:-1]
    return lines.get(key)


def _parts(dotted: str) -> Key:
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))


def _table_path(header: re.Match[str], lines: dict[Key, int]) -> Key:
    parts = _parts(header[2])
    if header[1] == "[[":
        return (*parts, sum(1 for key in lines if key[:-1] == parts and isinstance(key[-1], int)))
    return parts


class _ValueScanner:
    """Follows a value over lines: open brackets and multi-line strings."""

    def __init__(self) -> None:
        self.depth = 0
        self.quote = ""

    def is_open(self) -> bool:
        return self.depth > 0 or bool(self.quote)

    def feed(self, line: str) -> None:
        position = 0
        while position < len(line):
            if self.quote:
                end = line.find(self.quote, position)
                if end < 0:
                    return
                self.quote, position = "", end + 3
            elif token := _TOKEN.search(line, position):
                position = token.end()
                self._see(token[0])
            else:
                return

    def _see(self, mark: str) -> None:
        if mark in ('"""', "'''"):
            self.quote = mark
        elif mark in "[{":
            self.depth += 1
        elif mark in "]}":
            self.depth -= 1
