"""Pictures of requests to the storage: where their time goes by operation, by save and by node."""

from typing import Any

import altair as alt
import polars as pl

from gangline.charts.labels import shortened
from gangline.charts.spans import framed
from gangline.charts.theme import BLUE, GREY, ORANGE, QUIET, SKY, VERMILLION, WIDTH, name_axis, rows_height, value_axis
from gangline.estimates.wording import words

PARTS = {"queue_ms": "waits in the node", "response_ms": "storage answers", "rest_ms": "the rest"}
COLOURS = (VERMILLION, BLUE, GREY)
PHASES = {"save": "Inside saves", "load": "Inside loads"}
MOVERS = {"save": "WRITE in a save", "load": "READ in a load"}
MOST_OPERATIONS, MOST_NODES, MOST_POINTS = 8, 30, 1000
LEAST_MS = 0.01  # where a logarithmic axis ends


def times(operations: pl.DataFrame) -> alt.TopLevelMixin:
    """Mean time of a request by operation, in its parts, saves above loads; takes `nfs_requests.timed`."""
    panels = [_times(operations.filter(pl.col("phase") == phase), title) for phase, title in PHASES.items()]
    known = [panel for panel in panels if panel is not None]
    return alt.vconcat(*known, spacing=18) if known else alt.Chart(operations).mark_bar()


def waits(checkpoints: pl.DataFrame) -> alt.TopLevelMixin:
    """Waiting against answering, a mark a save or load; takes `nfs_requests.waited`, at most 1,000 drawn."""
    names = list(MOVERS.values())
    told = checkpoints.select(
        pl.col("phase").replace_strict(MOVERS).alias("mover"),
        pl.col("queue_ms", "response_ms").clip(LEAST_MS),
    )
    drawn = told.gather_every(max(1, -(-told.height // MOST_POINTS)))
    if drawn.is_empty():
        return alt.Chart(drawn).mark_point()
    low = min(drawn["queue_ms"].min() or LEAST_MS, drawn["response_ms"].min() or LEAST_MS)
    high = max(drawn["queue_ms"].max() or 1.0, drawn["response_ms"].max() or 1.0)
    ends = pl.DataFrame({"queue_ms": [low, high], "response_ms": [low, high]}, schema_overrides=_FLOATS)
    equal = alt.Chart(ends).mark_line(color=GREY, strokeDash=[4, 4], strokeWidth=1.2, aria=False)
    marks = alt.Chart(drawn).mark_point(size=44, filled=False, strokeWidth=1.6, opacity=0.75, aria=False)
    by_mover = {
        "color": alt.Color("mover:N", title=None, scale=alt.Scale(domain=names, range=[VERMILLION, BLUE])),
        "shape": alt.Shape("mover:N", title=None, scale=alt.Scale(domain=names, range=["circle", "square"])),
    }
    x, y = (
        _log("response_ms", "Storage answers (ms, logarithmic)", alt.X),
        _log("queue_ms", "Waits in the node (ms, logarithmic)", alt.Y),
    )
    return framed(alt.layer(equal.encode(x, y), marks.encode(x, y, **by_mover)), 300)


def nodes(rows: pl.DataFrame, p95_ms: float | None) -> alt.TopLevelMixin:
    """The slowest 30 nodes by their own mean WRITE, in its parts, and the 95th percentile of all nodes' means.

    Takes the saves of `nfs_requests.by_node`.
    """
    named = shortened(rows.head(MOST_NODES), "node")
    bars = _stacked(named, "node_label", "Mean time of a WRITE in saves (ms)")
    if p95_ms is None:
        return framed(bars, rows_height(named.height, 15))
    mark = alt.Chart(pl.DataFrame({"p95_ms": [p95_ms]})).mark_rule(color=QUIET, strokeDash=[5, 3], strokeWidth=1.6)
    return framed(alt.layer(bars, mark.encode(alt.X("p95_ms:Q"))), rows_height(named.height, 15))


def buffers(nodes: pl.DataFrame) -> alt.TopLevelMixin:
    """What a node holds in shared memory around a save against what it writes; takes `node_bytes.grouped`."""
    drawn = nodes.drop_nulls(["shared_memory_gb", "sent_gb"]).with_columns(
        ("group " + pl.col("group").cast(pl.String)).alias("name")
    )
    names = drawn["name"].unique().sort().to_list()
    ranges = [(BLUE, ORANGE, VERMILLION, SKY, GREY)[min(place, 4)] for place in range(len(names))]
    shapes = [("circle", "square", "triangle-up", "diamond", "cross")[min(place, 4)] for place in range(len(names))]
    marks = alt.Chart(drawn.select("name", "shared_memory_gb", "sent_gb")).mark_point(
        size=60, filled=False, strokeWidth=1.8, opacity=0.8, aria=False
    )
    chart = marks.encode(
        value_axis("shared_memory_gb", "Shared memory, highest around a save (GB)", channel=alt.X),
        value_axis("sent_gb", "Written over NFS per save (GB)"),
        alt.Color("name:N", title=None, scale=alt.Scale(domain=names, range=ranges)),
        alt.Shape("name:N", title=None, scale=alt.Scale(domain=names, range=shapes)),
    )
    return framed(chart, 250)


_FLOATS = {"queue_ms": pl.Float64, "response_ms": pl.Float64}


def _times(operations: pl.DataFrame, title: str) -> Any:
    if operations.is_empty():
        return None
    rows = shortened(operations.head(MOST_OPERATIONS), "operation")
    bars = _stacked(rows, "operation_label", "Mean time of a request (ms)")
    label = rows.with_columns(
        text=pl.Series([words(value, "ms") for value in rows["request_ms"]], dtype=pl.String), end=pl.col("request_ms")
    )
    text = (
        alt.Chart(label.select("operation_label", "end", "text"))
        .mark_text(align="left", dx=5, aria=False)
        .encode(alt.X("end:Q"), name_axis("operation_label", sort=None), alt.Text("text:N"))
    )
    return alt.layer(bars, text).properties(width=WIDTH - 130, height=22 * rows.height, title=title)


def _stacked(rows: pl.DataFrame, name: str, title: str) -> alt.Chart:
    """Bars of the parts of a request's time, in the order in which they pass."""
    order = {part: place for place, part in enumerate(PARTS.values())}
    long = (
        rows.select(name, *PARTS)
        .rename(PARTS)
        .unpivot(index=name, variable_name="part", value_name="ms")
        .with_columns(pl.col("ms").fill_null(0.0).clip(0.0), place=pl.col("part").replace_strict(order))
    )
    colour = alt.Color("part:N", title=None, scale=alt.Scale(domain=list(PARTS.values()), range=list(COLOURS)))
    return (
        alt.Chart(long)
        .mark_bar(aria=False)
        .encode(value_axis("ms", title, channel=alt.X), name_axis(name, sort=None), colour, alt.Order("place:Q"))
    )


def _log(field: str, title: str, channel: type[alt.X] | type[alt.Y]) -> alt.X | alt.Y:
    scale = alt.Scale(type="log", nice=False, padding=12)
    axis: alt.X | alt.Y = value_axis(field, title, channel=channel, scale=scale)
    return axis.axis(format="~g", tickCount=6)
