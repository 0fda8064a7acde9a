"""One instant in a cell that is a record's own: ISO 8601, mostly with its offset."""

from datetime import datetime
from zoneinfo import ZoneInfo

from gangline.sources.clocks import readings
from gangline.sources.table_rows import RowError, shown
from gangline.sources.table_times import YEARS, iso_time


def instant_of(value: object, what: str, zone: ZoneInfo) -> datetime | None:
    """An instant in UTC; a text without an offset is in `zone` (the earlier reading where a clock change repeats it).

    Examples
    --------
    >>> instant_of("2026-11-20 12:04:05.5+09", "created_at", ZoneInfo("UTC"))
    datetime.datetime(2026, 11, 20, 3, 4, 5, 500000, tzinfo=datetime.timezone.utc)
    """
    if value is None or value == "":
        return None
    wall = iso_time(value.strip()) if isinstance(value, str) else None
    try:
        found = readings(wall, zone) if wall and wall.year in YEARS else ()
    except OverflowError:
        found = ()
    if not found:
        raise RowError(f"{what} is {shown(str(value))}: expected a time such as 2026-11-20T03:04:05+00:00")
    return found[0]
