"""The year of times that have none: months that step back by more than half a year are a New Year."""

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from gangline.sources.kernel_stamps import MONTH_NUMBERS, MONTHS

HALF_YEAR_MONTHS = 6
TURN_DAYS, LAST_DAY = 2, 31
LATE_BY = timedelta(days=1)  # a clock ahead, or a log of a zone east of ours
LEAP_CYCLE_YEARS = 8
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


def first_year(lines: Iterable[bytes], pattern: re.Pattern[bytes], limit: datetime) -> int:
    """The year of the first line that `pattern` matches (groups: month, stamp).

    A line in which the kernel reads the year off its clock chip decides; else the latest line is taken to be of the
    last year in which it is not later than `limit`.
    """
    count, latest, as_before = YearCount(), b"", b""
    for line in lines:
        if not (as_before and line.startswith(as_before)):
            found = pattern.match(line)
            if found is None:
                continue
            as_before = line[: found.end("month")]
            count.step(found["stamp"])
        latest = line
        told = _CLOCK_SET.search(line) if b"setting system clock" in line else None
        if told:
            return int(told[1]) + _turns(MONTHS[int(told[2]) % 12 - 1].encode(), count.month) - count.passed
    head = pattern.match(latest)
    return limit.year - count.passed if head is None else _latest_year(head["stamp"], limit) - count.passed


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
