"""Windows of time that a report covers: the whole export, dates of the cluster's zone, or an ISO week."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Self
from zoneinfo import ZoneInfo

WEEK = re.compile(r"(\d{4})-?W(\d{1,2})")
DAY = timedelta(days=1)
INSTANT = timedelta(microseconds=1)
WHOLE_EXPORT = "whole export"
NO_DATA = "no data"


class WindowError(ValueError):
    """A window that cannot be; the message is one line for the user."""


@dataclass(frozen=True, slots=True)
class Window:
    """A half-open span of UTC instants, `[start, end)`.

    Attributes
    ----------
    start, end : datetime
        UTC-aware.
    time_zone : str
        The cluster's zone (IANA name): days and weeks are cut there.
    label : str
        How a page names the window: `2025-W41`, `2025-09-01 to 2025-11-12` (last day included), `whole export`.
    """

    start: datetime
    end: datetime
    time_zone: str
    label: str

    @classmethod
    def whole(cls, first_at: datetime | None, latest_at: datetime | None, time_zone: str) -> Self:
        """Cover a whole export from its first to its latest instant, that one included; empty where it holds none."""
        if first_at is None or latest_at is None:
            return cls(datetime.fromtimestamp(0, UTC), datetime.fromtimestamp(0, UTC), time_zone, NO_DATA)
        return cls(first_at.astimezone(UTC), latest_at.astimezone(UTC) + INSTANT, time_zone, WHOLE_EXPORT)

    @classmethod
    def between(cls, start: str, end: str, time_zone: str) -> Self:
        """Cover `start` to `end`, dates (or times) of the zone; `end` is not part of it.

        Seven days from a Monday are that ISO week, whatever way they were asked for.

        Raises
        ------
        WindowError
            If a text is no date, or `end` is not after `start`.

        Examples
        --------
        >>> Window.between("2025-10-06", "2025-10-13", "Asia/Seoul").label
        '2025-W41'
        >>> Window.between("2025-09-01", "2025-11-13", "UTC").folder
        '2025-09-01_2025-11-13'
        """
        first, last = _local(start, time_zone), _local(end, time_zone)
        if last <= first:
            raise WindowError(f"the window's end {end} is not after its start {start} (the end is not part of it)")
        return cls(first.astimezone(UTC), last.astimezone(UTC), time_zone, _label(first, last))

    @classmethod
    def week(cls, text: str, time_zone: str) -> Self:
        """Cover an ISO week, Monday to Monday in the zone.

        Raises
        ------
        WindowError
            If the text is not a week that exists.

        Examples
        --------
        >>> print(Window.week("2025-W41", "Asia/Seoul").start)
        2025-10-05 15:00:00+00:00
        """
        match = WEEK.fullmatch(text.strip())
        try:
            monday = date.fromisocalendar(int(match[1]), int(match[2]), 1) if match else None
        except ValueError:
            monday = None
        if monday is None:
            raise WindowError(f"{text!r} is not an ISO week; write it as 2025-W41")
        return cls.between(monday.isoformat(), (monday + 7 * DAY).isoformat(), time_zone)

    @classmethod
    def last_week(cls, now: datetime, time_zone: str) -> Self:
        """Cover the last ISO week that is over at `now`."""
        today = now.astimezone(ZoneInfo(time_zone)).date()
        monday = today - timedelta(days=today.weekday() + 7)
        return cls.between(monday.isoformat(), (monday + 7 * DAY).isoformat(), time_zone)

    @property
    def is_whole(self) -> bool:
        """Whether this is the whole export (or the nothing of an empty one)."""
        return self.label in (WHOLE_EXPORT, NO_DATA)

    @property
    def folder(self) -> str:
        """The name of the folder that holds the window's pages: `2025-W41`, else `<first day>_<day after the last>`."""
        if WEEK.fullmatch(self.label):
            return self.label
        if self.label == NO_DATA:
            return "no_data"
        if self.is_whole:
            return f"{self.local_start:%Y-%m-%d}_{_day_after(self.local_end):%Y-%m-%d}"
        return f"{_stamp(self.local_start)}_{_stamp(self.local_end)}"

    @property
    def edges(self) -> tuple[str, str]:
        """What asks for this window again: two texts for `between`, empty for the whole export."""
        if self.is_whole:
            return "", ""
        moments = (self.local_start, self.local_end)
        start, end = (f"{at:%Y-%m-%d}" if _is_midnight(at) else at.isoformat() for at in moments)
        return start, end

    def span(self) -> str:
        """Say from which to which day (of the zone) the window goes, both included."""
        if not self.days:
            return NO_DATA
        first, last = self.local_start, self.local_end
        if not self.is_whole and not (_is_midnight(first) and _is_midnight(last)):
            return f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M}"
        final = _day_after(last) - DAY if self.is_whole else (last - INSTANT).date()
        return f"{first:%Y-%m-%d}" if final == first.date() else f"{first:%Y-%m-%d} to {final:%Y-%m-%d}"

    @property
    def days(self) -> float:
        """Length in days of 24 hours."""
        return (self.end - self.start) / DAY

    def previous(self) -> Self | None:
        """Give the window of the same length just before (whole days stay whole days); None for the whole export."""
        if self.is_whole:
            return None
        first, last = self.local_start, self.local_end
        if _is_midnight(first) and _is_midnight(last):
            before = datetime.combine(first.date() - (last.date() - first.date()), time(), first.tzinfo)
        else:
            before = (self.start - (self.end - self.start)).astimezone(first.tzinfo)
        return replace(self, start=before.astimezone(UTC), end=self.start, label=_label(before, first))

    def before(self, count: int) -> list[Self]:
        """Give the `count` windows before this one, newest first; none for the whole export."""
        windows: list[Self] = []
        window: Self | None = self
        while len(windows) < count and (window := (window.previous() if window else None)):
            windows.append(window)
        return windows

    @property
    def local_start(self) -> datetime:
        """The start on the zone's clock."""
        return self.start.astimezone(ZoneInfo(self.time_zone))

    @property
    def local_end(self) -> datetime:
        """The end on the zone's clock."""
        return self.end.astimezone(ZoneInfo(self.time_zone))


def _local(text: str, time_zone: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise WindowError(f"{text!r} is not a date; write it as 2025-09-01 (or 2025-09-01T12:00)") from None
    zone = ZoneInfo(time_zone)
    return moment.astimezone(zone) if moment.tzinfo else moment.replace(tzinfo=zone)


def _is_midnight(moment: datetime) -> bool:
    return moment.timetz().replace(tzinfo=None) == time()


def _day_after(end: datetime) -> date:
    """The day after the last of an export whose latest instant lies just before `end`; at midnight it begins no day."""
    latest = end - INSTANT
    return latest.date() if _is_midnight(latest) else latest.date() + DAY


def _label(first: datetime, last: datetime) -> str:
    if not (_is_midnight(first) and _is_midnight(last)):
        return f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M}"
    if first.weekday() == 0 and last.date() - first.date() == 7 * DAY:
        year, week, _ = first.isocalendar()
        return f"{year}-W{week:02d}"
    final = last.date() - DAY
    return f"{first:%Y-%m-%d}" if final == first.date() else f"{first:%Y-%m-%d} to {final:%Y-%m-%d}"


def _stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}" if _is_midnight(moment) else f"{moment:%Y-%m-%dT%H%M}"
