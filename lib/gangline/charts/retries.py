"""Pictures of retry chains: their attempts over time, the gaps between, and how often which kind of try succeeds."""

import altair as alt
import polars as pl

from gangline.charts.labels import legible, unused
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
    wall_clock,
)
from gangline.retry_gaps import DelayRule
from gangline.windows import Window

OUTCOMES = {"trained": BLUE, "did not train": VERMILLION, "not known yet": SKY}
RESULTS = {"recovered": BLUE, "did not recover": VERMILLION, "still open": SKY}
HEIGHTS = {"trained": 0.74, "did not train": 0.46, "not known yet": 0.6}
KINDS = {"automatic": BLUE, "manual": ORANGE, "prequeued": PURPLE, "requeue_unknown": GREY}
SIDES = {"automatic": BLUE, "by hand": ORANGE}
WHOLE = alt.Axis(format="d", tickMinStep=1)
DECADES_MIN = [1, 10, 100, 1000, 10_000, 100_000]
MOST_CHAINS = 40
MOST_ATTEMPTS = 4000
NAME_WIDTH = 18
ROW = 22
LEAST_MIN = 1.0
BINS_A_DECADE = 6
CLOSE_MIN = 30.0
LEAD_H = 0.12
TICKS_H = [0, 0.1, 0.5, 1, 2, 4, 8, 16, 24, 48, 96, 168, 336, 720]


def bars(chains: pl.DataFrame, attempts: pl.DataFrame, window: Window) -> pl.DataFrame:
    """Attempts as bars in hours since the end of their chain's first attempt, with `label` and the chain's `result`.

    The first attempt is a stub before 0. The latest 40 chains, in the order of their first start; takes
    `retries.chain_table` and `retries.attempt_table`.
    """
    shown = _labelled(chains.tail(MOST_CHAINS), window)
    ends = attempts.filter(pl.col("attempt") == 1).select("chain_id", first_ended_at="ended_at")
    joined = attempts.join(shown, on="chain_id").join(ends, on="chain_id").drop_nulls("first_ended_at")
    since = (pl.col("started_at") - pl.col("first_ended_at")).dt.total_microseconds() / 3.6e9
    placed = joined.sort("place", "attempt").with_columns(from_h=since, to_h=since + pl.col("duration_h"))
    stub = placed.with_columns(from_h=pl.max_horizontal("from_h", pl.lit(-LEAD_H)))
    return stub.select("label", "result", "attempt", "outcome", "from_h", "to_h", "session_id").head(MOST_ATTEMPTS)


def timeline(bars: pl.DataFrame) -> alt.TopLevelMixin:
    """Chains as rows of attempts, coloured by outcome, the wait between them left free; takes `bars`.

    The axis is a square root: minutes after the failure can be seen beside days of training.
    """
    order = bars["label"].unique(maintain_order=True).to_list()
    last_h = max([0.5, *bars["to_h"].to_list()])
    scale = alt.Scale(type="pow", exponent=0.5, domain=[-LEAD_H, last_h], nice=False)
    axis = alt.Axis(values=[tick for tick in TICKS_H if tick <= last_h], format="~g", labelOverlap="greedy", grid=True)
    x = alt.X("from_h:Q", title="Hours since the first attempt ended (square-root scale)", scale=scale, axis=axis)
    x = x.bin("binned")
    size = {"width": WIDTH - 200, "height": rows_height(len(order), ROW)}
    layers = [
        alt.Chart(bars.filter(pl.col("outcome") == outcome).select("label", "outcome", "from_h", "to_h"))
        .mark_bar(height={"band": band}, aria=False)
        .encode(x, alt.X2("to_h:Q"), name_axis("label", sort=order), _outcome(bars["outcome"].to_list()))
        for outcome, band in HEIGHTS.items()
        if outcome in set(bars["outcome"])
    ]
    results = alt.Chart(bars.select("label", "result").unique(maintain_order=True))
    words = results.mark_text(align="left", aria=False, fontSize=11).encode(
        alt.Text("result:N"), name_axis("label", sort=order), x=alt.value(size["width"] + 8)
    )
    zero = alt.Chart(pl.DataFrame({"at_h": [0.0]})).mark_rule(strokeDash=[3, 3], aria=False)
    return alt.layer(*layers, zero.encode(alt.X("at_h:Q")), words).properties(**size)


def cost(chains: pl.DataFrame, window: Window) -> pl.DataFrame:
    """What chains cost in vain: label, outcome, attempts, failed_h of the 40 chains with most, most first."""
    named = chains.join(_labelled(chains, window).select("chain_id", "label"), on="chain_id", maintain_order="left")
    rows = named.filter(pl.col("failed_h") > 0).sort(["failed_h", "chain_id"], descending=[True, False])
    return rows.select("label", "outcome", "attempts", "failed_h", "failed_gpu_h", "chain_id").head(MOST_CHAINS)


def costs(rows: pl.DataFrame) -> alt.TopLevelMixin:
    """Hours of attempts that did not train, a bar a chain, by what came of the chain; takes `cost`."""
    names = [name for name in RESULTS if name in set(rows["outcome"])]
    order = rows["label"].to_list()
    colour = alt.Scale(domain=names, range=[RESULTS[name] for name in names])
    return (
        alt.Chart(rows.select("label", "outcome", "failed_h"))
        .mark_bar(aria=False)
        .encode(
            value_axis("failed_h", "Hours of attempts that did not train (h)", channel=alt.X),
            name_axis("label", sort=order),
            alt.Color("outcome:N", title="The chain", scale=colour),
        )
        .properties(width=WIDTH - 200, height=rows_height(len(order), ROW))
    )


def gap_bins(launches: pl.DataFrame, rule: DelayRule) -> pl.DataFrame:
    """Gaps counted by kind of link: panel (`close`, `all`), kind, from_min, to_min, launches.

    `close` counts what the rule reads (end to submission) in bins of a minute up to half an hour (or twice the
    rule's end, in 30 bins), `all` what is reported (end to start) in bins of a sixth of a decade, a minute the least.
    """
    linked = launches.filter(pl.col("start_kind").is_not_null())
    near, width = linked.filter(pl.col("submit_gap_min").is_between(0, _close_min(rule), closed="left")), _bin_min(rule)
    close = near.with_columns(bin=(pl.col("submit_gap_min") / width).floor())
    every = linked.with_columns(bin=(pl.col("gap_min").clip(LEAST_MIN).log10() * BINS_A_DECADE).floor())
    return pl.concat(
        [
            _counted(close, "close", [(pl.col("bin") + step) * width for step in (0, 1)]),
            _counted(every, "all", [10.0 ** ((pl.col("bin") + step) / BINS_A_DECADE) for step in (0, 1)]),
        ]
    )


def gaps(bins: pl.DataFrame, rule: DelayRule) -> alt.TopLevelMixin:
    """Gaps by kind: near the rule's window, which is shaded, and over the whole day; takes `gap_bins`."""
    near = alt.Scale(domain=[0, _close_min(rule)], nice=False)
    shade = (
        alt.Chart(pl.DataFrame({"from_min": [max(rule.from_min, 0.0)], "to_min": [max(rule.to_min, 0.0)]}))
        .mark_rect(color=BLUE, opacity=0.14, aria=False)
        .encode(alt.X("from_min:Q", scale=near), alt.X2("to_min:Q"))
    )
    close = alt.layer(shade, _histogram(bins, "close", "From the end before to the submission (min)", near))
    log = alt.Scale(type="log", nice=False)
    every = _histogram(bins, "all", "From the end before to the start (min, logarithmic)", log)
    size = {"width": WIDTH * 0.42, "height": 190}
    return alt.hconcat(close.properties(**size), every.properties(**size), spacing=30)


def success(intervals: pl.DataFrame) -> alt.TopLevelMixin:
    """Success of each unit with its interval, automatic and by hand apart; takes `retry_units.intervals`."""
    order = intervals["unit"].to_list()
    sides = alt.Scale(domain=list(SIDES), range=list(SIDES.values()))
    colour = alt.Color("kind:N", title=None, scale=sides)
    base, row = alt.Chart(intervals), name_axis("unit", sort=order)
    title = "Reached training, 95 % interval"
    ranges = base.mark_rule(strokeWidth=2.4, aria=False).encode(
        ratio_axis("low_share", title), alt.X2("high_share:Q"), row, colour
    )
    dots = base.mark_point(size=90, opacity=1, aria=False).encode(
        ratio_axis("success_share", title),
        row,
        colour,
        alt.Shape("kind:N", title=None, scale=alt.Scale(domain=list(SIDES), range=["circle", "square"])),
    )
    counted = intervals.with_columns(said=pl.format("{} of {}", "reached", "n"))
    width = WIDTH - 320
    words = (
        alt.Chart(counted.select("unit", "said"))
        .mark_text(align="left", aria=False, fontSize=11)
        .encode(alt.Text("said:N"), row, x=alt.value(width + 8))
    )
    return alt.layer(ranges, dots, words).properties(width=width, height=rows_height(len(order), 30))


def by_attempt(rows: pl.DataFrame) -> alt.TopLevelMixin:
    """Chains by attempt number: what came of each try, and how many have recovered so far; takes `by_attempt` rows."""
    failed = (pl.col("tried") - pl.col("trained") - pl.col("open")).alias("did not train")
    split = rows.with_columns(failed, pl.col("trained"), pl.col("open").alias("not known yet"))
    long = split.unpivot(list(OUTCOMES), index="attempt", variable_name="outcome", value_name="chains")
    ranks = {name: rank for rank, name in enumerate(OUTCOMES)}
    x = alt.X("attempt:O", title="Attempt", axis=alt.Axis(labelAngle=0, labelOverlap="greedy"))
    left = (
        alt.Chart(long.with_columns(rank=pl.col("outcome").replace_strict(ranks, return_dtype=pl.Int64)))
        .mark_bar(aria=False)
        .encode(
            x,
            value_axis("chains", "Chains that made this attempt", stack="zero", axis=WHOLE),
            _outcome(long.filter(pl.col("chains") > 0)["outcome"].to_list()),
            alt.Order("rank:Q"),
        )
    )
    share = rows.select("attempt", recovered_share=pl.col("recovered") / pl.col("tried").max())
    base = alt.Chart(share).encode(x, ratio_axis("recovered_share", "Chains recovered so far", channel=alt.Y))
    line = base.mark_line(interpolate="step-after", aria=False) + base.mark_point(size=34, aria=False)
    size = {"width": WIDTH * 0.41, "height": 190}
    return alt.hconcat(left.properties(**size), line.properties(**size), spacing=30)


def _labelled(chains: pl.DataFrame, window: Window) -> pl.DataFrame:
    """Name chains by run name and local start, distinct ones apart, and say what came of them."""
    clock = wall_clock(chains.select("first_started_at"), ["first_started_at"], window.time_zone)
    labels: list[str] = []
    for name, at in zip(chains["run_name"].to_list(), clock["first_started_at"].to_list(), strict=True):
        shown = legible(str(name), NAME_WIDTH) if name is not None else "no name"
        labels.append(unused(f"{shown} · {at:%d %b %H:%M}", set(labels)))
    at_attempt = pl.format("recovered at attempt {}", "recovered_attempt")
    result = pl.when(pl.col("outcome") == "recovered").then(at_attempt).otherwise("outcome").alias("result")
    return (
        chains.select("chain_id", result).with_columns(label=pl.Series(labels, dtype=pl.String)).with_row_index("place")
    )


def _close_min(rule: DelayRule) -> float:
    return max(CLOSE_MIN, 2 * rule.to_min)


def _bin_min(rule: DelayRule) -> float:
    return max(1.0, _close_min(rule) / CLOSE_MIN)


def _counted(placed: pl.DataFrame, panel: str, edges: list[pl.Expr]) -> pl.DataFrame:
    counted = placed.group_by("start_kind", "bin").agg(pl.len().cast(pl.Int64).alias("launches"))
    names = (edge.alias(name) for edge, name in zip(edges, ("from_min", "to_min"), strict=True))
    rows = counted.select(pl.lit(panel).alias("panel"), pl.col("start_kind").alias("kind"), *names, "launches")
    return rows.sort("from_min", "kind")


def _histogram(bins: pl.DataFrame, panel: str, title: str, scale: alt.Scale) -> alt.Chart:
    ranks = {name: rank for rank, name in enumerate(KINDS)}
    shown = bins.filter(pl.col("panel") == panel).with_columns(
        rank=pl.col("kind").replace_strict(ranks, default=len(ranks), return_dtype=pl.Int64)
    )
    axis = value_axis("from_min", title, channel=alt.X, scale=scale)
    ticks = {"format": "~s", "values": DECADES_MIN} if panel == "all" else {"format": "d"}
    present = [name for name in KINDS if name in set(bins["kind"])]
    colours = alt.Scale(domain=present, range=[KINDS[name] for name in present])
    return (
        alt.Chart(shown)
        .mark_bar(aria=False, binSpacing=1)
        .encode(
            axis.bin("binned").axis(**ticks),
            alt.X2("to_min:Q"),
            value_axis("launches", "Launches", stack="zero", axis=WHOLE),
            alt.Color("kind:N", title=None, scale=colours),
            alt.Order("rank:Q"),
        )
    )


def _outcome(present: list[str]) -> alt.Color:
    names = [name for name in OUTCOMES if name in set(present)]
    return alt.Color("outcome:N", title=None, scale=alt.Scale(domain=names, range=[OUTCOMES[name] for name in names]))
