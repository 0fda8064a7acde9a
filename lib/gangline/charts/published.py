"""How far each computed figure lies from the printed one, in units of what its last digit allows."""

import altair as alt
import polars as pl

from gangline.charts.theme import BLUE, GREY, SKY, VERMILLION, WIDTH
from gangline.published import OUTSIDE, WITHIN

FARTHEST = 3.0
ROW_HEIGHT = 15
COLOURS = {WITHIN: BLUE, OUTSIDE: VERMILLION}


def places(compared: pl.DataFrame) -> pl.DataFrame:
    """Rows for `digits`, of figures printed as a rounded number: name, shown (-1 to 1: prints alike), verdict.

    `shown` is cut at three times what the digits allow, either way. Takes `published.compared`.
    """
    half = (pl.col("high") - pl.col("low")) / 2
    off = ((pl.col("computed_value") - pl.col("value")) / half).clip(-FARTHEST, FARTHEST)
    name = pl.coalesce("figure", pl.concat_str(pl.lit("overlap of "), "node"))
    return compared.filter(pl.col("difference").is_not_null(), half > 0).select(
        name.alias("name"), off.alias("shown"), "verdict", "printed", pl.col("computed").fill_null("")
    )


def digits(places: pl.DataFrame) -> alt.TopLevelMixin:
    """A mark a figure; within the band it prints as published. Takes `places`."""
    names = places["name"].to_list()
    band = pl.DataFrame({"from": [-1.0], "to": [1.0]})
    axis = alt.Axis(values=[-3, -2, -1, 0, 1, 2, 3], grid=False)
    scale = alt.Scale(domain=[-FARTHEST, FARTHEST], nice=False)
    shade = (
        alt.Chart(band)
        .mark_rect(color=SKY, opacity=0.25, aria=False)
        .encode(alt.X("from:Q").scale(scale), alt.X2("to:Q"))
    )
    zero = alt.Chart(pl.DataFrame({"at": [0.0]})).mark_rule(color=GREY, aria=False).encode(alt.X("at:Q").scale(scale))
    marks = (
        alt.Chart(places)
        .mark_circle(size=46, opacity=1)
        .encode(
            alt.X("shown:Q", title="Half units of the last printed digit", scale=scale, axis=axis),
            alt.Y("name:N", title=None, sort=names, axis=alt.Axis(labelLimit=260)),
            alt.Color("verdict:N", title=None, scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))),
            tooltip=["name", "printed", "computed"],
        )
    )
    return alt.layer(shade, zero, marks).properties(width=WIDTH, height=ROW_HEIGHT * max(len(names), 1))
