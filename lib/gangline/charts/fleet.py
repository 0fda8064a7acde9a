"""Pictures of the fleet: sessions over time, who ran them, how they ended, and the nodes that there were for them."""

import altair as alt
import polars as pl

from gangline.charts.labels import shortened
from gangline.charts.theme import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    WIDTH,
    name_axis,
    rows_height,
    time_axis,
    value_axis,
    wall_clock,
)
from gangline.vocabulary import EndReason

SIZES = {"gang": BLUE, "multi-node": SKY, "single-node": GREY}
END_REASONS: dict[str, str] = {
    EndReason.COMPLETED: GREEN,
    EndReason.RUNNING: SKY,
    EndReason.TIMEOUT: BLUE,
    EndReason.KILLED: ORANGE,
    EndReason.PREEMPTED: PURPLE,
    EndReason.FAILED: VERMILLION,
    EndReason.NODE_FAIL: "#8C2D04",
    EndReason.OUT_OF_MEMORY: "#F0A884",
    EndReason.UNKNOWN: GREY,
}
MOST_NAMES = 24
MOST_BARS = 2000
OTHERS = "all others"


def starts(starts_by_day: pl.DataFrame, by: str) -> alt.TopLevelMixin:
    """Sessions started a day as stacked bars by `size` or `end_reason`; takes `sessions.starts_by_day`."""
    counted = starts_by_day.group_by("day", by).agg(pl.col("sessions").sum()).sort("day", by)
    title = "Size" if by == "size" else "End reason"
    return (
        alt.Chart(counted)
        .mark_bar(aria=False, binSpacing=0)
        .encode(
            time_axis("day", "Day").bandPosition(0.5),
            value_axis("sessions", "Sessions started"),
            _colour(by, counted[by].unique().to_list(), title),
            alt.Order("rank:Q"),
        )
        .transform_calculate(rank=f"indexof({list(_palette(by))}, datum.{by})")
        .properties(width=WIDTH, height=200)
    )


def timeline(sessions: pl.DataFrame, zone: str) -> alt.TopLevelMixin:
    """Sessions as bars over time, one row a run name, those with most GPU-hours first; takes `biggest` rows."""
    hours = (
        sessions.group_by("run_label").agg(pl.col("gpu_h").sum()).sort(["gpu_h", "run_label"], descending=[True, False])
    )
    shown = wall_clock(sessions, ["started_at", "ended_at"], zone)
    return (
        alt.Chart(shown.select("run_label", "started_at", "ended_at", "end_reason"))
        .mark_bar(height={"band": 0.72}, aria=False, stroke="#ffffff", strokeWidth=0.4)
        .encode(
            time_axis("started_at", zone=zone),
            alt.X2("ended_at:T"),
            name_axis("run_label", sort=hours["run_label"].to_list()),
            _colour("end_reason", shown["end_reason"].unique().to_list(), "End reason"),
        )
        .properties(width=WIDTH, height=rows_height(hours.height))
    )


def biggest(timeline_rows: pl.DataFrame) -> pl.DataFrame:
    """The 2,000 largest sessions of the 24 runs with most GPU-hours, with `run_label` and `gpu_h`."""
    named = timeline_rows.with_columns(
        gpu_h=pl.col("window_h") * pl.coalesce("gpu_count", "node_count", pl.lit(0)),
        run_name=pl.coalesce("run_name", "session_id"),
    )
    names = named.group_by("run_name").agg(pl.col("gpu_h").sum()).sort(["gpu_h", "run_name"], descending=[True, False])
    kept = named.filter(pl.col("run_name").is_in(names["run_name"].head(MOST_NAMES).to_list()))
    largest = kept.sort(["gpu_h", "session_id"], descending=[True, False]).head(MOST_BARS)
    return shortened(largest.sort("started_at", "session_id"), "run_name").rename({"run_name_label": "run_label"})


def gpu_hours(by_owner: pl.DataFrame) -> alt.TopLevelMixin:
    """GPU-hours by owner as stacked bars by end reason, largest owner first; takes `main_owners` rows."""
    totals = (
        by_owner.group_by("owner_label")
        .agg(pl.col("gpu_h").sum())
        .sort(["gpu_h", "owner_label"], descending=[True, False])
    )
    order = [name for name in totals["owner_label"].to_list() if name != OTHERS]
    order += [OTHERS] if OTHERS in totals["owner_label"].to_list() else []
    return (
        alt.Chart(by_owner.select("owner_label", "end_reason", "gpu_h"))
        .mark_bar(aria=False)
        .encode(
            value_axis("gpu_h", "GPU-hours in the window", channel=alt.X),
            name_axis("owner_label", sort=order),
            _colour("end_reason", by_owner["end_reason"].unique().to_list(), "End reason"),
            alt.Order("rank:Q"),
        )
        .transform_calculate(rank=f"indexof({list(END_REASONS)}, datum.end_reason)")
        .properties(width=WIDTH, height=rows_height(len(order), 24))
    )


def main_owners(by_owner: pl.DataFrame) -> pl.DataFrame:
    """Owners by GPU-hours, the smaller ones together as "all others": owner_label, end_reason, sessions, gpu_h."""
    totals = by_owner.group_by("owner").agg(pl.col("gpu_h").sum()).sort(["gpu_h", "owner"], descending=[True, False])
    kept = totals["owner"].head(MOST_NAMES).to_list()
    return (
        shortened(by_owner, "owner")
        .with_columns(owner_label=pl.when(pl.col("owner").is_in(kept)).then("owner_label").otherwise(pl.lit(OTHERS)))
        .group_by("owner_label", "end_reason", maintain_order=True)
        .agg(pl.col("sessions").sum(), pl.col("gpu_h").sum())
    )


def capacity(steps: pl.DataFrame, need: int | None, zone: str) -> alt.TopLevelMixin:
    """Usable nodes over time as a line, nodes in gang and other sessions as areas under it, the gang's need as a rule.

    Takes the steps of `sessions.capacity`: from_at, to_at, usable_nodes, gang_nodes, other_nodes.
    """
    shown = wall_clock(_corners(steps), ["at"], zone)
    areas = shown.unpivot(
        ["gang_nodes", "other_nodes"], index="at", variable_name="use", value_name="nodes"
    ).with_columns(use=pl.col("use").replace({"gang_nodes": "in gang sessions", "other_nodes": "in other sessions"}))
    names = ["in gang sessions", "in other sessions"]
    colour = alt.Color("use:N", title=None, scale=alt.Scale(domain=names, range=[SKY, GREY]))
    x = time_axis("at", zone=zone)
    area = (
        alt.Chart(areas)
        .mark_area(interpolate="step-after", aria=False, opacity=0.75)
        .encode(x, value_axis("nodes", "Nodes", stack="zero"), colour)
    )
    line = (
        alt.Chart(shown.select("at", "usable_nodes"))
        .mark_line(interpolate="step-after", aria=False, strokeWidth=2)
        .encode(x, value_axis("usable_nodes", "Nodes"))
    )
    layers = [area, line]
    if need is not None:
        rule = alt.Chart(pl.DataFrame({"need": [need]})).mark_rule(strokeDash=[5, 4], color=VERMILLION, strokeWidth=1.5)
        layers.append(rule.encode(value_axis("need", "Nodes")))
    return alt.layer(*layers).properties(width=WIDTH, height=220)


def _corners(steps: pl.DataFrame) -> pl.DataFrame:
    last = steps.tail(1).with_columns(from_at=pl.col("to_at"))
    return pl.concat([steps, last]).rename({"from_at": "at"}).drop("to_at")


def _palette(field: str) -> dict[str, str]:
    return SIZES if field == "size" else END_REASONS


def _colour(field: str, present: list[str], title: str) -> alt.Color:
    known = {name: colour for name, colour in _palette(field).items() if name in present}
    return alt.Color(f"{field}:N", title=title, scale=alt.Scale(domain=list(known), range=list(known.values())))
