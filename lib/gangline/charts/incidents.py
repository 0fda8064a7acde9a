"""Pictures of node incidents: when and where, how long, and how they follow one another."""

import math
from typing import Any

import altair as alt
import polars as pl

from gangline.charts.labels import shortened
from gangline.charts.spans import Span, bar_ends, counts, framed
from gangline.charts.theme import (
    BLUE,
    GREY,
    SKY,
    VERMILLION,
    name_axis,
    ratio_axis,
    rows_height,
    series_colour,
    value_axis,
)
from gangline.estimates import Estimate
from gangline.incidents import Arrivals
from gangline.windows import Window

MOST_KINDS = 6
MOST_NODES = 40
MOST_BARS = 2000
MOST_DOTS = 200
BINS_A_DECADE = 4
SHORTEST_H = 1 / 60
LEGEND_LETTERS, LEGEND_COLUMNS = 110, 4
OTHER = "other kinds"


def with_kinds(incidents: pl.DataFrame) -> pl.DataFrame:
    """Add `kind_label`: the commonest kinds by name, the rest together, null as "not said"."""
    named = shortened(incidents.with_columns(pl.col("kind").fill_null("not said")), "kind")
    common = named["kind_label"].value_counts().sort(["count", "kind_label"], descending=[True, False])
    kept = common["kind_label"].head(MOST_KINDS).to_list()
    return named.with_columns(
        kind_label=pl.when(pl.col("kind_label").is_in(kept)).then("kind_label").otherwise(pl.lit(OTHER))
    )


def kind_names(incidents: pl.DataFrame) -> list[str]:
    """Kind labels, commonest first, the rest last: the order of colours in every picture of a page."""
    counts = incidents["kind_label"].value_counts().sort(["count", "kind_label"], descending=[True, False])
    names: list[str] = counts["kind_label"].to_list()
    return [name for name in names if name != OTHER] + [OTHER] * (OTHER in names)


def starts(starts_by_day: pl.DataFrame, stretch: str, window: Window) -> alt.TopLevelMixin:
    """Incidents that start a day (week, month) as bars; takes `incidents.starts`."""
    shown = bar_ends(starts_by_day, stretch).select("from", "to", "incidents", lower=pl.lit(0))
    bars = alt.Chart(shown).mark_rect(aria=False, color=BLUE)
    at = Span.of(window).day_axis("from")
    return framed(bars.encode(at, alt.X2("to:T"), counts("incidents", f"Started a {stretch}"), alt.Y2("lower:Q")), 140)


def calendar(incidents: pl.DataFrame, window: Window) -> alt.TopLevelMixin:
    """Incidents as bars over time, one row a node, most hours first, a tick at each start; takes `with_kinds` rows.

    The first 40 nodes and their 2,000 longest incidents; an open one runs to the export time.
    """
    span, nodes = Span.of(window), _most_hit(incidents)
    shown = incidents.filter(pl.col("node").is_in(nodes)).sort("duration_h", descending=True).head(MOST_BARS)
    ended = pl.coalesce("ended_at", "observed_until", "started_at")
    named = shortened(shown.with_columns(until_at=pl.min_horizontal(ended, pl.lit(window.end))), "node")
    labels = dict(named.select("node", "node_label").iter_rows())
    order = [labels[node] for node in nodes if node in labels]
    base = alt.Chart(
        span.clocked(named, "started_at", "until_at").select("node_label", "kind_label", "started_at", "until_at")
    )
    row = name_axis("node_label", sort=order)
    colour = _kind_colour(kind_names(incidents))
    bars = base.mark_bar(height={"band": 0.55}, aria=False).encode(
        span.axis("started_at"), alt.X2("until_at:T"), row, colour
    )
    ticks = base.mark_tick(thickness=1.6, height={"band": 0.9}, opacity=1, aria=False).encode(
        span.axis("started_at"), row, colour
    )
    return framed(alt.layer(span.edges("started_at"), bars, ticks), rows_height(len(order), 18))


def _kind_colour(names: list[str]) -> alt.Color:
    """Kinds by colour; where their names do not fit side by side, the legend has two lines."""
    lines: dict[str, Any] = {"columns": LEGEND_COLUMNS} if sum(map(len, names)) > LEGEND_LETTERS else {}
    return series_colour("kind_label", names).legend(symbolType="square", symbolOpacity=1, **lines)


def duration_bins(incidents: pl.DataFrame) -> pl.DataFrame:
    """Durations counted in bins of a quarter of a decade: from_h, to_h, incidents; a minute is the least."""
    place = (pl.col("duration_h").clip(SHORTEST_H).log10() * BINS_A_DECADE).floor().alias("place")
    counted = incidents.group_by(place).agg(incidents=pl.len()).sort("place")
    edges = [
        (10.0 ** ((pl.col("place") + step) / BINS_A_DECADE)).alias(name) for step, name in ((0, "from_h"), (1, "to_h"))
    ]
    return counted.select(*edges, "incidents")


def durations(bins: pl.DataFrame, quartiles: list[Estimate]) -> alt.TopLevelMixin:
    """Durations as a histogram on a logarithmic axis, rules at the quartiles that are known; takes `duration_bins`."""
    scale = alt.Scale(type="log", nice=False)
    bars = (
        alt.Chart(bins)
        .mark_bar(aria=False, binSpacing=1)
        .encode(
            _log_hours("from_h", "Duration (h, logarithmic)", scale).bin("binned"),
            alt.X2("to_h:Q"),
            counts("incidents", "Incidents"),
        )
    )
    edges = bins["from_h"].to_list() + bins["to_h"].to_list()
    middle_h = math.sqrt(min(edges) * max(edges)) if edges else math.inf
    return framed(alt.layer(bars, *_quartile_rules(quartiles, middle_h)), 190)


def by_kind(incidents: pl.DataFrame) -> alt.TopLevelMixin:
    """Durations by kind: a dot an incident, a bar from quartile to quartile.

    At most 200 dots a kind, evenly over its durations. Takes `with_kinds` rows. Open incidents are hollow.
    """
    clipped = incidents.with_columns(duration_h=pl.col("duration_h").clip(SHORTEST_H))
    names = kind_names(incidents)
    layers = alt.layer(_quartile_bars(clipped, names), _duration_dots(clipped, names))
    return framed(layers, rows_height(len(names), 30))


def _quartile_bars(clipped: pl.DataFrame, names: list[str]) -> alt.Chart:
    spread = (
        clipped.sort("kind_label")
        .group_by("kind_label", maintain_order=True)
        .agg(low_h=pl.col("duration_h").quantile(0.25, "linear"), high_h=pl.col("duration_h").quantile(0.75, "linear"))
    )
    return (
        alt.Chart(spread)
        .mark_bar(height={"band": 0.62}, opacity=0.28, color=GREY, aria=False)
        .encode(_log_duration("low_h"), alt.X2("high_h:Q"), name_axis("kind_label", sort=names))
    )


def _duration_dots(clipped: pl.DataFrame, names: list[str]) -> alt.Chart:
    state = pl.when("is_censored").then(pl.lit("still open")).otherwise(pl.lit("ended")).alias("state")
    states = ["ended", "still open"]
    return (
        alt.Chart(_evenly(clipped).select("kind_label", "duration_h", state))
        .mark_point(size=46, opacity=0.8, strokeWidth=1.5, aria=False)
        .encode(
            _log_duration("duration_h"),
            name_axis("kind_label", sort=names),
            alt.Fill("state:N", title=None, scale=alt.Scale(domain=states, range=[BLUE, "transparent"])),
            alt.Stroke("state:N", title=None, scale=alt.Scale(domain=states, range=[BLUE, VERMILLION])),
        )
    )


def _log_duration(column: str) -> alt.X:
    return _log_hours(column, "Duration (h, logarithmic)", alt.Scale(type="log", nice=True))


def gap_curve(arrivals: Arrivals, points: int = 120) -> pl.DataFrame:
    """Share of gaps that last longer, by hours: gap_h, longer_share, curve (`seen`, `Weibull`, `memoryless`).

    Empty where no Weibull law could be fitted. The memoryless law has the mean that the gaps show.
    """
    shape, scale, times = arrivals.fit.shape.value, arrivals.fit.scale.value, arrivals.gaps.durations
    schema = {"gap_h": pl.Float64, "longer_share": pl.Float64, "curve": pl.String}
    if shape is None or scale is None:
        return pl.DataFrame(schema=schema)
    first, last = math.log(float(times.min())), math.log(float(times.max()))
    hours = [math.exp(first + (last - first) * step / points) for step in range(points + 1)]
    mean_h = float(times.sum()) / int(arrivals.gaps.is_ended.sum())
    rows = [(at, share, "seen") for at, share in _thinned(arrivals) if at > 0]
    rows += [(at, math.exp(-((at / scale) ** shape)), "Weibull") for at in hours]
    rows += [(at, math.exp(-at / mean_h), "memoryless") for at in hours]
    return pl.DataFrame(rows, schema=schema, orient="row")


def gaps(curves: pl.DataFrame) -> alt.TopLevelMixin:
    """The share of gaps that last longer, as seen and as the two laws give it; takes `gap_curve`."""
    names, colours = ["seen", "Weibull", "memoryless"], [SKY, BLUE, VERMILLION]
    scale = alt.Scale(type="log", nice=False)
    colour = alt.Color("curve:N", title=None, scale=alt.Scale(domain=names, range=colours))
    at, share = _log_hours("gap_h", "Gap to the node's next incident (h, logarithmic)", scale), _longer()
    styles: dict[str, dict[str, Any]] = {
        "seen": {"interpolate": "step-after", "strokeWidth": 3},
        "Weibull": {"interpolate": "linear"},
        "memoryless": {"interpolate": "linear", "strokeDash": [5, 4]},
    }
    layers = [
        alt.Chart(curves.filter(pl.col("curve") == name)).mark_line(aria=False, **style).encode(at, share, colour)
        for name, style in styles.items()
    ]
    return framed(alt.layer(*layers), 220)


def _longer() -> alt.Y:
    axis: alt.Y = ratio_axis("longer_share", "Gaps that last longer", channel=alt.Y)
    return axis


def _log_hours(field: str, title: str, scale: alt.Scale) -> alt.X:
    axis: alt.X = value_axis(field, title, channel=alt.X, scale=scale)
    return axis.axis(format="~g", tickCount=8, labelOverlap="greedy")


def _most_hit(incidents: pl.DataFrame) -> list[str]:
    hours = (
        incidents.group_by("node")
        .agg(pl.col("duration_h").sum())
        .sort(["duration_h", "node"], descending=[True, False])
    )
    nodes: list[str] = hours["node"].head(MOST_NODES).to_list()
    return nodes


def _quartile_rules(quartiles: list[Estimate], middle_h: float) -> list[alt.Chart]:
    """Rules with their names on the side that has more room."""
    names = ["a quarter by", "half by", "three quarters by"]
    known = [
        (max(quartile.value, SHORTEST_H), f"{name} {quartile.brief}")
        for name, quartile in zip(names, quartiles, strict=True)
        if quartile.value is not None
    ]
    layers = []
    for place, (at_h, label) in enumerate(known):
        base = alt.Chart(pl.DataFrame({"at_h": [at_h], "label": [label]}))
        layers.append(base.mark_rule(color=VERMILLION, strokeWidth=1.8, aria=False).encode(alt.X("at_h:Q")))
        side: dict[str, Any] = {"align": "left", "dx": 4} if at_h < middle_h else {"align": "right", "dx": -4}
        text = base.mark_text(**side, color=VERMILLION, fontWeight=600, aria=False)
        layers.append(text.encode(alt.X("at_h:Q"), alt.Text("label:N"), y=alt.value(-38 + 14 * place)))
    return layers


def _evenly(incidents: pl.DataFrame) -> pl.DataFrame:
    ranked = incidents.with_columns(
        place=pl.col("duration_h").rank("ordinal").over("kind_label"), size=pl.len().over("kind_label")
    )
    step = (pl.col("size") / MOST_DOTS).ceil().clip(1).cast(pl.Int64)
    return ranked.filter((pl.col("place") % step == 0) | (pl.col("place") == pl.col("size")))


def _thinned(arrivals: Arrivals) -> list[tuple[float, float]]:
    curve = arrivals.curve
    points = list(zip(curve.times.tolist(), curve.survival.tolist(), strict=True))
    return points[:: max(1, len(points) // 1000)]
