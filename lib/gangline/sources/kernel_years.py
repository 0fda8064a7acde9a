"""The year of times that have none: months that step back by more than half a year are a New Year.

Of logs of several nodes in one file, one behind the other, each is counted by itself.
"""

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from gangline.sources.kernel_stamps import MONTH_NUMBERS, MONTHS

HALF_YEAR_MONTHS = 6
TURN_DAYS, LAST_DAY = 2, 31
LATE_BY = timedelta(days=1)  # a clock ahead, or a log of a zone east of ours
LEAP_CYCLE_YEARS = 8
ALL_NODES = b""
_CLOCK_SET = re.compile(rb"setting system clock to (\d{4})-(\d\d)-\d\d")
_FILE_DAY = re.compile(r"(?<!\d)(20\d\d)[-_]?([01]\d)[-_]?([0-3]\d)(?!\d)")


@dataclass
class YearCount:
    """Whole years passed since the first line, told from stamps of which each is the first of its month.

    A line of the last days of December right behind one of the first of January is a late one of the old year.
    """

    month: bytes = b""
    day: int = 0
    passed: int = 0

    def step(self, stamp: bytes) -> int:
        """Takes a line's stamp, and gives the years passed up to it."""
        month, day = stamp[:3], int(stamp[4:6])
        is_late = self.month == b"Jan" and self.day <= TURN_DAYS and month == b"Dec" and day > LAST_DAY - TURN_DAYS
        if self.month:
            self.passed += -1 if is_late else _turns(self.month, month) > 0
        self.month, self.day = month, day
        return self.passed


def _turns(before: bytes, after: bytes) -> int:
    """New Years between two months that lie less than half a year apart: 1, 0 or -1."""
    ahead = MONTH_NUMBERS[after] - MONTH_NUMBERS[before]
    return (ahead < -HALF_YEAR_MONTHS) - (ahead > HALF_YEAR_MONTHS)


@dataclass
class Years:
    """The year of each line of a log; by node where the logs of several nodes were put one behind the other."""

    first: dict[bytes, int]  # by node, and of all lines
    is_by_node: bool = False
    counts: dict[bytes, YearCount] = field(default_factory=dict)

    def of(self, head: re.Match[bytes]) -> int:
        """The year of the next line, by its head (groups: month, stamp, host)."""
        node = head["host"] if self.is_by_node else ALL_NODES
        count = self.counts.setdefault(node, YearCount())
        if head["month"] != count.month:
            count.step(head["stamp"])
        return self.first.get(node, self.first[ALL_NODES]) + count.passed


@dataclass
class _Stretch:
    """Lines that come in order: the years that pass over them, and the year of the first where a line tells it."""

    count: YearCount = field(default_factory=YearCount)
    latest: bytes = b""
    told: int | None = None

    def see(self, head: re.Match[bytes]) -> None:
        if head["month"] != self.count.month:
            self.count.step(head["stamp"])

    def hear(self, line: bytes) -> None:
        """Takes a line in which the kernel may read the year off its clock chip."""
        told = _CLOCK_SET.search(line)
        if told and self.told is None:
            turns = _turns(MONTHS[int(told[2]) % 12 - 1].encode(), self.count.month)
            self.told = int(told[1]) + turns - self.count.passed

    def first_year(self, pattern: re.Pattern[bytes], limit: datetime) -> int:
        """What a line tells; else the latest is of the last year in which it is not later than `limit`."""
        head = pattern.match(self.latest)
        latest = limit.year if head is None else _latest_year(head["stamp"], limit)
        return latest - self.count.passed if self.told is None else self.told


@dataclass
class _Survey:
    """Finds whether nodes come one after the other in a log, each from an earlier time on than the one before ended."""

    stretches: dict[bytes, _Stretch] = field(default_factory=lambda: {ALL_NODES: _Stretch()})
    node: bytes = ALL_NODES
    is_mixed: bool = False
    goes_back: bool = False

    def see(self, head: re.Match[bytes], latest: re.Match[bytes] | None) -> None:
        """Takes the first line of a node or a month, and the line before it."""
        node = head["host"]
        if node != self.node and latest is not None:
            self.is_mixed |= node in self.stretches
            self.goes_back |= _goes_back(latest["stamp"], head["stamp"])
            self.stretches[self.node].latest = latest.string
        self.node = node
        for key in (ALL_NODES, node):
            self.stretches.setdefault(key, _Stretch()).see(head)

    def hear(self, line: bytes) -> None:
        """Takes a line that may tell the year."""
        for key in (ALL_NODES, self.node):
            self.stretches[key].hear(line)

    def years(self, latest: bytes, pattern: re.Pattern[bytes], limit: datetime) -> Years:
        """What all lines up to the latest have told."""
        for key in (ALL_NODES, self.node):
            self.stretches.setdefault(key, _Stretch()).latest = latest
        first = {node: stretch.first_year(pattern, limit) for node, stretch in self.stretches.items()}
        return Years(first, self.goes_back and not self.is_mixed)


def years_of(lines: Iterable[bytes], pattern: re.Pattern[bytes], limit: datetime) -> Years:
    """The years of the lines that `pattern` matches (groups: month, stamp, host)."""
    survey, same, same_text, as_before, latest = _Survey(), slice(0, 0), b"", b"", b""
    for line in lines:
        if not (as_before and line.startswith(as_before) and (line[same] == same_text or survey.is_mixed)):
            found = pattern.match(line)
            if found is None:
                continue
            survey.see(found, pattern.match(latest))
            same = slice(found.start("host"), found.end("host") + 1)
            as_before, same_text = line[: found.end("month")], line[same]
        if b"setting system clock" in line:
            survey.hear(line)
        latest = line
    return survey.years(latest, pattern, limit)


def _goes_back(before: bytes, after: bytes) -> bool:
    """True where a stamp cannot follow another within half a year."""
    turns = _turns(before[:3], after[:3])
    return turns < 0 or (turns == 0 and _month_and_day(after) < _month_and_day(before))


def _month_and_day(stamp: bytes) -> tuple[int, int]:
    return MONTH_NUMBERS[stamp[:3]], int(stamp[4:6])


def limit_of(path: Path, exported_at: datetime | None) -> datetime:
    """No line of a file is later than its export; else the day in its name (logrotate's), else its time on disk."""
    return exported_at or _day_of(path.name) or datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _latest_year(stamp: bytes, limit: datetime) -> int:
    month, day = MONTH_NUMBERS[stamp[:3]], int(stamp.split()[1])
    bound = (limit + LATE_BY).date()
    for year in range(bound.year, bound.year - LEAP_CYCLE_YEARS - 1, -1):
        if 1 <= day <= monthrange(year, month)[1] and date(year, month, day) <= bound:
            return year
    return bound.year


def _day_of(name: str) -> datetime | None:
    for year, month, day in _FILE_DAY.findall(name):
        try:
            return datetime(int(year), int(month), int(day), 23, 59, 59, tzinfo=UTC)
        except ValueError:
            continue
    return None
