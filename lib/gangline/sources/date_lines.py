"""Lines that `date` wrote: ISO 8601 (`date -Is`), seconds since 1970 (`date +%s`), and its own default in English."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from gangline.sources.clocks import readings

_MARKS = " \t#=-*"
_SECONDS = re.compile(r"(\d{9,10})(?:\.(\d{1,9}))?")
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*(?: ?[-+]\d\d:?\d\d)?")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_ENGLISH = re.compile(
    rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +(?:({'|'.join(_MONTHS)}) +(\d\d?)|(\d\d?) +({'|'.join(_MONTHS)}) +(\d{{4}}))"
    r",? +(\d\d?):(\d\d):(\d\d)(?: ([AP]M))?(?: ([A-Z]{2,5}|[-+]\d{2,4}))?(?: (\d{4}))?"
)
_UTC = {"UTC", "GMT", "Z"}


def is_date_line(line: str) -> bool:
    """True for a line that is a time and nothing else, marks before and behind it left out.

    >>> is_date_line("=== 2026-11-30T09:25:51+09:00 ==="), is_date_line("device a"), is_date_line("1795972352")
    (True, False, True)
    """
    text = line.strip(_MARKS)
    return any(form.fullmatch(text) for form in (_SECONDS, _ISO, _ENGLISH))


def ms_of_date_line(line: str, zone: ZoneInfo) -> int | None:
    """Milliseconds since 1970 of such a line; null where its zone's letters are not those of `zone`, or it never was.

    A time without an offset is in `zone`, the earlier reading where a clock change repeats it.

    >>> [ms_of_date_line(text, ZoneInfo("Asia/Seoul")) for text in ("Mon Nov 30 18:25:51 KST 2026", "1796030751.5")]
    [1796030751000, 1796030751500]
    >>> ms_of_date_line("Mon Nov 30 18:25:51 PST 2026", ZoneInfo("Asia/Seoul")) is None
    True
    """
    text = line.strip(_MARKS)
    if match := _SECONDS.fullmatch(text):
        return int(match[1]) * 1000 + int((match[2] or "").ljust(3, "0")[:3])
    try:
        wall = datetime.fromisoformat(text) if _ISO.fullmatch(text) else _english(text)
    except ValueError:
        return None
    try:
        found = [at for at in readings(wall, zone) if _has_letters(at, text, zone)] if wall else []
    except OverflowError:
        return None
    return round(found[0].timestamp() * 1000) if found else None


def _english(text: str) -> datetime | None:
    match = _ENGLISH.fullmatch(text)
    if match is None:
        return None
    month, day, other_day, other_month, year, hour, minute, second, half, letters, last_year = match.groups()
    if (year is None) == (last_year is None):
        return None
    hours = int(hour) if half is None else int(hour) % 12 + 12 * (half == "PM")
    days = f"{year or last_year}-{_MONTHS.index(month or other_month) + 1:02}-{int(day or other_day):02}"
    wall = datetime.fromisoformat(f"{days}T{hours:02}:{minute}:{second}")
    if letters in _UTC:
        return wall.replace(tzinfo=UTC)
    if letters and letters[0] in "+-":
        return datetime.fromisoformat(f"{wall.isoformat()}{letters}")
    return wall


def _has_letters(at: datetime, text: str, zone: ZoneInfo) -> bool:
    """Letters of a zone must be those that the config's zone had then: PST may be anywhere."""
    match = _ENGLISH.fullmatch(text)
    letters = match[10] if match else None
    return letters is None or letters in _UTC or letters[0] in "+-" or at.astimezone(zone).tzname() == letters
