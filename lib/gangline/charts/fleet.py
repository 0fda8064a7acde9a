"""Pictures of the fleet: sessions over time, who ran them, how they ended, and the nodes that there were for them."""

import altair as alt
import polars as pl

from gangline.charts.labels import shortened
from gangline.charts.spans import Span, bar_ends, counts, framed
from gangline.charts.theme import (
    BLUE,
    GREEN,
    GREY,
    INK,
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
NEED, FOR_GANGS, TOO_FEW = "the usual gang's size", "usable for gangs", "too few for a gang"
USES = {"in gang sessions": SKY, "in other sessions": GREY, "usable": BLUE, FOR_GANGS: PURPLE, NEED: VERMILLION}
USES[TOO_FEW] = "#F7CDB9"
STATES = {"down": VERMILLION, "drained": ORANGE, "out of service": GREY}
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
    """Sessions as bars over time, a row a run name, most GPU-hours first, a tick a start; takes `sessions.runs`.

    A diamond marks each that is noted (`annotations.marked`).
    """
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
    marks = [span.edges("from_at"), bars, ticks, *_noted(shown.filter(named["is_noted"]), span, row)]
    return framed(alt.layer(*marks), rows_height(named["run_name"].n_unique(), ROW))


def _noted(noted: pl.DataFrame, span: Span, row: alt.Y) -> list[alt.Chart]:
    if noted.is_empty():
        return []
    marks = alt.Chart(noted).mark_point(shape="diamond", size=70, fill="white", stroke=INK, opacity=1, aria=False)
    return [marks.encode(span.axis("from_at"), row)]


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


def capacity(steps: pl.DataFrame, short: pl.DataFrame, need: int | None, window: Window) -> alt.TopLevelMixin:
    """Usable nodes over time as a line, nodes in gang and other sessions as areas, the usual gang's size as a rule.

    Takes `capacity.steps` and `capacity.short`; the nodes that gangs could take have a line of their own where they are
    fewer than the usable ones.
    """
    span = Span.of(window)
    shown = span.clocked(_corners(steps), "at")
    lines = {"usable": "usable_nodes"}
    if (steps["candidate_nodes"] != steps["usable_nodes"]).any():
        lines[FOR_GANGS] = "candidate_nodes"
    colour = _use([*lines, *([NEED] if need is not None else []), *([] if short.is_empty() else [TOO_FEW])])
    layers = [*_short(short, span, colour), *_areas(shown, span, colour), *_lines(shown, lines, span, colour)]
    return framed(alt.layer(span.edges("at"), *layers, *_need(need, colour)), 220)


def node_states(states: pl.DataFrame, window: Window) -> alt.TopLevelMixin:
    """Stretches in which nodes could not be used as bars over time, a row a node; takes `node_states.within`."""
    span = Span.of(window)
    shown = _state_worded(span.clocked(states.select("node", "from_at", "to_at", "state_kind"), "from_at", "to_at"))
    present = [name for name in STATES if name in shown["state_kind"].unique()]
    scale = alt.Scale(domain=present, range=[STATES[name] for name in present])
    colour = alt.Color("state_kind:N", title=None, scale=scale, legend=alt.Legend(symbolType="square", symbolOpacity=1))
    row = name_axis("node", sort=states["node"].unique().sort().to_list())
    base = alt.Chart(shown)
    bars = base.mark_bar(height={"band": 0.6}, aria=False).encode(span.axis("from_at"), alt.X2("to_at:T"), row, colour)
    ticks = base.mark_tick(thickness=1.6, height={"band": 0.9}, opacity=1, aria=False)
    return framed(
        alt.layer(span.edges("from_at"), bars, ticks.encode(span.axis("from_at"), row, colour)),
        rows_height(states["node"].n_unique(), ROW),
    )


def _state_worded(states: pl.DataFrame) -> pl.DataFrame:
    return states.with_columns(pl.col("state_kind").str.replace_all("_", " "))


def _areas(shown: pl.DataFrame, span: Span, colour: alt.Color) -> list[alt.Chart]:
    used = pl.col("gang_nodes") + pl.col("other_nodes")
    areas = [
        shown.select("at", upper="gang_nodes", lower=pl.lit(0), use=pl.lit("in gang sessions")),
        shown.select("at", upper=used, lower="gang_nodes", use=pl.lit("in other sessions")),
    ]
    marks = [alt.Chart(area).mark_area(interpolate="step-after", aria=False, line=False) for area in areas]
    return [
        mark.encode(span.axis("at"), counts("upper", "Nodes", stack=None), alt.Y2("lower:Q"), colour) for mark in marks
    ]


def _lines(shown: pl.DataFrame, lines: dict[str, str], span: Span, colour: alt.Color) -> list[alt.Chart]:
    frames = [shown.select("at", upper=column, use=pl.lit(name)) for name, column in lines.items()]
    marks = [alt.Chart(frame).mark_line(interpolate="step-after", aria=False, strokeWidth=2.2) for frame in frames]
    return [mark.encode(span.axis("at"), counts("upper", "Nodes"), colour) for mark in marks]


def _short(short: pl.DataFrame, span: Span, colour: alt.Color) -> list[alt.Chart]:
    if short.is_empty():
        return []
    shown = span.clocked(short.select(at="from_at", until="to_at", use=pl.lit(TOO_FEW)), "at", "until")
    return [alt.Chart(shown).mark_rect(aria=False).encode(span.axis("at"), alt.X2("until:T"), colour)]


def _need(need: int | None, colour: alt.Color) -> list[alt.Chart]:
    if need is None:
        return []
    rule = alt.Chart(pl.DataFrame({"need": [need], "use": [NEED]})).mark_rule(strokeDash=[5, 4], strokeWidth=1.6)
    return [rule.encode(counts("need", "Nodes"), colour)]


def _use(present: list[str]) -> alt.Color:
    names = [name for name in USES if name in {"in gang sessions", "in other sessions", *present}]
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
