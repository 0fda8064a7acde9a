"""Pictures of node incidents: when and where, how long, how concentrated."""

import altair as alt
import polars as pl

from gangline.charts.labels import shortened
from gangline.charts.theme import (
    HEIGHT,
    WIDTH,
    name_axis,
    ratio_axis,
    rows_height,
    series_colour,
    time_axis,
    value_axis,
    wall_clock,
)
from gangline.estimates.concentration import lorenz

MOST_KINDS = 6
MOST_ROWS = 40
SHORTEST_H = 1 / 60


def with_kinds(incidents: pl.DataFrame) -> pl.DataFrame:
    """Adds `kind_label`: the commonest kinds by name, the rest as "other", null as "not said"."""
    named = shortened(incidents.with_columns(pl.col("kind").fill_null("not said")), "kind")
    common = named["kind_label"].value_counts().sort(["count", "kind_label"], descending=[True, False])
    kept = common["kind_label"].head(MOST_KINDS).to_list()
    return named.with_columns(
        kind_label=pl.when(pl.col("kind_label").is_in(kept)).then("kind_label").otherwise(pl.lit("other"))
    )


def kind_names(incidents: pl.DataFrame) -> list[str]:
    """Kind labels, commonest first, "other" last: the order of colours in every picture of a page."""
    counts = incidents["kind_label"].value_counts().sort(["count", "kind_label"], descending=[True, False])
    names = counts["kind_label"].to_list()
    return [name for name in names if name != "other"] + (["other"] if "other" in names else [])


def calendar(incidents: pl.DataFrame, zone: str) -> alt.TopLevelMixin:
    """Incidents as bars over time, one row a node, the nodes with most hours first (the first 40).

    Takes rows of `incidents.rows` that went through `with_kinds`; an open incident runs to the export time.
    """
    hours = (
        incidents.group_by("node")
        .agg(pl.col("duration_h").sum())
        .sort(["duration_h", "node"], descending=[True, False])
    )
    nodes = hours["node"].head(MOST_ROWS).to_list()
    shown = incidents.filter(pl.col("node").is_in(nodes)).with_columns(
        until_at=pl.coalesce("ended_at", "observed_until")
    )
    shown = wall_clock(shortened(shown, "node"), ["started_at", "until_at"], zone)
    labels = dict(zip(shown["node"].to_list(), shown["node_label"].to_list(), strict=True))
    base = alt.Chart(shown.select("node_label", "kind_label", "started_at", "until_at"))
    bars = base.mark_bar(height={"band": 0.7}, aria=False).encode(
        time_axis("started_at", zone=zone),
        alt.X2("until_at:T"),
        name_axis("node_label", sort=[labels[node] for node in nodes]),
        series_colour("kind_label", kind_names(incidents), "Kind"),
    )
    starts = base.mark_tick(thickness=2, height=8, aria=False).encode(
        time_axis("started_at", zone=zone),
        name_axis("node_label", sort=[labels[node] for node in nodes]),
        series_colour("kind_label", kind_names(incidents), "Kind"),
    )
    return alt.layer(bars, starts).properties(width=WIDTH, height=rows_height(len(nodes)))


def durations(incidents: pl.DataFrame) -> alt.TopLevelMixin:
    """Durations by kind on a logarithmic axis, one mark an incident, open ones hollow; a middle rule a kind."""
    shown = incidents.with_columns(
        duration_h=pl.col("duration_h").clip(SHORTEST_H),
        state=pl.when("is_censored").then(pl.lit("still open")).otherwise(pl.lit("ended")),
    )
    return (
        alt.Chart(shown.select("kind_label", "duration_h", "state"))
        .mark_point(size=42, opacity=0.75, aria=False)
        .encode(
            value_axis("duration_h", "Duration (h, logarithmic)", channel=alt.X, scale=alt.Scale(type="log")),
            name_axis("kind_label", sort=kind_names(incidents)),
            series_colour("kind_label", kind_names(incidents)).legend(None),
            alt.Shape(
                "state:N", title=None, scale=alt.Scale(domain=["ended", "still open"], range=["circle", "cross"])
            ),
        )
        .properties(width=WIDTH, height=rows_height(incidents["kind_label"].n_unique(), 34))
    )


def concentration(hours_by_node: pl.DataFrame) -> alt.TopLevelMixin | None:
    """The Lorenz curve of incident hours over nodes, against the line of an even spread; None without hours."""
    curve = lorenz(hours_by_node["incident_h"].to_numpy())
    return lorenz_chart(curve.units, curve.amount, "incident hours") if curve else None


def lorenz_chart(units: object, amount: object, what: str) -> alt.TopLevelMixin:
    """A Lorenz curve of `what` over nodes beside the diagonal of an even spread."""
    points = pl.DataFrame({"node_share": units, "amount_share": amount})
    even = pl.DataFrame({"node_share": [0.0, 1.0], "amount_share": [0.0, 1.0]})
    axes = (
        ratio_axis("node_share", "Share of nodes, least affected first"),
        ratio_axis("amount_share", f"Share of {what}", channel=alt.Y),
    )
    line = alt.Chart(points).mark_line(interpolate="linear", strokeWidth=2).encode(*axes)
    diagonal = alt.Chart(even).mark_line(strokeDash=[4, 4], color="#8A94A6", strokeWidth=1).encode(*axes)
    return alt.layer(diagonal, line).properties(width=HEIGHT + 100, height=HEIGHT + 60)


def arrivals(starts_by_day: pl.DataFrame) -> alt.TopLevelMixin:
    """Incidents per local day as bars; takes `day` (UTC-aware on the zone's clock) and `incidents`."""
    return (
        alt.Chart(starts_by_day)
        .mark_bar(aria=False)
        .encode(time_axis("day", "Day"), value_axis("incidents", "Incidents that started"))
        .properties(width=WIDTH, height=140)
    )
