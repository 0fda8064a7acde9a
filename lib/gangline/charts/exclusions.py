"""Pictures of node exclusions: which nodes, how often, when, held or not, and what chance alone would give."""

import altair as alt
import numpy as np
import polars as pl

from gangline.charts.labels import shortened
from gangline.charts.spans import Span, counts, framed
from gangline.charts.theme import (
    BLUE,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    WIDTH,
    name_axis,
    ratio_axis,
    rows_height,
    value_axis,
)
from gangline.estimates import Estimate
from gangline.estimates.chance import BlockNull
from gangline.estimates.wording import counted
from gangline.windows import Window

MOST_NODES = 30
MOST_BARS = 4000
MOST_DOTS = 2000
BINS = 48
ROW = 20
HELD, NOT_HELD = "held by single-node sessions", "not held"
STATES = {"occupied": BLUE, "idle": ORANGE, "asked out": PURPLE}
NO_EXCLUSIONS = {"down": GREY, "in another gang": SKY}


def foremost(nodes: pl.DataFrame) -> pl.DataFrame:
    """The 30 nodes with most excluded hours, with `node_label`, and the mean of all others as one more row.

    Takes rows of `exclusions.by_node`; counts and hours of the last row are means, its verdict is null.
    """
    first, rest = shortened(nodes.head(MOST_NODES), "node"), nodes.slice(MOST_NODES)
    if rest.is_empty():
        return first
    numbers = [name for name, dtype in nodes.schema.items() if dtype.is_numeric()]
    label = f"mean of {counted(rest.height, 'others')}"
    mean = rest.select(pl.col(numbers).mean()).with_columns(
        node=pl.lit(None, pl.String), verdict=pl.lit(None, pl.String), node_label=pl.lit(label)
    )
    return pl.concat(
        [first.cast(dict.fromkeys(numbers, pl.Float64)), mean.cast(dict.fromkeys(numbers, pl.Float64))], how="diagonal"
    )


def by_node(rows: pl.DataFrame) -> alt.TopLevelMixin:
    """Excluded hours by node, split into held and not, with the verdict; excluded_ratio beside; takes `foremost`."""
    order = rows["node_label"].to_list()
    verdicts = (
        alt.Chart(rows.select("node_label", "excluded_h", "verdict").drop_nulls("verdict"))
        .mark_text(align="left", dx=6, aria=False, fontSize=11)
        .encode(alt.X("excluded_h:Q"), name_axis("node_label", sort=order), alt.Text("verdict:N"))
    )
    ratio = (
        alt.Chart(rows.select("node_label", "excluded_ratio"))
        .mark_bar(aria=False, color=GREY)
        .encode(
            ratio_axis("excluded_ratio", "Gang sessions that leave it out").axis(
                format="~%", values=[0, 0.25, 0.5, 0.75, 1]
            ),
            name_axis("node_label", sort=order).axis(None),
        )
    )
    height = rows_height(len(order), ROW)
    return alt.hconcat(
        alt.layer(_held_hours(rows, order), verdicts).properties(width=WIDTH * 0.66, height=height),
        ratio.properties(width=WIDTH * 0.28, height=height),
        spacing=24,
    )


def _held_hours(rows: pl.DataFrame, order: list[str]) -> alt.Chart:
    split = rows.with_columns(
        (pl.col("excluded_h") - pl.col("held_h")).clip(0).alias(NOT_HELD), pl.col("held_h").alias(HELD)
    ).unpivot([HELD, NOT_HELD], index="node_label", variable_name="use", value_name="hours")
    return (
        alt.Chart(split.with_columns(rank=pl.col("use") == NOT_HELD))
        .mark_bar(aria=False)
        .encode(
            value_axis("hours", "Excluded hours in the window (h)", channel=alt.X, stack="zero"),
            name_axis("node_label", sort=order),
            alt.Color("use:N", title=None, scale=alt.Scale(domain=[HELD, NOT_HELD], range=[BLUE, ORANGE])),
            alt.Order("rank:Q"),
        )
    )


def states(rows: pl.DataFrame) -> alt.TopLevelMixin:
    """What nodes were doing when gang sessions started without them; beside, starts that are no exclusion of them."""
    order = rows["node_label"].to_list()
    counted = rows.rename({"asked_out_sessions": "asked out", "other_gang_sessions": "in another gang"}).rename(
        {f"{state}_sessions": state for state in ("occupied", "idle", "down")}
    )
    height = rows_height(len(order), ROW)
    left = _state_bars(counted, STATES, "Exclusions: what the node was doing", order)
    right = _state_bars(counted, NO_EXCLUSIONS, "Not exclusions", order, is_named=False)
    if not counted.select(pl.sum_horizontal(pl.col(list(NO_EXCLUSIONS)).sum())).item():
        return framed(left, height)
    return alt.hconcat(
        left.properties(width=WIDTH * 0.58, height=height),
        right.properties(width=WIDTH * 0.3, height=height),
        spacing=26,
    ).resolve_scale(color="independent")


def strip(stretches: pl.DataFrame, nodes: list[str], window: Window) -> alt.TopLevelMixin:
    """When nodes were left out, as bars, with the time in which a single-node session held them over it."""
    span = Span.of(window)
    named = shortened(stretches, "node")
    labels = dict(named.select("node", "node_label").iter_rows())
    order = [labels[node] for node in nodes if node in labels]
    use = pl.when(pl.col("use") == "held").then(pl.lit(HELD)).otherwise(pl.lit("left out")).alias("use")
    shown = span.clocked(named, "from_at", "to_at").select("node_label", "from_at", "to_at", use)
    colour = alt.Color("use:N", title=None, scale=alt.Scale(domain=[HELD, "left out"], range=[BLUE, ORANGE]))
    layers = [
        alt.Chart(shown.filter(pl.col("use") == name))
        .mark_bar(height={"band": band}, aria=False)
        .encode(span.axis("from_at"), alt.X2("to_at:T"), name_axis("node_label", sort=order), colour)
        for name, band in (("left out", 0.78), (HELD, 0.36))
    ]
    return framed(alt.layer(span.edges("from_at"), *layers), rows_height(len(order), ROW))


def strip_rows(stretches: pl.DataFrame, nodes: list[str]) -> pl.DataFrame:
    """As many whole nodes of `exclusions.stretches`, in the order of `nodes`, as a picture can hold (4,000 bars)."""
    places = pl.DataFrame({"node": nodes, "place": range(len(nodes))}, schema={"node": pl.String, "place": pl.Int64})
    placed = stretches.join(places, on="node").sort("place", "use", "from_at", descending=[False, True, False])
    sizes = placed.group_by("place").len().sort("place").with_columns(pl.col("len").cum_sum())
    fitting = sizes.filter((pl.col("len") <= MOST_BARS) | (pl.col("place") == 0))["place"].to_list()
    return placed.filter(pl.col("place").is_in(fitting)).drop("place").head(MOST_BARS)


def joined_s(window: Window) -> float:
    """Stretches nearer than this many seconds are one bar: a pixel of the picture."""
    return Span.of(window).pixel.total_seconds()


def null_bins(null: BlockNull) -> pl.DataFrame:
    """The draws of the null counted in bins of equal width: from_share, to_share, draws; empty where there are none."""
    schema = {"from_share": pl.Float64, "to_share": pl.Float64, "draws": pl.Int64}
    if not null.statistics:
        return pl.DataFrame(schema=schema)
    counts, edges = np.histogram(null.statistics, bins=BINS)
    return pl.DataFrame({"from_share": edges[:-1], "to_share": edges[1:], "draws": counts}, schema=schema)


def against_chance(bins: pl.DataFrame, observed: Estimate) -> alt.TopLevelMixin:
    """What random sets of the same sizes give, as a histogram, and what was seen, as a rule; takes `null_bins`."""
    seen = pl.DataFrame({"share": [observed.value], "label": [f"seen: {observed.brief}"]})
    scale = _shares(bins, observed)
    low, high = scale.domain
    is_far = (observed.value or 0.0) > low + 0.75 * (high - low)
    x = alt.X("from_share:Q", title="Share of the top three nodes", axis=alt.Axis(format="~%"), scale=scale)
    bars = (
        alt.Chart(bins.with_columns(lower=pl.lit(0)))
        .mark_rect(aria=False, color=SKY)
        .encode(x, alt.X2("to_share:Q"), counts("draws", "Random draws"), alt.Y2("lower:Q"))
    )
    rule = alt.Chart(seen).mark_rule(color=VERMILLION, strokeWidth=2.2, aria=False).encode(alt.X("share:Q"))
    text = (
        alt.Chart(seen)
        .mark_text(
            align="right" if is_far else "left",
            dx=-7 if is_far else 7,
            color=VERMILLION,
            fontWeight=600,
            aria=False,
        )
        .encode(alt.X("share:Q"), alt.Text("label:N"), y=alt.value(10))
    )
    return framed(alt.layer(bars, rule, text), 190)


def likeness(composition: pl.DataFrame, window: Window) -> alt.TopLevelMixin:
    """How alike the nodes of consecutive gang sessions are, over time; takes rows of `gangs.composition`."""
    span = Span.of(window)
    shown = span.clocked(composition.drop_nulls("jaccard"), "started_at").gather_every(
        -(-max(composition.height, 1) // MOST_DOTS)
    )
    y = alt.Y("jaccard:Q", title="Jaccard similarity", scale=alt.Scale(domain=[0, 1]))
    dots = alt.Chart(shown.select("started_at", "jaccard")).mark_point(size=40, opacity=0.75, aria=False)
    title = f"Start of the gang session ({span.zone})"
    return framed(alt.layer(span.edges("started_at", title), dots.encode(span.axis("started_at", title), y)), 150)


def beside_incidents(rows: pl.DataFrame) -> alt.TopLevelMixin:
    """Exclusions and incidents side by side, a row a node; takes `foremost` rows with incidents and incident_h."""
    order = rows["node_label"].to_list()
    panels = [
        ("excluded_h", "Excluded hours (h)", ORANGE),
        ("incidents", "Incidents", VERMILLION),
        ("incident_h", "Incident hours (h)", PURPLE),
    ]
    charts = [
        alt.Chart(rows.select("node_label", field))
        .mark_bar(aria=False, color=colour)
        .encode(
            value_axis(field, title, channel=alt.X),
            name_axis("node_label", sort=order) if place == 0 else name_axis("node_label", sort=order).axis(None),
        )
        .properties(width=WIDTH * 0.3, height=rows_height(len(order), ROW))
        for place, (field, title, colour) in enumerate(panels)
    ]
    return alt.hconcat(*charts, spacing=22)


def _state_bars(
    counted: pl.DataFrame, palette: dict[str, str], title: str, order: list[str], is_named: bool = True
) -> alt.Chart:
    rows = counted.unpivot(list(palette), index="node_label", variable_name="state", value_name="starts")
    ranks = {name: rank for rank, name in enumerate(palette)}
    row = name_axis("node_label", sort=order)
    return (
        alt.Chart(rows.with_columns(rank=pl.col("state").replace_strict(ranks, return_dtype=pl.Int64)))
        .mark_bar(aria=False)
        .encode(
            value_axis("starts", "Gang starts", channel=alt.X, stack="zero"),
            row if is_named else row.axis(None),
            _named_colour(palette, title),
            alt.Order("rank:Q"),
        )
    )


def _named_colour(palette: dict[str, str], title: str) -> alt.Color:
    scale = alt.Scale(domain=list(palette), range=list(palette.values()))
    return alt.Color("state:N", title=title, scale=scale, legend=alt.Legend(titleLimit=400))


def _shares(bins: pl.DataFrame, observed: Estimate) -> alt.Scale:
    seen = observed.value or 0.0
    highest = max([seen, *bins["to_share"].to_list()])
    lowest = min([seen, *bins["from_share"].to_list()])
    margin = 0.06 * max(highest - lowest, 0.01)
    return alt.Scale(domain=[max(0.0, lowest - margin), min(1.0, highest + margin)], nice=False)
