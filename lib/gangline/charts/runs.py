"""Pictures of runs: how far training came, its loss and pace, what was done again, and where it began again."""

import altair as alt
import polars as pl

from gangline.charts.labels import shortened
from gangline.charts.spans import Span
from gangline.charts.theme import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, WIDTH, value_axis
from gangline.windows import Window

EFFORT_COLOURS = (BLUE, GREEN, PURPLE, ORANGE, SKY)
OTHERS, LOST = "other efforts", "done again later"
MOST_ROWS, MOST_RESTARTS = 3600, 400
NAME_WIDTH = 24
SHAPES = {"new run": "triangle-up", "resumed run": "diamond", "inside": "cross"}


def shown(curve: pl.DataFrame) -> pl.DataFrame:
    """Rows of a curve that a picture can hold, with `series` (the effort, or what was done again) and `line`.

    Whole runs, those with most points first, up to 3,600 rows; the five efforts with most points have their name.
    """
    ranked = curve.with_columns(
        run_points=pl.col("points").sum().over("run_id"), effort_points=pl.col("points").sum().over("effort")
    ).sort(["run_points", "run_id", "stretch", "from_at", "step"], descending=[True, False, False, False, False])
    runs = ranked.group_by("run_id", maintain_order=True).len().with_columns(pl.col("len").cum_sum())
    fitting = runs.filter((pl.col("len") <= MOST_ROWS) | (pl.int_range(pl.len()) == 0))["run_id"]
    kept = ranked.filter(pl.col("run_id").is_in(fitting.implode())).head(MOST_ROWS)
    named = shortened(kept, "effort", NAME_WIDTH)
    first = _foremost(named)
    effort = pl.when(pl.col("effort_label").is_in(first)).then("effort_label").otherwise(pl.lit(OTHERS))
    series = pl.when("is_lost").then(pl.lit(LOST)).otherwise(effort).alias("series")
    line = pl.struct("run_id", "stretch").rank("dense").alias("line")
    return named.with_columns(series, line).drop("run_points", "effort_points")


def order(rows: pl.DataFrame) -> list[str]:
    """The series of `shown` rows as their legend has them: efforts, the rest, what was done again."""
    present = set(rows["series"])
    names = [*_foremost(rows), OTHERS, LOST]
    return [name for name in dict.fromkeys(names) if name in present]


def progress(rows: pl.DataFrame, restarts: pl.DataFrame, window: Window) -> alt.TopLevelMixin:
    """Steps over time: what was done again stands out, and each new begin is marked; takes `shown` rows over time."""
    span = Span.of(window)
    timed = span.clocked(rows.drop_nulls("from_at"), "from_at")
    lines = _lines(timed, span.axis("from_at"), value_axis("step", "Step"), order(rows))
    again = span.clocked(restarts.tail(MOST_RESTARTS), "at").select("at", "step", "kind")
    kinds = [name for name in SHAPES if name in set(again["kind"])]
    scale = alt.Scale(domain=kinds, range=[SHAPES[name] for name in kinds])
    marks = (
        alt.Chart(again)
        .mark_point(size=70, opacity=1, filled=False, color=VERMILLION, strokeWidth=1.6, aria=False)
        .encode(span.axis("at"), alt.Y("step:Q"), alt.Shape("kind:N", title="Begins again", scale=scale))
    )
    return alt.layer(*lines, marks).properties(width=WIDTH, height=260)


def by_step(rows: pl.DataFrame, title: str) -> alt.TopLevelMixin:
    """A metric by step, the middle of each range as a line, its least and greatest as a band; takes `shown` rows."""
    x = value_axis("step", "Step", channel=alt.X, zero=False)
    lines = _lines(rows, x, value_axis("middle", title, zero=False), order(rows), title)
    return alt.layer(*lines).properties(width=WIDTH, height=240)


def over_time(rows: pl.DataFrame, restarts: pl.DataFrame, title: str, window: Window) -> alt.TopLevelMixin:
    """A metric over time with its band, a rule where training begins again; takes `shown` rows over time."""
    span = Span.of(window)
    timed = span.clocked(rows.drop_nulls("from_at"), "from_at")
    y = value_axis("middle", title)
    lines = _lines(timed, span.axis("from_at"), y, order(rows), title)
    again = span.clocked(restarts.tail(MOST_RESTARTS), "at").select("at")
    rules = alt.Chart(again).mark_rule(color=GREY, strokeDash=[2, 3], aria=False).encode(span.axis("at"))
    return alt.layer(rules, *lines).properties(width=WIDTH, height=190)


def _foremost(rows: pl.DataFrame) -> list[str]:
    """Labels of the efforts with most points, as many as have a colour."""
    points = rows.group_by("effort_label").agg(pl.col("points").sum())
    ranked = points.sort(["points", "effort_label"], descending=[True, False])
    names: list[str] = ranked["effort_label"].head(len(EFFORT_COLOURS)).to_list()
    return names


def _lines(rows: pl.DataFrame, x: alt.X, y: alt.Y, names: list[str], band_title: str = "") -> list[alt.Chart]:
    """A line a stretch of a run; with a title, the band from its least to its greatest behind it."""
    efforts = [name for name in names if name not in (OTHERS, LOST)]
    palette = dict(zip(efforts, EFFORT_COLOURS, strict=False)) | {OTHERS: GREY, LOST: VERMILLION}
    scale = alt.Scale(domain=names, range=[palette[name] for name in names])
    stroke = alt.Legend(symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=2.6, symbolFillColor="transparent")
    colour = alt.Color("series:N", title=None, scale=scale, legend=stroke)
    kept = rows.select("series", "line", "from_at", "step", "low", "middle", "high")
    base = alt.Chart(kept).encode(x, colour, alt.Detail("line:O"))
    line = base.mark_line(interpolate="linear", strokeWidth=1.8, aria=False).encode(y)
    alone = kept.filter(pl.len().over("line") == 1)
    dots = alt.Chart(alone).mark_point(size=18, opacity=1, aria=False).encode(x, y, colour)
    if not band_title:
        return [line, dots]
    ends = alt.Y("low:Q", title=band_title), alt.Y2("high:Q")
    return [base.mark_area(opacity=0.25, interpolate="linear", aria=False).encode(*ends), line, dots]
