"""The same postmortem as Markdown, for a wiki: tables of what was measured, and what the author wrote."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from gangline.charts.labels import legible
from gangline.postmortem.story import Story

MARKUP = re.compile(r"([\\`*_\[\]<>|#&])")
MOST_ROWS = 60
HEADINGS = {
    "authors": "Authors and status",
    "causes": "Root causes",
    "trigger": "Trigger",
    "actions": "Action items",
    "lessons": "Lessons",
}
"""What the author writes, by the cell's name, under its heading."""


def write(story: Story, authored: Mapping[str, str]) -> str:
    """The whole page, in the order of the page; every value from a log escaped.

    Parameters
    ----------
    authored
        What the author wrote, by the names of `HEADINGS`.
    """
    return "\n".join(_lines(story, authored)).rstrip() + "\n"


def escaped(text: str) -> str:
    """A value of a log as it stands in Markdown and in a table of it.

    >>> escaped("a|b <script>")
    'a\\\\|b \\\\<script\\\\>'
    """
    return MARKUP.sub(r"\\\1", legible(text))


def _lines(story: Story, authored: Mapping[str, str]) -> Iterator[str]:
    zone = story.config.cluster.time_zone
    subject = story.subject
    yield f"# Postmortem: {escaped(subject.session_id or subject.node or 'event')}, {_instant(subject.at)}"
    yield from _written("authors", authored)
    yield from ("", "## Impact", "")
    yield from (f"- {name.replace('_', ' ')}: {estimate}" for name, estimate in story.cost.items())
    yield from _written("causes", authored)
    yield from _written("trigger", authored)
    yield from ("", f"First sign: {escaped(story.first_sign())}")
    yield from ("", "## Resolution", "")
    yield from _table(story.split.drop("mark"), zone)
    yield from ("", "Attempts after it:", "")
    yield from _table(story.attempts, zone)
    yield from _written("actions", authored)
    yield from _written("lessons", authored)
    for heading, rows in (
        ("Timeline", story.timeline),
        ("The node against its peers", story.deviations.drop_nulls("z").head(12)),
        ("What the logs called for, and what was done", story.audit),
        ("Similar incidents before", story.similar),
        ("What was looked at", story.looked_at),
    ):
        yield from ("", f"## {heading}", "")
        yield from _table(rows, zone)


def _written(name: str, authored: Mapping[str, str]) -> Iterator[str]:
    text = authored.get(name, "").strip()
    yield from ("", text if text.startswith("#") else f"## {HEADINGS[name]}\n\n{text}".rstrip())


def _table(rows: pl.DataFrame, zone: str) -> Iterator[str]:
    if rows.is_empty():
        yield "None."
        return
    names = [
        part
        for name in rows.columns
        for part in ([f"{name} (UTC)", f"{name} ({zone})"] if _is_time(rows, name) else [name])
    ]
    yield f"| {' | '.join(escaped(name) for name in names)} |"
    yield f"|{' --- |' * len(names)}"
    for row in rows.head(MOST_ROWS).iter_rows():
        cells = [
            cell
            for value, name in zip(row, rows.columns, strict=True)
            for cell in _cells(value, _is_time(rows, name), zone)
        ]
        yield f"| {' | '.join(cells)} |"
    if rows.height > MOST_ROWS:
        yield f"\n{rows.height - MOST_ROWS:,} more rows: see the page's CSV."


def _is_time(rows: pl.DataFrame, name: str) -> bool:
    return isinstance(rows.schema[name], pl.Datetime)


def _cells(value: Any, is_time: bool, zone: str) -> list[str]:
    if is_time:
        return ["", ""] if value is None else [_instant(value), f"{value.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M:%S}"]
    if value is None:
        return [""]
    return [f"{value:.4g}" if isinstance(value, float) else escaped(str(value))]


def _instant(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
