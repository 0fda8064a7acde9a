"""Work lost at ends: how often how much, against what ends at random moments would lose."""

import math
from typing import Any

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gangline.charts.spans import counts
from gangline.charts.theme import BLUE, GREEN, GREY, SKY, VERMILLION, WIDTH, value_axis

Edges = NDArray[np.float64]
BINS = 12
LEAST_ENDS = 2
STEPS_H = (1 / 12, 1 / 6, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 6.0, 12.0, 24.0)
COLOURS = {"steps": BLUE, "save": GREEN, "begin of training": SKY, "never trained": GREY}


def bins(lost: pl.DataFrame) -> pl.DataFrame:
    """Ends by the work they lost, for `histogram`: evidence, from_h, to_h, ends, expected (once a bin, else null).

    `expected`: how many of the ends that trained would fall into the bin if each came at a moment drawn at random from
    an interval between two saves of its stage; null where no interval is known. Takes `lost_times.by_end`.
    """
    known = lost.drop_nulls("lost_h")
    if known.is_empty():
        return pl.DataFrame(schema=_SCHEMA)
    edges = _edges(max(known["lost_h"].to_list() + known["interval_h"].drop_nulls().to_list()))
    place = pl.Series(np.clip(np.searchsorted(edges, known["lost_h"].to_numpy(), "right") - 1, 0, edges.size - 2))
    counted = known.with_columns(place=place).group_by("evidence", "place").agg(ends=pl.len().cast(pl.Int64))
    every = pl.DataFrame({"place": np.arange(edges.size - 1), "from_h": edges[:-1], "to_h": edges[1:]})
    rows = (
        every.join(counted, on="place", how="left").with_columns(pl.col("ends").fill_null(0)).sort("place", "evidence")
    )
    expected = pl.Series("expected", _expected(known, edges), dtype=pl.Float64)
    first = pl.int_range(pl.len()).over("place") == 0
    told = rows.join(every.select("place").with_columns(expected), on="place", maintain_order="left")
    return told.with_columns(pl.when(first).then("expected").alias("expected")).select(*_SCHEMA)


def histogram(bins: pl.DataFrame) -> alt.TopLevelMixin:
    """Ends by lost work, coloured by what tells it; red: what chance alone expects in each bin. Takes `bins`."""
    names = [name for name in COLOURS if name in set(bins["evidence"])]
    stacks = bins.group_by("from_h").agg(pl.col("ends").sum())["ends"].to_list()
    scale = alt.Scale(domain=[0, max([LEAST_ENDS, *stacks, *bins["expected"].drop_nulls()])], nice=True)
    colour = alt.Scale(domain=names, range=[COLOURS[name] for name in names])
    bars = (
        alt.Chart(bins.drop_nulls("evidence").select("evidence", "from_h", "to_h", "ends"))
        .mark_bar(aria=False)
        .encode(
            _hours("from_h").bin("binned"),
            alt.X2("to_h:Q"),
            counts("ends", "Ends", scale=scale),
            alt.Color("evidence:N", title="Told by", scale=colour),
        )
    )
    chance = bins.drop_nulls("expected").select(pl.col("from_h").alias("at_h"), "to_h", "expected")
    ends = pl.concat([chance, chance.tail(1).with_columns(at_h=pl.col("to_h"))]).select("at_h", "expected")
    line = (
        alt.Chart(ends)
        .mark_line(color=VERMILLION, strokeWidth=2.4, strokeDash=[7, 3], interpolate="step-after", aria=False)
        .encode(_hours("at_h"), counts("expected", "Ends", scale=scale))
    )
    return alt.layer(bars, line).properties(width=WIDTH, height=230)


_SCHEMA: dict[str, Any] = {
    "evidence": pl.String,
    "from_h": pl.Float64,
    "to_h": pl.Float64,
    "ends": pl.Int64,
    "expected": pl.Float64,
}


def _edges(longest_h: float) -> Edges:
    """Bins of a round width, about twelve of them, that hold the longest."""
    width = next((step for step in STEPS_H if step * BINS >= longest_h), STEPS_H[-1])
    count = max(1, math.floor(longest_h / width) + 1)
    return np.asarray(np.arange(count + 1) * width, np.float64)


def _expected(known: pl.DataFrame, edges: Edges) -> list[float | None]:
    intervals = known.filter(pl.col("evidence") != "never trained")["interval_h"].drop_nulls().to_numpy()
    if not intervals.size:
        return [None] * (edges.size - 1)
    reached = np.minimum(edges[:, None], intervals[None, :]) / intervals[None, :]
    shares: list[float | None] = np.diff(reached.sum(axis=1)).tolist()
    return shares


def _hours(field: str) -> alt.X:
    axis: alt.X = value_axis(field, "Work lost (h)", channel=alt.X)
    return axis
