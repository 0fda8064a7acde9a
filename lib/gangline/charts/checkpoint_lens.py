"""One save under the lens: its layers above each other on one time axis, the session's phases shaded behind."""

from typing import Any

import altair as alt
import polars as pl

from gangline.charts.spans import Span
from gangline.charts.theme import BLUE, GREEN, GREY, ORANGE, WIDTH, value_axis
from gangline.save_lens import Lens

PHASES = {"save": ORANGE, "load": GREEN, "unknown": GREY}
LAYER_HEIGHT = 88


def lens(found: Lens) -> alt.TopLevelMixin:
    """The layers of a save, from the storage to memory; training is left unshaded."""
    names = found.rows["layer"].unique(maintain_order=True).to_list()
    layers = [_layer(found, name, has_legend=place == 0) for place, name in enumerate(names)]
    return alt.vconcat(*layers, spacing=6).resolve_scale(color="shared")


def _layer(found: Lens, name: str, *, has_legend: bool) -> Any:
    span = Span.of(found.window)
    rows = span.clocked(found.rows.filter(pl.col("layer") == name), "at").select("at", "value")
    x = span.axis("at", " ")
    course = alt.Chart(rows).mark_line(color=BLUE, strokeWidth=1.8, interpolate="step-after", aria=False)
    course = course.encode(x, value_axis("value", "").axis(tickCount=3, format=".3~g"))
    layered = alt.layer(span.edges("at", " "), _shades(found, span, has_legend=has_legend), course)
    return layered.properties(width=WIDTH - 40, height=LAYER_HEIGHT, title=name)


def _shades(found: Lens, span: Span, *, has_legend: bool) -> alt.Chart:
    shown = found.phases.filter(pl.col("phase").is_in(list(PHASES)))
    names = [name for name in PHASES if name in set(shown["phase"])]
    scale = alt.Scale(domain=names, range=[PHASES[name] for name in names])
    legend = alt.Legend(title="Shaded") if has_legend and names else None
    stretches = span.clocked(shown, "from", "to").rename({"from": "at"})
    return (
        alt.Chart(stretches.select("phase", "at", "to"))
        .mark_rect(opacity=0.22, aria=False)
        .encode(span.axis("at", " "), alt.X2("to:T"), alt.Color("phase:N", scale=scale, legend=legend))
    )
