"""The times that programs print at the head of a line, millions of them, as microseconds."""

import re
from zoneinfo import ZoneInfo

from gangline.sources.clocks import midnight_s
from gangline.sources.kernel_clock import KernelClock
from gangline.sources.kernel_stamps import iso, microseconds_since_epoch
from gangline.sources.records import ReadLog
from gangline.sources.table_times import YEARS

WITHIN_BYTES = 120  # where a line's own time stands, behind a rank or a level
_STAMP = re.compile(
    rb"(?<!\d)(\d{4}-\d\d-\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))? ?(?:(Z)|([+-])(\d\d):?(\d\d))?(?!\d)"
)
_UTC = ZoneInfo("UTC")


class LineTimes:
    """Reads the lines of one file in order; a line without a time has that of the latest before it.

    Examples
    --------
    >>> times = LineTimes(ZoneInfo("Asia/Seoul"), ReadLog())
    >>> times.of(b"[rank3]: 2026-03-02 10:00:00,500 step 7", 1), times.of(b"no time", 2)
    (1772413200500000, 1772413200500000)
    """

    def __init__(self, zone: ZoneInfo, log: ReadLog) -> None:
        self._zone = zone
        self._log = log
        self._clock = KernelClock(zone, log)
        self._latest: int | None = None

    def of(self, line: bytes, number: int) -> int | None:
        """Microseconds since 1970; null before the first line that tells."""
        found = _STAMP.search(line, 0, WITHIN_BYTES)
        if found:
            try:
                self._latest = self._microseconds(found, number)
            except (ValueError, OverflowError):
                self._log.odd("impossible_time", number)
        return self._latest

    def _microseconds(self, found: re.Match[bytes], number: int) -> int | None:
        day, hour, minute, second, fraction, is_utc, sign, offset_h, offset_min = found.groups()
        if int(day[:4]) not in YEARS:
            self._log.odd("clock_not_set", number)
            return self._latest
        midnight = midnight_s(day.decode(), _UTC if is_utc or sign else self._zone)
        if midnight is None or hour > b"23" or minute > b"59" or second > b"59":
            return self._on_a_clock_change(found, number)
        seconds = midnight + int(hour) * 3600 + int(minute) * 60 + int(second)
        if sign:
            seconds -= (int(offset_h) * 3600 + int(offset_min) * 60) * (-1 if sign == b"-" else 1)
        return seconds * 1_000_000 + (int(fraction.ljust(6, b"0")[:6]) if fraction else 0)

    def _on_a_clock_change(self, found: re.Match[bytes], number: int) -> int | None:
        at = self._clock.instant(iso(found[0].replace(b" ", b"T", 1).replace(b" ", b""), 0), number)
        return self._latest if at is None else microseconds_since_epoch(at)
