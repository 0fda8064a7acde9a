"""Wall times of kernel messages, which come one after the other, to UTC."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from gangline.sources.clocks import readings
from gangline.sources.kernel_stamps import Stamp, full, zone_named
from gangline.sources.records import ReadLog
from gangline.sources.table_times import YEARS

DISORDER = timedelta(minutes=5)  # how far lines may come out of order and still tell which reading is meant


class KernelClock:
    """Reads wall times in order; nothing that a clock shows is an error, but what is strange is counted."""

    def __init__(self, zone: ZoneInfo, log: ReadLog) -> None:
        self._zone = zone
        self._log = log
        self._latest: datetime | None = None

    def instant(self, wall: datetime, line: int) -> datetime | None:
        """The instant, null where the clock was not set; in an hour that a clock change repeats, the order decides."""
        if wall.year not in YEARS:
            self._log.odd("clock_not_set", line)
            return None
        try:
            at = self._reading(wall, line)
        except OverflowError:
            self._log.odd("clock_not_set", line)
            return None
        self._latest = at
        return at

    def of_stamp(self, read: Stamp, stamp: bytes, year: int, line: int) -> datetime | None:
        """The instant of a stamp as its envelope writes it; null, and counted, where no calendar or clock shows it."""
        try:
            wall = read(stamp, year)
        except (ValueError, KeyError, OverflowError):
            self._log.odd("impossible_time", line)
            return None
        at = self.instant(wall, line)
        named = zone_named(stamp) if read is full else None
        if at is not None and named not in (None, at.astimezone(self._zone).tzname()):
            self._log.odd("other_time_zone", line)
        return at

    def _reading(self, wall: datetime, line: int) -> datetime:
        found = readings(wall, self._zone)
        if not found:
            self._log.odd("impossible_local_time", line)
            return wall.replace(tzinfo=self._zone).astimezone(UTC)
        if len(found) > 1:
            self._log.odd("ambiguous_local_time", line)
        floor = found[0] if self._latest is None else self._latest - DISORDER
        return next((at for at in found if at >= floor), found[0])
