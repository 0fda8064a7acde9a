"""Fewer rows in a chart's specification for the same picture: per pixel and series the lowest and the highest stay."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import polars as pl

Spec = dict[str, Any]

MOST_ROWS = 5_000  # of a dataset that is drawn as it is
BUCKETS = 700
MOST_DRAWN = 20_000
MOST_SUMMED = 200_000  # of a dataset that Vega itself sums or counts
PARTS = ("layer", "hconcat", "vconcat", "concat")
SERIES_CHANNELS = ("color", "detail", "stroke", "fill", "strokeDash", "shape", "row", "column", "facet", "xOffset")
SUMMING = ("aggregate", "bin", "timeUnit", "stack", "impute")
NOTE = "{drawn:,} of {whole:,} rows drawn: {how}"
KEPT_ENDS, KEPT_EVENLY = "each pixel's lowest and highest", "evenly picked"


@dataclass
class Use:
    """What the marks of a chart ask of one dataset."""

    series: set[str] = field(default_factory=set)
    along: set[str] = field(default_factory=set)
    across: set[str] = field(default_factory=set)
    is_summed: bool = False


def thinned(spec: Spec) -> Spec:
    """Thin every large dataset of a Vega-Lite specification, and say under the title how many rows are drawn.

    A dataset that is drawn as it is keeps, for each of 700 stretches of its x and each series, the rows with the
    lowest and the highest y. One that Vega sums, counts or bins is kept whole up to 200,000 rows, for to leave rows
    out would change what it says; above that every n-th row is kept.
    """
    datasets = spec.get("datasets", {})
    uses = _uses(spec)
    notes: list[str] = []
    drawn = {name: _fewer(rows, uses.get(name, Use()), notes) for name, rows in datasets.items()}
    shown = {**spec, "datasets": drawn} if datasets else spec
    return _noted(shown, notes) if notes else shown


def _fewer(rows: list[Any], use: Use, notes: list[str]) -> list[Any]:
    limit = MOST_SUMMED if use.is_summed else MOST_ROWS
    if len(rows) <= limit:
        return rows
    kept = rows if use.is_summed else _ends(rows, use)
    how = KEPT_ENDS
    if len(kept) > (most := MOST_SUMMED if use.is_summed else MOST_DRAWN):
        kept, how = kept[:: -(-len(kept) // most)], KEPT_EVENLY
    notes.append(NOTE.format(drawn=len(kept), whole=len(rows), how=how))
    return kept


def _ends(rows: list[Any], use: Use) -> list[Any]:
    """The rows with the least and the greatest y in each stretch of x and series; all of them where x is no measure."""
    if not use.along or not use.across:
        return rows
    along, across = sorted(use.along)[0], sorted(use.across)
    names = [name for name in (along, *across, *sorted(use.series)) if any(name in row for row in rows[:1])]
    frame = pl.DataFrame({name: [row.get(name) for row in rows] for name in names}, strict=False)
    position = _position(frame.get_column(along)) if along in frame.columns else None
    values = [name for name in across if name in frame.columns and frame.schema[name].is_numeric()]
    if position is None or not values:
        return rows
    series = [name for name in sorted(use.series) if name in frame.columns]
    bucketed = frame.select(*series, *values).with_columns(position.alias("_bucket")).with_row_index("_row")
    grouped = bucketed.group_by([*series, "_bucket"]).agg(
        end for name in values for end in (_row_at(name, "arg_min"), _row_at(name, "arg_max"))
    )
    ends = grouped.drop(*series, "_bucket")
    kept = pl.concat([ends.get_column(name) for name in ends.columns]).drop_nulls().unique().sort()
    return [rows[row] for row in kept]


def _row_at(name: str, end: str) -> pl.Expr:
    where: pl.Expr = getattr(pl.col(name), end)()
    return pl.col("_row").get(where, null_on_oob=True).alias(f"{name}_{end}")


def _position(values: pl.Series) -> pl.Series | None:
    """In which of the stretches each value lies; None where the values are neither numbers nor times."""
    if values.dtype == pl.String:
        values = values.str.to_datetime(strict=False, time_zone="UTC").dt.epoch("us")
    numbers = values.cast(pl.Float64, strict=False)
    low, high = numbers.min(), numbers.max()
    if not isinstance(low, float) or not isinstance(high, float) or numbers.null_count() == len(numbers):
        return None
    width = (high - low) / BUCKETS or 1.0
    return ((numbers - low) / width).floor().cast(pl.Int64, strict=False)


def _uses(spec: Spec) -> dict[str, Use]:
    uses: dict[str, Use] = {}
    for name, encoding, is_summed in _units(spec, None, {}, False):
        use = uses.setdefault(name, Use())
        use.is_summed = use.is_summed or is_summed or any(_sums(channel) for channel in encoding.values())
        for channel, fields in (("x", use.along), ("x2", use.along), ("y", use.across), ("y2", use.across)):
            fields.update(_fields(encoding.get(channel)))
        for channel in SERIES_CHANNELS:
            if not _is_measure(encoding.get(channel)):
                use.series.update(_fields(encoding.get(channel)))
    return uses


def _units(spec: Spec, name: str | None, encoding: Spec, is_summed: bool) -> Iterator[tuple[str, Spec, bool]]:
    """Every mark's dataset and encoding, those of what stands around it included."""
    name = spec.get("data", {}).get("name", name)
    encoding = encoding | spec.get("encoding", {}) | ({"facet": spec["facet"]} if "facet" in spec else {})
    is_summed = is_summed or bool(spec.get("transform"))
    if "mark" in spec and name:
        yield name, encoding, is_summed
    inner = [part for key in PARTS for part in spec.get(key, [])] + ([spec["spec"]] if "spec" in spec else [])
    for part in inner:
        yield from _units(part, name, encoding, is_summed)


def _fields(channel: object) -> list[str]:
    channels = channel if isinstance(channel, list) else [channel]
    return [found["field"] for found in channels if isinstance(found, dict) and isinstance(found.get("field"), str)]


def _is_measure(channel: object) -> bool:
    return isinstance(channel, dict) and channel.get("type") in ("quantitative", "temporal")


def _sums(channel: object) -> bool:
    if not isinstance(channel, dict):
        return False
    return any(channel.get(word) not in (None, False, "binned") for word in SUMMING)


def _noted(spec: Spec, notes: list[str]) -> Spec:
    title = spec.get("title", "")
    worded = title if isinstance(title, dict) else {"text": title}
    return {**spec, "title": {**worded, "subtitle": notes}}
