"""The same postmortem as Markdown, for a wiki: tables of what was measured, and what the author wrote."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl

from gangline.charts.labels import legible
from gangline.estimates.wording import counted
from gangline.postmortem.story import Story
from gangline.report.tables import cell_text, heading

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
LABELS = {
    "at": "At (UTC)",
    "said": "Value",
    "reason": "Why not known",
    "meaning": "Mark",
    "part_min": "Since the mark before (min)",
    "seen": "Result",
    "message": "What",
    "node_count": "Nodes",
    "z": "z",
}
"""Columns whose names alone would not tell."""


def write(story: Story, authored: Mapping[str, str], summary: str = "") -> str:
    """The whole page, in the order of the page; every value from a log escaped.

    Parameters
    ----------
    authored
        What the author wrote, by the names of `HEADINGS`.
    summary
        The sentence under the page's title, as plain text.
    """
    return "\n".join(_lines(story, authored, summary)).rstrip() + "\n"


def escaped(text: str) -> str:
    """A value of a log as it stands in Markdown and in a table of it.

    >>> escaped("a|b <script>")
    'a\\\\|b \\\\<script\\\\>'
    """
    return MARKUP.sub(r"\\\1", legible(text))


def _lines(story: Story, authored: Mapping[str, str], summary: str) -> Iterator[str]:
    zone = story.config.cluster.time_zone
    subject = story.subject
    yield f"# Postmortem: {escaped(subject.session_id or subject.node or 'event')}, {_instant(subject.at)} UTC"
    if summary:
        yield from ("", escaped(summary))
    yield from _written("authors", authored)
    yield from ("", "## Impact", "")
    yield from _table(story.cost_table(), zone)
    yield from _written("causes", authored)
    yield from _written("trigger", authored)
    yield from ("", f"First sign: {escaped(story.first_sign())}")
    yield from ("", "## Resolution", "")
    yield from _table(story.split.drop("mark"), zone)
    yield from ("", "Attempts after it:", "")
    yield from _table(story.attempts, zone)
    yield from _written("actions", authored)
    yield from _written("lessons", authored)
    yield from _evidence(story, zone)


def _evidence(story: Story, zone: str) -> Iterator[str]:
    for title, rows in (
        ("Timeline", story.timeline),
        ("The node against its peers", story.deviations.drop_nulls("z").head(12)),
        ("What the logs called for, and what was done", story.audit),
        ("Similar incidents before", story.similar),
        ("What was looked at", story.looked_at),
    ):
        yield from ("", f"## {title}", "")
        yield from _table(rows, zone)


def _written(name: str, authored: Mapping[str, str]) -> Iterator[str]:
    text = authored.get(name, "").strip()
    yield from ("", text if text.startswith("#") else f"## {HEADINGS[name]}\n\n{text}".rstrip())


def _table(rows: pl.DataFrame, zone: str) -> Iterator[str]:
    if rows.is_empty():
        yield "None."
        return
    heads = [head for name in rows.columns for head in _heads(name, _is_time(rows, name), zone)]
    yield f"| {' | '.join(escaped(head) for head in heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for row in rows.head(MOST_ROWS).iter_rows(named=True):
        cells = [cell for name, value in row.items() for cell in _cells(value, name, _is_time(rows, name), zone)]
        yield f"| {' | '.join(cells)} |"
    if rows.height > MOST_ROWS:
        yield f"\n{counted(rows.height - MOST_ROWS, 'more rows')}: see the page's CSV."


def _is_time(rows: pl.DataFrame, name: str) -> bool:
    return isinstance(rows.schema[name], pl.Datetime)


def _heads(name: str, is_time: bool, zone: str) -> list[str]:
    """One heading, or for an instant one in UTC and one by the cluster's clock, where that is another."""
    head = LABELS.get(name) or heading(name)
    return [head, f"{head.removesuffix(' (UTC)')} ({zone})"] if is_time and zone != "UTC" else [head]


def _cells(value: Any, name: str, is_time: bool, zone: str) -> list[str]:
    if not is_time:
        return [escaped(cell_text(value, name))]
    clocks = ["UTC"] if zone == "UTC" else ["UTC", zone]
    return [f"{value.astimezone(ZoneInfo(clock)):%Y-%m-%d %H:%M:%S}" if value else "–" for clock in clocks]


def _instant(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
