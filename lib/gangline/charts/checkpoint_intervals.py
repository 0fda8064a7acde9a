"""The strip of intervals between saves: a dot an interval, a row a stage, the optimum marked."""

import json

import altair as alt
import polars as pl

from gangline.cadences import DOUBLED, MISSED, OTHER, REGULAR
from gangline.charts.labels import shortened
from gangline.charts.theme import BLUE, GREEN, GREY, ORANGE, VERMILLION, WIDTH, rows_height, value_axis
from gangline.units import SECONDS_PER_HOUR, SECONDS_PER_MINUTE

KINDS = {REGULAR: BLUE, MISSED: VERMILLION, DOUBLED: ORANGE, OTHER: GREY}
SHAPES = {REGULAR: "circle", MISSED: "triangle-up", DOUBLED: "diamond", OTHER: "square"}
MARKS = {"median": (BLUE, [1, 0]), "optimum": (GREEN, [6, 3])}
TICKS_H = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200]
MOST_DOTS = 400
LANES = 7
LEAST_H = 1 / 120


def dots(judged: pl.DataFrame) -> pl.DataFrame:
    """A row an interval for `strip`: stage, interval_h, kind, lane; at most 400 a stage, evenly over its lengths.

    Takes `cadences.judged`.
    """
    rows = judged.select("save_id", "session_id", "stage", "interval_h", "kind").sort("stage", "interval_h", "save_id")
    ranked = rows.with_columns(rank=pl.int_range(pl.len()).over("stage"), size=pl.len().over("stage"))
    step = (pl.col("size") / MOST_DOTS).ceil().clip(1).cast(pl.Int64)
    evenly = ranked.filter((pl.col("rank") % step == 0) | (pl.col("rank") == pl.col("size") - 1))
    return evenly.with_columns(lane=(pl.col("rank") // step) % LANES).drop("rank", "size")


def strip(dots: pl.DataFrame, costs: pl.DataFrame, stages: list[str]) -> alt.TopLevelMixin:
    """Every interval on a logarithmic axis, with the median and the optimum of its stage, and the optimum's interval.

    Takes `dots`, `overheads.by_stage` and the stages from the top; those without an interval have no row.
    """
    order = [stage for stage in stages if stage in set(dots["stage"])]
    named = shortened(pl.DataFrame({"stage": order}, schema={"stage": pl.String}), "stage")
    places = named.with_row_index("row").with_columns(pl.col("row").cast(pl.Float64))
    names = named["stage_label"].to_list()
    placed = dots.join(places, on="stage").with_columns(
        place=pl.col("row") + (pl.col("lane") - LANES // 2) * 0.085, interval_h=pl.col("interval_h").clip(LEAST_H)
    )
    kinds = [kind for kind in KINDS if kind in set(dots["kind"])]
    colour = alt.Scale(domain=kinds, range=[KINDS[kind] for kind in kinds])
    shape = alt.Scale(domain=kinds, range=[SHAPES[kind] for kind in kinds])
    points = (
        alt.Chart(placed.select("interval_h", "kind", "place"))
        .mark_point(size=44, opacity=0.75, filled=False, strokeWidth=1.6, aria=False)
        .encode(
            _hours("interval_h"),
            _rows("place", names),
            alt.Color("kind:N", title="The interval is", scale=colour),
            alt.Shape("kind:N", title="The interval is", scale=shape),
        )
    )
    layers = [*_marks(costs.join(places, on="stage"), names), points]
    return alt.layer(*layers).properties(width=WIDTH - 90, height=rows_height(len(order), 78))


def _marks(costs: pl.DataFrame, names: list[str]) -> list[alt.Chart]:
    """A box over the optimum's interval, and lines at the optimum and at the median."""
    hours = {
        name: pl.col(name) * SECONDS_PER_MINUTE / SECONDS_PER_HOUR for name in ("young_min", "low_min", "high_min")
    }
    known = costs.with_columns(**hours, top=pl.col("row") - 0.44, bottom=pl.col("row") + 0.44)
    base, until, row = ["row", "top", "bottom"], alt.Y2("bottom:Q"), _rows("top", names)
    box = (
        alt.Chart(known.drop_nulls(["low_min", "high_min"]).select("low_min", "high_min", *base))
        .mark_rect(opacity=0.2, color=GREEN, aria=False)
        .encode(_hours("low_min"), alt.X2("high_min:Q"), row, until)
    )
    optimum = pl.lit("optimum").alias("line")
    lines = pl.concat(
        [
            known.drop_nulls("young_min").select(pl.col("young_min").alias("at_h"), optimum, *base),
            known.select(pl.col("interval_h").alias("at_h"), pl.lit("median").alias("line"), *base),
        ]
    )
    rules = [
        alt.Chart(lines.filter(pl.col("line") == line).select("at_h", "top", "bottom"))
        .mark_rule(strokeWidth=2.4, color=colour, strokeDash=dash, aria=False)
        .encode(_hours("at_h"), row, until)
        for line, (colour, dash) in MARKS.items()
    ]
    return [box, *rules]


def _rows(field: str, names: list[str]) -> alt.Y:
    """Names at whole numbers of a plain axis, so that dots of one name can stand above one another."""
    told = f"{json.dumps(names)}[datum.value]"
    axis = alt.Axis(values=list(range(len(names))), labelExpr=told, ticks=False, domain=False, grid=False)
    scale = alt.Scale(domain=[-0.5, max(len(names), 1) - 0.5], reverse=True, nice=False, zero=False)
    return alt.Y(f"{field}:Q", title=None, axis=axis, scale=scale)


def _hours(field: str) -> alt.X:
    scale = alt.Scale(type="log", nice=False, padding=14)
    axis: alt.X = value_axis(field, "Interval between saves (h, logarithmic)", channel=alt.X, scale=scale)
    return axis.axis(format="~g", values=TICKS_H, labelOverlap="greedy")
