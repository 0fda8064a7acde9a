"""Rows as CSV inside the page, safe to open in a spreadsheet."""

import base64
import gzip
import re

import polars as pl
from markupsafe import Markup

MOST_PLAIN_BYTES = 100_000
MOST_PACKED_BYTES = 400_000
FORMULA = r"^[=+\-@\t\r]"
LINK = Markup('<a class="button" download="{name}" href="data:{media};base64,{content}"{packed}>{label} ({size})</a>')


def csv_text(frame: pl.DataFrame) -> str:
    """Write rows as CSV: instants in ISO 8601 with Z, lists joined by a blank, formulas made text.

    A text that a spreadsheet would run (it begins with = + - @, a tab or a return) gets an apostrophe in front.

    >>> csv_text(pl.DataFrame({"node": ["=1+1", "gpu001"], "excluded_h": [-1.5, None]}))
    "node,excluded_h\\n'=1+1,-1.5\\ngpu001,\\n"
    """
    safe = frame.with_columns(_safe(name, dtype) for name, dtype in frame.schema.items())
    return safe.rename({name: re.sub(FORMULA, r"'\g<0>", name) for name in safe.columns}).write_csv()


def download(frame: pl.DataFrame, name: str, label: str = "Download CSV") -> Markup:
    """Write a link that holds the rows as a CSV file.

    Small files are plain; larger ones are packed with gzip, which the page's script unpacks (without scripts the
    packed file is saved). What is too large even packed is cut to its first rows, and the label says so.
    """
    kept, text = frame, csv_text(frame).encode()
    while len(text) > MOST_PLAIN_BYTES and len(packed := gzip.compress(text, mtime=0)) > MOST_PACKED_BYTES:
        kept = kept.head(int(kept.height * 0.9 * MOST_PACKED_BYTES / len(packed)))
        text = csv_text(kept).encode()
    shown = label if kept.height == frame.height else f"{label}, first {kept.height:,} of {frame.height:,} rows"
    return _link(text, name, shown)


def _link(text: bytes, name: str, label: str) -> Markup:
    is_packed = len(text) > MOST_PLAIN_BYTES
    content = gzip.compress(text, mtime=0) if is_packed else text
    return LINK.format(
        name=f"{name}.csv.gz" if is_packed else f"{name}.csv",
        media="application/gzip" if is_packed else "text/csv;charset=utf-8",
        content=Markup(base64.b64encode(content).decode("ascii")),  # noqa: S704 - base64 has no markup
        packed=Markup(" data-packed") if is_packed else "",
        label=label,
        size=f"{max(1, round(len(text) / 1000)):,} kB",
    )


def file_name(*parts: str) -> str:
    """Make a name for a file of letters, digits, dash and underscore.

    >>> file_name("08_node_exclusions", "Hours per node (h)")
    '08_node_exclusions-hours-per-node-h'
    """
    words = [re.sub(r"\W+", "-", part.lower(), flags=re.ASCII).strip("-") for part in parts]
    return "-".join(word for word in words if word)[:100]


def _safe(name: str, dtype: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    if isinstance(dtype, pl.List):
        column, dtype = column.cast(pl.List(pl.String)).list.join(" "), pl.String()
    if isinstance(dtype, pl.Datetime):
        return (
            column.dt.strftime("%Y-%m-%dT%H:%M:%S%.fZ")
            if dtype.time_zone
            else column.dt.strftime("%Y-%m-%dT%H:%M:%S%.f")
        )
    if isinstance(dtype, pl.Struct):
        column, dtype = column.struct.json_encode(), pl.String()
    if isinstance(dtype, pl.Duration):
        return column.dt.total_seconds(fractional=True)
    if not isinstance(dtype, pl.String):
        return column
    return pl.when(column.str.contains(FORMULA)).then(pl.lit("'") + column).otherwise(column).alias(name)
