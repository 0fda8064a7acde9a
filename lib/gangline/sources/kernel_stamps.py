"""The clocks that stand in front of kernel messages, as wall times or instants."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
MONTH_NUMBERS = {name.encode(): number for number, name in enumerate(MONTHS, start=1)}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OFFSET = re.compile(rb"[+-]\d\d(?:\d\d)?")
_CLOCK = re.compile(rb"(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?")

Stamp = Callable[[bytes, int], datetime]


def iso(stamp: bytes, year: int) -> datetime:
    """`2026-12-31T21:00:03,141593+0900`, with either fraction mark and either spelling of the offset."""
    return datetime.fromisoformat(stamp.decode().replace(",", "."))


def month_day(stamp: bytes, year: int) -> datetime:
    """`Jan  1 00:00:02.123456`, in a year that the line does not tell."""
    month, day, clock = stamp.split()
    return _wall(year, month, day, clock)


def ctime(stamp: bytes, year: int) -> datetime:
    """`Thu Dec 31 21:00:03 2026`."""
    _, month, day, clock, told_year = stamp.split()
    return _wall(int(told_year), month, day, clock)


def full(stamp: bytes, year: int) -> datetime:
    """`Fri 2027-01-01 00:00:02.123456 UTC`, or `+08`; of zones only UTC is known by name, others are the config's."""
    _, day, clock, zone = stamp.split()
    offset = "Z" if zone in (b"UTC", b"GMT") else zone.decode() if _OFFSET.fullmatch(zone) else ""
    return datetime.fromisoformat(f"{day.decode()}T{clock.decode()}{offset}")


def zone_named(stamp: bytes) -> str | None:
    """The zone that a stamp of `full` names without telling its offset.

    >>> zone_named(b"Fri 2027-01-01 00:00:02 KST"), zone_named(b"Fri 2027-01-01 00:00:02 +08")
    ('KST', None)
    """
    zone = stamp.rpartition(b" ")[2]
    return zone.decode() if zone.isalpha() and zone not in (b"UTC", b"GMT") else None


def unix(stamp: bytes, year: int) -> datetime:
    """`1798761602.000000`."""
    seconds, _, fraction = stamp.partition(b".")
    return since_epoch(int(seconds) * 1_000_000 + int(fraction.ljust(6, b"0")[:6]))


def since_epoch(microseconds: int) -> datetime:
    """An instant from microseconds since 1970.

    Raises
    ------
    OverflowError
        If the calendar does not reach so far.
    """
    return _EPOCH + timedelta(microseconds=microseconds)


def microseconds_since_epoch(at: datetime) -> int:
    """The reverse of `since_epoch`.

    >>> microseconds_since_epoch(since_epoch(1_798_761_602_000_001))
    1798761602000001
    """
    return (at - _EPOCH) // timedelta(microseconds=1)


def _wall(year: int, month: bytes, day: bytes, clock: bytes) -> datetime:
    found = _CLOCK.fullmatch(clock)
    if found is None:
        raise ValueError(f"{clock!r} is no time of day")
    hour, minute, second = (int(part) for part in found.groups()[:3])
    fraction = int((found[4] or b"").ljust(6, b"0")[:6])
    return datetime(year, MONTH_NUMBERS[month], int(day), hour, minute, second, fraction)  # noqa: DTZ001
