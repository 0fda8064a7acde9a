"""What a logged value is: finite, NaN, infinite, null, text; and W&B's instants and texts made safe to keep."""

import json
import math
import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Seconds of the years 1971 and 3000: what lies outside is no instant (a zero, or a counter logged as `_timestamp`).
EARLIEST_S, LATEST_S = 31_536_000.0, 32_503_680_000.0
MAX_STEP = 2**63 - 1
TEXT_CHARS = 200
MAX_NESTING = 60  # of keys; JSON that is nested deeper is kept as a key with dots
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
MICROSECONDS = re.compile(r"(\.\d{6})\d+")


class ValueKind(StrEnum):
    """What stood where a metric's value stands; an absent value has no row at all."""

    NUMBER = "number"
    BOOL = "bool"
    NAN = "nan"
    INFINITY = "infinity"
    MINUS_INFINITY = "minus_infinity"
    NULL = "null"
    TEXT = "text"
    UNREADABLE = "unreadable"


NOT_FINITE_TEXTS = {
    "nan": ValueKind.NAN,
    "inf": ValueKind.INFINITY,
    "+inf": ValueKind.INFINITY,
    "infinity": ValueKind.INFINITY,
    "-inf": ValueKind.MINUS_INFINITY,
    "-infinity": ValueKind.MINUS_INFINITY,
}


class UnreadableValue:
    """Stands for a value whose JSON is broken."""


UNREADABLE = UnreadableValue()


def value_of(raw: bytes) -> object:
    """The value that a `value_json` holds; NaN and infinities as Python's JSON writes them.

    Examples
    --------
    >>> [value_of(text) for text in (b"3", b"1.5e3", b"NaN", b'"NaN"', b"null")]
    [3, 1500.0, nan, 'NaN', None]
    """
    try:
        # Most values are numbers, and these two are three times as fast as the JSON decoder.
        # int() and float() also take 1_000, which is no number but, say, part of a name.
        if b"_" not in raw:
            return float(raw) if b"." in raw or b"e" in raw else int(raw)
    except ValueError:
        pass
    try:
        return json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return UNREADABLE


def judged(value: object) -> tuple[ValueKind, float | None, str | None]:
    """A value's kind, the number (null unless finite) and the text (null unless text, cut at 200 characters).

    Examples
    --------
    >>> judged(2)[:2], judged("NaN")[:2], judged("stage 2")[2]
    ((<ValueKind.NUMBER: 'number'>, 2.0), (<ValueKind.NAN: 'nan'>, None), 'stage 2')
    """
    if value is None:
        return ValueKind.NULL, None, None
    if isinstance(value, str):
        kind = NOT_FINITE_TEXTS.get(value.strip().casefold(), ValueKind.TEXT)
        return kind, None, safe(value[:TEXT_CHARS]) if kind == ValueKind.TEXT else None
    if isinstance(value, int | float):
        return judged_number(value)
    return ValueKind.UNREADABLE, None, None


def judged_number(value: float) -> tuple[ValueKind, float | None, None]:
    """Tells finite numbers from the others."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if math.isfinite(number):
        return ValueKind.BOOL if isinstance(value, bool) else ValueKind.NUMBER, number, None
    if math.isnan(number):
        return ValueKind.NAN, None, None
    return ValueKind.INFINITY if number > 0 else ValueKind.MINUS_INFINITY, None, None


def finite(value: object) -> float | None:
    """A finite number, or a text that is one; else null."""
    if isinstance(value, str):
        value = value_of(value.strip().encode("utf-8", "replace"))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return judged_number(value)[1]


def whole(value: object) -> int | None:
    """A whole number that fits 64 bits, or a text that is one; else null."""
    if isinstance(value, str):
        value = value_of(value.strip().encode("utf-8", "replace"))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and isinstance(value, int) and -MAX_STEP <= value <= MAX_STEP else None


def epoch_us(seconds: object) -> int | None:
    """Microseconds since 1970 from a number of seconds; null outside the years 1971 to 3000."""
    number = finite(seconds)
    return None if number is None else possible_us(number * 1e6)


def possible_us(us: float) -> int | None:
    """The same microseconds since 1970 where they lie in the years 1971 to 3000, else null."""
    return round(us) if EARLIEST_S * 1e6 <= us < LATEST_S * 1e6 else None


def instant(us: int | None) -> datetime | None:
    """The instant so many microseconds after 1970."""
    return None if us is None else EPOCH + timedelta(microseconds=us)


def parsed_us(value: object, zone: ZoneInfo) -> int | None:
    """Microseconds since 1970 from seconds, milliseconds or ISO 8601 text; without offset it is `zone`'s local time.

    Null where it is none of these, or outside the years 1971 to 3000.
    """
    number = finite(value)
    if number is not None:
        return epoch_us(number if abs(number) < LATEST_S else number / 1e3)
    if isinstance(value, str):
        try:
            # Python 3.11 reads three or six digits of a second, other writers give nine.
            value = datetime.fromisoformat(MICROSECONDS.sub(r"\1", value.strip()))
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    at = value if value.tzinfo else value.replace(tzinfo=zone)
    return possible_us((at - EPOCH) // timedelta(microseconds=1))


def safe(text: str) -> str:
    """The text with what no UTF-8 can hold replaced."""
    return LONE_SURROGATE.sub("\ufffd", text)


def put(tree: dict[str, object], path: list[str], value: object) -> None:
    """Sets a value in nested dicts, replacing what stands in the way."""
    path = path if len(path) <= MAX_NESTING else [".".join(path)]
    for key in path[:-1]:
        child = tree.get(key)
        if not isinstance(child, dict):
            child = tree[key] = {}
        tree = child
    tree[path[-1]] = value


def take_out(tree: dict[str, object], path: list[str]) -> None:
    """Removes a value from nested dicts, if it is there."""
    for key in path[:-1]:
        child = tree.get(key)
        if not isinstance(child, dict):
            return
        tree = child
    tree.pop(path[-1], None)


def json_text(tree: dict[str, object]) -> str | None:
    """Strict JSON of a tree less W&B's own `_wandb` key; null where it is empty or nested too deep to be written."""
    try:
        strict = _strict({key: value for key, value in tree.items() if key != "_wandb"})
        return json.dumps(strict, ensure_ascii=False, allow_nan=False) if strict else None
    except RecursionError:
        return None


def _strict(value: object) -> object:
    """NaN, infinities and unreadable values as text, which every JSON reader takes."""
    if isinstance(value, dict):
        return {safe(str(key)): _strict(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(child) for child in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, bool | int | float):
        return value
    return safe(value) if isinstance(value, str) else "unreadable" if value is UNREADABLE else safe(str(value))
