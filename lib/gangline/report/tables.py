"""Tables: real headings, figures aligned and with their unit in the heading, every cell escaped, long ones cut."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl
from markupsafe import Markup

from gangline.charts.labels import legible
from gangline.estimates.wording import counted, number
from gangline.report.wording import clock
from gangline.units import SUFFIXES

MOST_ROWS = 30
CELL_WIDTH = 44
SENTENCES = {"meaning", "mend", "reason", "message"}
SENTENCE_WIDTH = 400
LONGEST_TITLE = 2000
PERCENT = {"_ratio", "_share"}
HEADING_UNITS = {"_at": "UTC", "_gpu_h": "GPU-h", "_count": "", "_bytes": "bytes", "_gb": "GB", "_kb": "KB"} | {
    "_gb_per_s": "GB/s",
    "_mb_per_s": "MB/s",
    "_ratio": "%",
    "_share": "%",
}
IDENTIFIERS = ("_id", "position", "code", "attempt", "line", "step")
PLACE = Markup('<section class="table" id="{}">{}{}</section>')
FRAME = Markup(
    '<div class="scroll" tabindex="0" role="region" aria-label="{title}"><table><caption>{caption}</caption>'
    "<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
)


def table(frame: pl.DataFrame, caption: Markup, title: str, labels: Mapping[str, str], most: int = MOST_ROWS) -> Markup:
    """Write rows as a table inside its own scroll region.

    The first column heads its row. Numbers are written by the unit in their column's name (`excluded_ratio` in per
    cent, `failed_h` in hours, `started_at` in UTC); a missing value is a dash. Rows above `most` are left to the CSV.
    """
    heads = Markup("").join(_head(name, dtype, labels) for name, dtype in frame.schema.items())
    body = Markup("").join(_row(row, frame.schema) for row in frame.head(most).iter_rows())
    return FRAME.format(title=title, caption=caption, heads=heads, body=body)


def heading(name: str) -> str:
    """Turn a column's name into a heading.

    >>> heading("excluded_ratio"), heading("started_at"), heading("failed_gpu_h"), heading("node")
    ('Excluded (%)', 'Started (UTC)', 'Failed (GPU-h)', 'Node')
    """
    suffix = _suffix(name)
    words = name.removesuffix(suffix).replace("_", " ").strip() or name
    unit = HEADING_UNITS.get(suffix, suffix.strip("_"))
    return f"{words[:1].upper()}{words[1:]} ({unit})" if unit else f"{words[:1].upper()}{words[1:]}"


def cell_text(value: Any, name: str) -> str:
    """Write one value by the unit of its column, whole.

    >>> cell_text(0.531, "excluded_ratio"), cell_text(1234, "sessions"), cell_text(None, "node"), cell_text(7, "job_id")
    ('53.1', '1,234', '–', '7')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _number(value, name)
    if isinstance(value, list):
        return " ".join(str(part) for part in value)
    return _moment(value) if isinstance(value, date | timedelta) else legible(str(value))


def _number(value: float, name: str) -> str:
    if name.endswith(IDENTIFIERS):
        return str(value)
    suffix = _suffix(name)
    unit = "ratio" if suffix in PERCENT else suffix.strip("_") or "count"
    return f"{value:,}" if isinstance(value, int) and unit != "ratio" else number(float(value), unit)


def _moment(value: date | timedelta) -> str:
    return clock(value) if isinstance(value, datetime) else str(value)


def _suffix(name: str) -> str:
    return next((suffix for suffix in sorted(SUFFIXES, key=len, reverse=True) if name.endswith(suffix)), "")


def _head(name: str, dtype: pl.DataType, labels: Mapping[str, str]) -> Markup:
    aligned = Markup(' class="number"') if dtype.is_numeric() else ""
    return Markup('<th scope="col"{}>{}</th>').format(aligned, legible(labels.get(name, heading(name)), CELL_WIDTH))


def _row(row: tuple[Any, ...], schema: pl.Schema) -> Markup:
    cells = [_cell(value, name, dtype) for value, (name, dtype) in zip(row, schema.items(), strict=True)]
    first = Markup('<th scope="row"{}</th>').format(cells[0]) if cells else ""
    rest = Markup("").join(Markup("<td{}</td>").format(cell) for cell in cells[1:])
    return Markup("<tr>{}{}</tr>").format(first, rest)


def _cell(value: Any, name: str, dtype: pl.DataType) -> Markup:
    """Write attributes and content of a cell, from behind the tag's name up to its end."""
    text = cell_text(value, name)
    shown = legible(text, SENTENCE_WIDTH if name in SENTENCES else CELL_WIDTH) if text else legible(text)
    title = Markup(' title="{}"').format(Markup.escape(text[:LONGEST_TITLE])) if shown != text else ""
    return Markup("{}{}>{}").format(_class(name, dtype), title, Markup.escape(shown))


def _class(name: str, dtype: pl.DataType) -> Markup:
    """How a cell is laid out: figures to the right, sentences broken, names and instants on one line."""
    if name in SENTENCES:
        return Markup(' class="sentence"')
    if dtype.is_numeric():
        return Markup(' class="number"')
    is_whole = name.endswith("_id") or dtype.is_temporal()
    return Markup(' class="whole"') if is_whole else Markup("")


def foot(frame: pl.DataFrame, most: int, link: Markup) -> Markup:
    """Write what stands under a table: the rows left out, and the download."""
    whole = counted(frame.height, "rows")
    more = f"{frame.height - most:,} more in the CSV" if frame.height > most else whole
    return Markup('<p class="tools"><span>{}</span>{}</p>').format(more, link)
