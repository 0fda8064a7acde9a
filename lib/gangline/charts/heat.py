"""Heat maps over time: one image for all cells, drawn under Altair's own axes and legend."""

import io
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray
from PIL import Image

from gangline.charts import theme
from gangline.charts.picture import data_uri

MOST_CELLS_WITH_TOOLTIPS = 5000
PIXELS_PER_CELL = 4
VIRIDIS = bytes.fromhex(
    "440154481a6c472f7d41448739568c31688e2a788e23888e1f988b22a88435b77954c5687ad151a5db36d2e21bfde725"
)
"""Sixteen stops of viridis (van der Walt and Smith, matplotlib), blended in between."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells of `step` length per name over a window: a row per name, a column per step.

    Attributes
    ----------
    cells : DataFrame
        `name` (String), `at` (UTC-aware start of the step), `value` (Float64, null for no data); a cell that is
        missing has no data.
    names : list of str
        The rows from the top; made legible before (`labels.shortened`).
    """

    cells: pl.DataFrame
    names: list[str]
    start: datetime
    end: datetime
    step: timedelta

    @property
    def columns(self) -> int:
        """Steps that the window holds, a part of one counted whole."""
        return max(1, -((self.start - self.end) // self.step))

    def matrix(self) -> NDArray[np.float64]:
        """Give the values by row and column, NaN where there is no data."""
        values = np.full((len(self.names), self.columns), np.nan)
        rows = {name: row for row, name in enumerate(self.names)}
        for name, at, value in self.cells.select("name", "at", "value").iter_rows():
            column = (at - self.start) // self.step
            if name in rows and 0 <= column < self.columns and value is not None:
                values[rows[name], column] = value
        return values


def heat_map(
    grid: Grid, title: str, low: float, high: float, row_height: int = 12, zone: str = "UTC"
) -> alt.LayerChart:
    """Draw a grid in viridis from `low` to `high`, grey for no data; `title` names the value and its unit.

    `zone` is the one whose clock the grid's times show.
    """
    size: dict[str, Any] = {"width": theme.WIDTH - 60, "height": theme.rows_height(len(grid.names), row_height)}
    image = alt.Chart(pl.DataFrame({"url": [image_uri(grid.matrix(), low, high)]})).mark_image(
        aspect=False, smooth=False, align="left", baseline="top", **size
    )
    placed = image.encode(x=alt.value(0), y=alt.value(0), url="url:N")
    layers = [placed, _edges(grid), _axes(grid, title, low, high, zone)]
    return alt.LayerChart(layer=layers).properties(**size)


def image_uri(values: NDArray[np.float64], low: float, high: float) -> str:
    """Draw a matrix as a PNG address: viridis from `low` to `high`, grey where NaN, each cell some pixels wide.

    One pixel per cell would do on a screen; some readers of PDF smooth an image that they enlarge.
    """
    image = Image.fromarray(_colours(values, low, high))
    grown = image.resize((image.width * PIXELS_PER_CELL, image.height * PIXELS_PER_CELL), Image.Resampling.NEAREST)
    written = io.BytesIO()
    grown.quantize(128, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
    return data_uri("image/png", written.getvalue())


def _colours(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.uint8]:
    share = np.nan_to_num(np.clip((values - low) / ((high - low) or 1.0), 0, 1))
    stops = np.frombuffer(VIRIDIS, dtype=np.uint8).reshape(-1, 3)
    place = np.linspace(0, 1, len(stops))
    colours = np.stack([np.interp(share, place, stops[:, channel]) for channel in range(3)], axis=-1)
    colours[np.isnan(values)] = list(bytes.fromhex(theme.NO_DATA.removeprefix("#")))
    return colours.round().astype(np.uint8)


def _edges(grid: Grid) -> Any:
    """Two invisible points that stretch the axis over the whole window.

    An explicit domain would do, were it not merged wrongly by Vega-Lite 6 where a mark has both x and x2.
    """
    edges = alt.Chart(pl.DataFrame({"at": [grid.start, grid.end]})).mark_point(opacity=0)
    return edges.encode(x=alt.X("at:T", scale=alt.Scale(type="utc", nice=False)))


def _axes(grid: Grid, title: str, low: float, high: float, zone: str) -> Any:
    scale = alt.Scale(scheme="viridis", domain=[low, high])
    x = theme.time_axis("from", zone=zone)
    x["scale"] = alt.Scale(type="utc", nice=False)
    y = theme.name_axis("name", sort=grid.names)
    y["scale"] = alt.Scale(padding=0, domain=grid.names)
    cover = alt.Chart(_covers(grid, zone)).mark_rect(opacity=0)
    colour = alt.Color("value:Q", title=title, scale=scale)
    return cover.encode(x=x, x2="to:T", y=y, color=colour, tooltip=_tooltip(title))


def _covers(grid: Grid, zone: str) -> pl.DataFrame:
    """Cells to point at; above the limit one bar a row, which only carries the axes."""
    if grid.cells.is_empty() or grid.cells.height > MOST_CELLS_WITH_TOOLTIPS:
        rows = pl.DataFrame({"name": grid.names}, schema={"name": pl.String})
        bars = rows.with_columns(pl.lit(grid.start).alias("from"), pl.lit(grid.end).alias("to"))
        return bars.with_columns(pl.lit(None, pl.Float64).alias("value"), pl.lit("").alias("when"))
    opened = grid.cells.select("name", pl.col("at").alias("from"), (pl.col("at") + grid.step).alias("to"), "value")
    return opened.with_columns(pl.col("from").dt.strftime(f"%Y-%m-%d %H:%M {zone}").alias("when"))


def _tooltip(title: str) -> list[Any]:
    return [
        alt.Tooltip("name:N", title="Name"),
        alt.Tooltip("when:N", title="From"),
        alt.Tooltip("value:Q", title=title),
    ]
