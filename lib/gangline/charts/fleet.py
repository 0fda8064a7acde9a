"""Pictures of the fleet: sessions over time, who ran them, how they ended, and the nodes that there were for them."""

import altair as alt
import polars as pl

from gangline.charts.labels import shortened
from gangline.charts.spans import Span, bar_ends, counts, framed
from gangline.charts.theme import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    name_axis,
    rows_height,
    value_axis,
)
from gangline.sessions import OTHERS
from gangline.vocabulary import EndReason
from gangline.windows import Window

SIZES = {"gang": BLUE, "multi-node": SKY, "single-node": GREY, "size not known": "#D5DAE1"}
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
USES = {"in gang sessions": SKY, "in other sessions": GREY, "usable": BLUE, "the usual gang's size": VERMILLION}
ROW = 22
NO_OWNER = "no owner named"


def starts(starts_by_day: pl.DataFrame, by: str, stretch: str, window: Window) -> alt.TopLevelMixin:
    """Sessions started a day (week, month) as stacked bars by `size` or `end_reason`; takes `sessions.starts`."""
    counted = starts_by_day.group_by("day", by).agg(pl.col("sessions").sum())
    ranked = _ranked(bar_ends(counted, stretch), by).sort("day", "rank")
    stacked = ranked.with_columns(upper=pl.col("sessions").cum_sum().over("day"))
    shown = stacked.select("from", "to", by, "upper", lower=pl.col("upper") - pl.col("sessions"))
    bars = alt.Chart(shown).mark_rect(aria=False)
    return framed(
        bars.encode(
            Span.of(window).day_axis("from"),
            alt.X2("to:T"),
            counts("upper", f"Sessions started a {stretch}"),
            alt.Y2("lower:Q"),
            _colour(by, counted[by].to_list()),
        ),
        190,
    )


def timeline(runs: pl.DataFrame, window: Window) -> alt.TopLevelMixin:
    """Sessions as bars over time, a row a run name, most GPU-hours first, a tick a start; takes `sessions.runs`."""
    span = Span.of(window)
    named = shortened(runs, "run_name")
    shown = _worded(span.clocked(named, "from_at", "to_at").select("run_name_label", "from_at", "to_at", "end_reason"))
    colour = _colour("end_reason", shown["end_reason"].to_list())
    row = name_axis("run_name_label", sort=named["run_name_label"].unique(maintain_order=True).to_list())
    base = alt.Chart(shown)
    bars = base.mark_bar(height={"band": 0.6}, aria=False).encode(span.axis("from_at"), alt.X2("to_at:T"), row, colour)
    ticks = base.mark_tick(thickness=1.2, height={"band": 0.9}, opacity=1, aria=False).encode(
        span.axis("from_at"), row, colour
    )
    return framed(alt.layer(span.edges("from_at"), bars, ticks), rows_height(named["run_name"].n_unique(), ROW))


def gpu_hours(by_owner: pl.DataFrame) -> alt.TopLevelMixin:
    """GPU-hours by owner as stacked bars by end reason, largest owner first; takes `sessions.gpu_hours`."""
    named = shortened(by_owner, "owner").with_columns(owner_label=_owner_label())
    shown = _ranked(named, "end_reason")
    bars = alt.Chart(shown.select("owner_label", "end_reason", "gpu_h", "rank")).mark_bar(aria=False)
    return framed(
        bars.encode(
            value_axis("gpu_h", "GPU-hours in the window (h)", channel=alt.X, stack="zero"),
            name_axis("owner_label", sort=named["owner_label"].unique(maintain_order=True).to_list()),
            _colour("end_reason", shown["end_reason"].to_list()),
            alt.Order("rank:Q"),
        ),
        rows_height(by_owner["place"].n_unique(), ROW),
    )


def capacity(steps: pl.DataFrame, need: int | None, window: Window) -> alt.TopLevelMixin:
    """Usable nodes over time as a line, nodes in gang and other sessions as areas, the usual gang's size as a rule.

    Takes `capacity.steps`.
    """
    span = Span.of(window)
    shown = span.clocked(_corners(steps), "at")
    used = pl.col("gang_nodes") + pl.col("other_nodes")
    areas = [
        shown.select("at", upper="gang_nodes", lower=pl.lit(0), use=pl.lit("in gang sessions")),
        shown.select("at", upper=used, lower="gang_nodes", use=pl.lit("in other sessions")),
    ]
    usable = shown.select("at", upper="usable_nodes", use=pl.lit("usable"))
    marks = [alt.Chart(area).mark_area(interpolate="step-after", aria=False, line=False) for area in areas]
    layers = [
        mark.encode(span.axis("at"), counts("upper", "Nodes", stack=None), alt.Y2("lower:Q"), _use(need))
        for mark in marks
    ]
    line = alt.Chart(usable).mark_line(interpolate="step-after", aria=False, strokeWidth=2.2)
    layers.append(line.encode(span.axis("at"), counts("upper", "Nodes"), _use(need)))
    return framed(alt.layer(span.edges("at"), *layers, *_need(need)), 220)


def _need(need: int | None) -> list[alt.Chart]:
    if need is None:
        return []
    rule = alt.Chart(pl.DataFrame({"need": [need], "use": ["the usual gang's size"]})).mark_rule(
        strokeDash=[5, 4], strokeWidth=1.6
    )
    return [rule.encode(counts("need", "Nodes"), _use(need))]


def _use(need: int | None) -> alt.Color:
    names = [name for name in USES if need is not None or name != "the usual gang's size"]
    scale = alt.Scale(domain=names, range=[USES[name] for name in names])
    return alt.Color("use:N", title=None, scale=scale, legend=alt.Legend(symbolType="square", symbolStrokeWidth=0))


def _corners(steps: pl.DataFrame) -> pl.DataFrame:
    last = steps.tail(1).with_columns(from_at=pl.col("to_at"))
    return pl.concat([steps, last]).rename({"from_at": "at"}).drop("to_at")


def _owner_label() -> pl.Expr:
    is_ours = pl.col("owner_label").is_in([OTHERS, NO_OWNER])
    label = pl.when(is_ours).then(pl.format("“{}”", "owner_label")).otherwise("owner_label")
    named = pl.when(pl.col("owner").is_null()).then(pl.lit(NO_OWNER)).otherwise(label)
    return pl.when("is_others").then(pl.lit(OTHERS)).otherwise(named)


def _worded(frame: pl.DataFrame) -> pl.DataFrame:
    if "end_reason" not in frame.columns:
        return frame
    return frame.with_columns(pl.col("end_reason").str.replace_all("_", " "))


def _ranked(frame: pl.DataFrame, by: str) -> pl.DataFrame:
    ranks = {name: rank for rank, name in enumerate(_palette(by))}
    return _worded(frame).with_columns(rank=pl.col(by).replace_strict(ranks, default=len(ranks), return_dtype=pl.Int64))


def _palette(field: str) -> dict[str, str]:
    reasons = {str(reason).replace("_", " "): colour for reason, colour in END_REASONS.items()}
    return SIZES if field == "size" else reasons


def _colour(field: str, present: list[str]) -> alt.Color:
    words = {name.replace("_", " ") for name in present}
    known = {name: colour for name, colour in _palette(field).items() if name in words}
    scale = alt.Scale(domain=list(known), range=list(known.values()))
    return alt.Color(f"{field}:N", title=None, scale=scale, legend=alt.Legend(symbolType="square", symbolOpacity=1))
