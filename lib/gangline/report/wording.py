"""Sentences with values in them: every value escaped and written as the house writes it."""

import re
import string
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from markupsafe import Markup, escape

from gangline.charts.labels import legible
from gangline.estimates.wording import counted

STRONG = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
CODE = re.compile(r"`([^`]+)`")
PLURAL = re.compile(r"[A-Za-z][A-Za-z -]+s")  # no format of a number or a date
LONGEST_NAME = 80
LISTED_WIDTH = 40


def prose(template: str, /, *values: object, **named: object) -> Markup:
    """Format a sentence so that no value can be markup.

    The template may hold `**strong**` and `` `code` ``; anything else in it is text. Values stand in `{}`, `{name}` or
    `{name:.1f}`; with the plural of what is counted as their format (`{n:nodes}`) they stand before it, one before its
    singular. Without a format, counts get separators, instants are written in UTC, an `Estimate` as its sentence, a
    missing value as "not known", and a name that is too long is cut.

    Examples
    --------
    >>> prose("**{}** failed on {node}", 1234, node="<b>gpu001</b>")
    Markup('<strong>1,234</strong> failed on &lt;b&gt;gpu001&lt;/b&gt;')
    >>> prose("{:.0%} of {n}", 0.531, n=None)
    Markup('53% of not known')
    >>> prose("{:nodes} and {n:gang sessions}", 1, n=1200.0)
    Markup('1 node and 1,200 gang sessions')
    """
    text = str(template) if isinstance(template, Markup) else _marked(template)
    return Markup(_Writer().vformat(text, values, named))  # noqa: S704 - the writer escapes every value


def listed(names: Sequence[object]) -> Markup:
    """Write names one after another, each cut for itself.

    >>> str(listed(["gpu001", "gpu<2>", None])), str(listed([]))
    ('gpu001, gpu&lt;2&gt; and not known', 'none')
    """
    written = [escape("not known" if name is None else legible(str(name), LISTED_WIDTH)) for name in names]
    if len(written) < 2:
        return written[0] if written else Markup("none")
    return Markup(" and ").join([Markup(", ").join(written[:-1]), written[-1]])


def human(value: object) -> str:
    """Write a value as running text without a format of its own.

    >>> human(1234), human(None), human(0.125), human(True)
    ('1,234', 'not known', '0.125', 'yes')
    """
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
    if isinstance(value, date | timedelta):
        return _moment(value)
    return legible(str(value), LONGEST_NAME) if value != "" else ""


def _moment(value: date | timedelta) -> str:
    if isinstance(value, datetime):
        return instant(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def instant(at: datetime) -> str:
    """Write an instant to the minute (to the second where it has one), in UTC.

    >>> instant(datetime(2025, 9, 1, 12, tzinfo=UTC))
    '2025-09-01 12:00 UTC'
    """
    return f"{clock(at)} UTC"


def clock(at: datetime) -> str:
    """Write an instant in UTC without saying so, for a column whose heading does."""
    if at.tzinfo is None:
        raise ValueError("an instant without a zone cannot be written; make it UTC-aware in SQL")
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S" if at.second else "%Y-%m-%d %H:%M")


class _Writer(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if hasattr(value, "__html__"):
            return str(value.__html__())
        if value is None or not format_spec:
            return str(escape(str(value) if hasattr(value, "sentence") else human(value)))
        if PLURAL.fullmatch(format_spec):
            return str(escape(counted(value, format_spec)))
        return str(escape(format(value, format_spec)))


def _marked(template: str) -> str:
    escaped = str(escape(template))
    return CODE.sub(r"<code>\1</code>", STRONG.sub(r"<strong>\1</strong>", escaped))
