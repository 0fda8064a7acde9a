"""Pictures of a week's first page: what was lost, by cause, beside the window before."""

import altair as alt
import polars as pl

from gangline.charts.spans import framed
from gangline.charts.theme import BLUE, GREY, name_axis, rows_height, value_axis
from gangline.weekly.lost_hours import LostHours

THIS, BEFORE = "this window", "the window before"
ROW = 34


def beside(lost: LostHours, before: LostHours | None) -> pl.DataFrame:
    """Causes with hours that can be told, most hours first: window, name, meaning, lost_gpu_h, cases."""
    windows = [(THIS, lost.rows), *([(BEFORE, before.rows)] if before else [])]
    named = [
        rows.select(pl.lit(name).alias("window"), "name", "meaning", "lost_gpu_h", "cases") for name, rows in windows
    ]
    known = pl.concat(named).drop_nulls("lost_gpu_h")
    order = known.filter(pl.col("window") == THIS).select(
        "name", place=pl.col("lost_gpu_h").rank("ordinal", descending=True)
    )
    return known.join(order, on="name").sort("place", "window", descending=[False, True]).drop("place")


def lost_by_cause(rows: pl.DataFrame) -> alt.TopLevelMixin:
    """GPU-hours by cause, this window over the one before; takes `beside`."""
    present = [name for name in (THIS, BEFORE) if name in rows["window"]]
    colour = alt.Color(
        "window:N", title=None, scale=alt.Scale(domain=[THIS, BEFORE][: len(present)], range=[BLUE, GREY])
    )
    causes = rows["name"].unique(maintain_order=True).to_list()
    bars = alt.Chart(rows).mark_bar(aria=False)
    return framed(
        bars.encode(
            value_axis("lost_gpu_h", "GPU-hours", channel=alt.X),
            name_axis("name", sort=causes),
            alt.YOffset("window:N", sort=[THIS, BEFORE]),
            colour,
        ),
        rows_height(len(causes), ROW),
    )
