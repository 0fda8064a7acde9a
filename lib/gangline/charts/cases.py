"""Pictures of one event: layers of a node over its peers on one time axis, phases shaded, what happened marked."""

from typing import Any

import altair as alt
import polars as pl

from gangline.charts.spans import Span, framed
from gangline.charts.theme import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    SKY,
    VERMILLION,
    WIDTH,
    name_axis,
    rows_height,
    value_axis,
)
from gangline.windows import Window

PHASES = {"save": ORANGE, "load": GREEN, "unknown": GREY}
LAYER_HEIGHT = 88
MOST_MARKS = 40


def case_layers(rows: pl.DataFrame, phases: pl.DataFrame, marks: pl.DataFrame, window: Window) -> alt.TopLevelMixin:
    """Layers above each other on one time axis.

    Parameters
    ----------
    rows
        layer (with its unit), at, value (the node's; null where there is none), median (of the peers), and where they
        are known p5 and p95 (of the peers).
    phases
        phase, from_at, to_at: stretches to shade.
    marks
        at, name: upright lines through every layer; the first 40.
    """
    names = rows["layer"].unique(maintain_order=True).to_list()
    layers = [
        _layer(rows, phases, marks, Span.of(window), name, is_first=place == 0) for place, name in enumerate(names)
    ]
    return alt.vconcat(*layers, spacing=6).resolve_scale(color="independent")


def _layer(
    rows: pl.DataFrame, phases: pl.DataFrame, marks: pl.DataFrame, span: Span, name: str, *, is_first: bool
) -> Any:
    own = span.clocked(rows.filter(pl.col("layer") == name), "at")
    x, base = span.axis("at", " "), alt.Chart(own.drop("layer"))
    value = value_axis("value", "", zero=False).axis(tickCount=3, format="~s")
    parts = [span.edges("at", " "), _shades(phases, span, is_first=is_first)]
    if {"p5", "p95"} <= set(own.columns):
        area = base.mark_area(color=SKY, opacity=0.4, aria=False)
        parts.append(area.encode(x, value_axis("p5", "", zero=False), alt.Y2("p95:Q")))
    parts.append(
        base.mark_line(color=GREY, strokeWidth=1.2, strokeDash=[3, 2], aria=False).encode(
            x, value_axis("median", "", zero=False)
        )
    )
    parts.append(base.mark_line(color=BLUE, strokeWidth=1.6, aria=False).encode(x, value))
    parts += _marks(marks, span, is_first=is_first)
    return alt.layer(*parts).properties(width=WIDTH - 40, height=LAYER_HEIGHT, title=name)


def _shades(phases: pl.DataFrame, span: Span, *, is_first: bool) -> alt.Chart:
    shown = phases.filter(pl.col("phase").is_in(list(PHASES)))
    names = [name for name in PHASES if name in set(shown["phase"])]
    scale = alt.Scale(domain=names, range=[PHASES[name] for name in names])
    legend = alt.Legend(title="Shaded") if is_first and names else None
    stretches = span.clocked(shown, "from_at", "to_at").select("phase", at="from_at", to="to_at")
    return (
        alt.Chart(stretches)
        .mark_rect(opacity=0.22, aria=False)
        .encode(span.axis("at", " "), alt.X2("to:T"), alt.Color("phase:N", scale=scale, legend=legend))
    )


def _marks(marks: pl.DataFrame, span: Span, *, is_first: bool) -> list[Any]:
    shown = span.clocked(marks.sort("at", "name").head(MOST_MARKS), "at")
    if shown.is_empty():
        return []
    base = alt.Chart(shown.select("at", "name"))
    rules = base.mark_rule(color=VERMILLION, strokeWidth=1.1, aria=False).encode(span.axis("at", " "))
    if not is_first:
        return [rules]
    text = base.mark_text(align="left", dx=3, dy=-LAYER_HEIGHT / 2 + 8, color=VERMILLION, fontSize=10, aria=False)
    return [rules, text.encode(span.axis("at", " "), text="name:N")]


def split(rows: pl.DataFrame) -> alt.TopLevelMixin:
    """Parts of the way back to training as bars, in order; takes rows of `postmortem.course.split`."""
    shown = rows.drop_nulls("part_min").with_columns(name=pl.col("mark").str.replace_all("_", " "))
    bars = alt.Chart(shown.select("name", "part_min")).mark_bar(color=BLUE, aria=False)
    return framed(
        bars.encode(
            value_axis("part_min", "Minutes since the mark before", channel=alt.X),
            name_axis("name", sort=shown["name"].to_list()),
        ),
        rows_height(shown.height, 24),
    )
