"""Wall-clock times without an offset, to UTC: what a clock change hides or repeats is decided in one place.

A wall time in the hour that a spring change leaves out never was. One in the hour that an autumn change repeats has
two readings; the times of one record (created, started, ended) decide together which one it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise, product
from zoneinfo import ZoneInfo

Instants = tuple[datetime | None, ...]
QUARTER = timedelta(minutes=15)


class ImpossibleTimeError(ValueError):
    """A wall time that the zone's clocks never showed."""


@dataclass(frozen=True)
class Resolved:
    """The instants of one record, in the order asked, and whether a clock change left them more than one reading."""

    instants: Instants
    is_ambiguous: bool


def readings(wall: datetime, zone: ZoneInfo) -> tuple[datetime, ...]:
    """The UTC instants at which the zone's clocks showed `wall`: none, one, or two (the earlier first).

    A `wall` that carries its own offset has one reading, whatever the zone.

    Examples
    --------
    >>> new_york = ZoneInfo("America/New_York")
    >>> [at.hour for at in readings(datetime(2026, 11, 1, 1, 30), new_york)]
    [5, 6]
    >>> readings(datetime(2026, 3, 8, 2, 30), new_york)
    ()
    """
    if wall.tzinfo is not None:
        return (wall.astimezone(UTC),)
    candidates = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    shown = {at for at in candidates if at.astimezone(zone).replace(tzinfo=None) == wall.replace(fold=0)}
    return tuple(sorted(shown))


def resolve(walls: Sequence[datetime | None], zone: ZoneInfo, elapsed_s: float | None = None) -> Resolved:
    """UTC instants of one record's wall times, given in the order in which they must have come.

    Of several readings, those that keep the order stand; of these, the one whose last step (start to end) is nearest
    to `elapsed_s`; then the earliest. Where none keeps the order, each time takes its earlier reading.

    Raises
    ------
    ImpossibleTimeError
        If the zone's clocks never showed one of the times.

    Examples
    --------
    >>> walls = [datetime(2026, 11, 1, 0, 50), datetime(2026, 11, 1, 1, 10)]
    >>> [at.isoformat() for at in resolve(walls, ZoneInfo("America/New_York"), elapsed_s=4800).instants]
    ['2026-11-01T04:50:00+00:00', '2026-11-01T06:10:00+00:00']
    """
    choices = [_possible(wall, zone) for wall in walls]
    candidates: list[Instants] = list(product(*choices))
    ordered = [instants for instants in candidates if _is_ordered(instants)]
    best = min(ordered or candidates[:1], key=lambda instants: _misfit_s(instants, elapsed_s))
    return Resolved(best, len(candidates) > 1)


def _possible(wall: datetime | None, zone: ZoneInfo) -> Instants:
    if wall is None:
        return (None,)
    found = readings(wall, zone)
    if not found:
        raise ImpossibleTimeError(f"{wall.isoformat()} never was in {zone.key}: the clocks skipped it")
    return found


def _is_ordered(instants: Instants) -> bool:
    return all(first <= second for first, second in pairwise(at for at in instants if at is not None))


def _misfit_s(instants: Instants, elapsed_s: float | None) -> float:
    if elapsed_s is None or len(instants) < 2:
        return 0.0
    started, ended = instants[-2:]
    return abs((ended - started).total_seconds() - elapsed_s) if started and ended else 0.0


@lru_cache(maxsize=65_536)
def midnight_s(day: str, zone: ZoneInfo) -> int | None:
    """Epoch seconds of a local midnight, for a `YYYY-MM-DD` on which the clocks do not change; null where they do.

    What makes a million wall times cheap: on such a day, seconds since midnight simply add up.

    Raises
    ------
    ValueError
        If the text is no day.

    Examples
    --------
    >>> midnight_s("2026-11-02", ZoneInfo("America/New_York"))
    1793595600
    >>> midnight_s("2026-11-01", ZoneInfo("America/New_York")) is None
    True
    """
    start = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=zone)
    try:
        offsets = {(start + quarter * QUARTER).utcoffset() for quarter in range(-1, 98)}
    except OverflowError as error:
        raise ValueError(f"{day} is the calendar's first day or last") from error
    return int(start.timestamp()) if len(offsets) == 1 else None
