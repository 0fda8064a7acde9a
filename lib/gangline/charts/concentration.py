"""Pictures of how unevenly something is spread over nodes."""

import altair as alt
import polars as pl
from numpy.typing import ArrayLike

from gangline.charts.theme import GREY, ratio_axis
from gangline.estimates.concentration import lorenz

SIDE = 280
MOST_POINTS = 600


def curve(amounts: ArrayLike) -> pl.DataFrame:
    """The Lorenz curve of amounts over nodes: node_share, amount_share; empty where there is nothing to share."""
    drawn = lorenz(amounts)
    schema = {"node_share": pl.Float64, "amount_share": pl.Float64}
    if drawn is None:
        return pl.DataFrame(schema=schema)
    return pl.DataFrame({"node_share": drawn.units, "amount_share": drawn.amount}, schema=schema)


def lorenz_chart(points: pl.DataFrame, what: str) -> alt.TopLevelMixin:
    """A Lorenz curve of `what`, beside the dashed line of an even spread; takes rows of `curve`."""
    shown = points.gather_every(-(-max(points.height, 1) // MOST_POINTS))
    shown = pl.concat([shown, points.tail(1)]).unique(maintain_order=True)
    even = pl.DataFrame({"node_share": [0.0, 1.0], "amount_share": [0.0, 1.0]})
    axes = (
        ratio_axis("node_share", "Share of nodes, least first"),
        ratio_axis("amount_share", f"Share of {what}", channel=alt.Y),
    )
    line = alt.Chart(shown).mark_line(interpolate="linear", strokeWidth=2.2).encode(*axes)
    diagonal = alt.Chart(even).mark_line(strokeDash=[4, 4], color=GREY, strokeWidth=1.2).encode(*axes)
    return alt.layer(diagonal, line).properties(width=SIDE * 1.5, height=SIDE)
