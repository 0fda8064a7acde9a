"""Any role over any window: the fleet's band, nodes over it, and one node across its layers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gangline.config import Config
from gangline.courses import Course, course
from gangline.estimates.medians import row_medians
from gangline.hostlists import HostListError, expand
from gangline.roles import ResolvedRole, present_roles
from gangline.warehouse.querying import query
from gangline.windows import Window

MOST_CHOSEN = 4
QUANTILES = [0.05, 0.5, 0.95]
LAYERS = (
    "gpu_util",
    "gpu_power",
    "gpu_temp",
    "gpu_memory_used",
    "runnable",
    "dirty",
    "nfs_write_bytes",
    "nfs_read_bytes",
    "backlog",
    "nic_sent_bytes",
)
"""A node's layers from the GPU outwards, as the page of one node stacks them."""


class TelemetryError(ValueError):
    """A node that is asked for has no samples of the role."""


@dataclass(frozen=True)
class Spread:
    """Quantiles over all nodes and steps that have a value."""

    p5: float
    median: float
    p95: float


def sources(con: duckdb.DuckDBPyConnection, config: Config) -> pl.DataFrame:
    """Which metric plays each role, how many nodes and series it has, its usual step and its span; a row a role."""
    return pl.DataFrame(
        [_source_row(role) for role in present_roles(con, config.roles).values()],
        schema={
            "role": pl.String,
            "metric": pl.String,
            "exporter": pl.String,
            "unit": pl.String,
            "is_gridded": pl.Boolean,
            "nodes": pl.Int64,
            "series": pl.Int64,
            "step_s": pl.Float64,
            "first_at": pl.Datetime("us", "UTC"),
            "last_at": pl.Datetime("us", "UTC"),
        },
        orient="row",
    )


def case(con: duckdb.DuckDBPyConnection, course: Course | None) -> str:
    """Which sentence fits: `no_telemetry` at all, `no_role` (nothing plays it in this window), else `found`."""
    if course and course.nodes:
        return "found"
    return "no_role" if query(con, "from marts.series limit 1").height else "no_telemetry"


def spread(course: Course) -> Spread:
    """Where a role's values lie, all nodes and steps alike."""
    return Spread(*np.quantile(course.values[~np.isnan(course.values)], QUANTILES).tolist())


def band(course: Course) -> pl.DataFrame:
    """The fleet by step: at, p5, median, p95, nodes (that have a value); gaps are null rows, as in `lines`."""
    rows: list[tuple[object, ...]] = []
    is_gap = _gaps((~np.isnan(course.values)).sum(axis=1) > 0)
    for at, row, has_gap in zip(course.at, course.values, is_gap, strict=True):
        known = row[~np.isnan(row)]
        if known.size:
            rows.append((at, *np.quantile(known, QUANTILES).tolist(), known.size))
        elif has_gap:
            rows.append((at, None, None, None, 0))
    schema: dict[str, Any] = {"at": pl.Datetime("us", "UTC")} | dict.fromkeys(("p5", "median", "p95"), pl.Float64)
    return pl.DataFrame(rows, schema=schema | {"nodes": pl.Int64}, orient="row")


def chosen(course: Course, nodes: str = "") -> list[str]:
    """The nodes that a host list names; by default those whose median lies furthest from the fleet's.

    Raises
    ------
    TelemetryError
        Where a named node has no samples of the role, or the text is no host list.
    """
    if not nodes:
        return furthest(course)["node"].head(MOST_CHOSEN - 1).to_list()
    try:
        names = expand(nodes)
    except HostListError as error:
        raise TelemetryError(f"parameter nodes: {error}") from error
    missing = [name for name in names if name not in course.nodes]
    if missing:
        raise TelemetryError(f"parameter nodes: {missing[0]} has no samples of {course.role.role} in this window")
    return list(names[:MOST_CHOSEN])


def shown_node(course: Course, drawn: Sequence[str], node: str = "") -> str:
    """The node to show across its layers: the named one, else the first of those drawn.

    Raises
    ------
    TelemetryError
        Where the named node has no samples of the role.
    """
    return chosen(course, node)[0] if node else drawn[0]


def furthest(course: Course) -> pl.DataFrame:
    """Nodes by how far they lie from the fleet, furthest first: node, median, fleet_median, distance.

    `distance` is the median over steps of the distance between the node and the median node.
    """
    fleet = row_medians(course.values)
    rows = []
    for place, node in enumerate(course.nodes):
        values = course.values[:, place]
        is_known = ~np.isnan(values)
        rows.append(
            (
                node,
                float(np.median(values[is_known])),
                float(np.median(fleet[is_known])),
                float(np.median(np.abs(values - fleet)[is_known])),
            )
        )
    names = ("median", "fleet_median", "distance")
    schema: dict[str, Any] = {"node": pl.String} | dict.fromkeys(names, pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row").sort(["distance", "node"], descending=[True, False])


def evidence(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Any]:
    """Sessions that start in a window and were looked up: how many, how many covered and weak; GPUs seen and held."""
    return query(con, _EVIDENCE, start=window.start, end=window.end).row(0, named=True)


def apart(course: Course) -> str:
    """Which node lies furthest from the fleet, as a clause."""
    first = furthest(course).row(0, named=True)
    if not first["distance"]:
        return "all nodes go alike"
    distance = first["distance"]
    written = f"{distance:,.3g}" if distance < 1000 else f"{distance:,.0f}"
    return f"furthest from the others is {first['node']}, by {written} in the median step"


def lines(course: Course, nodes: Sequence[str]) -> pl.DataFrame:
    """Some nodes' values: node, at, value; null in gaps of two steps and more, so that a drawn line breaks there.

    One step without a sample is left out: scrapes jitter, and a line may pass over it.
    """
    frames = [_line(course, course.nodes.index(node)) for node in nodes]
    schema: dict[str, Any] = {"node": pl.String, "at": pl.Datetime("us", "UTC"), "value": pl.Float64}
    return pl.concat([pl.DataFrame(schema=schema), *frames])


def cells(course: Course) -> pl.DataFrame:
    """Every node's values: node, at, value."""
    return lines(course, course.nodes).drop_nulls("value")


def coverage(course: Course) -> pl.DataFrame:
    """Nodes by the share of steps with a sample, least first: node, steps, known_steps, coverage_ratio."""
    known = (~np.isnan(course.values)).sum(axis=0).tolist()
    steps = course.values.shape[0]
    rows = [(node, steps, count, count / steps) for node, count in zip(course.nodes, known, strict=True)]
    schema: dict[str, Any] = {
        "node": pl.String,
        "steps": pl.Int64,
        "known_steps": pl.Int64,
        "coverage_ratio": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row").sort("coverage_ratio", "node")


def layers(con: duckdb.DuckDBPyConnection, config: Config, window: Window, node: str) -> pl.DataFrame:
    """One node across its layers beside the fleet's median: layer (role and unit), at, value, median."""
    courses = [each for role in LAYERS if (each := course(con, config, window, role)) and node in each.nodes]
    frames = [
        lines(each, [node])
        .join(band(each).select("at", "median"), on="at", how="left")
        .select(pl.lit(each.title).alias("layer"), "at", "value", "median")
        for each in courses
    ]
    schema: dict[str, Any] = {"layer": pl.String, "at": pl.Datetime("us", "UTC")}
    empty = pl.DataFrame(schema=schema | dict.fromkeys(("value", "median"), pl.Float64))
    return pl.concat([empty, *frames])


def _source_row(role: ResolvedRole) -> tuple[object, ...]:
    series = role.series
    return (
        role.role,
        str(role),
        role.source.exporter,
        role.unit,
        role.is_gridded,
        series["node"].drop_nulls().n_unique(),
        series.height,
        series["step_s"].median(),
        series["first_at"].min(),
        series["last_at"].max(),
    )


_EVIDENCE = """
    select count(*) as sessions, count(*) filter (where is_covered) as covered,
        count(*) filter (where is_covered and is_weak) as weak,
        coalesce(sum(gpus_seen), 0)::bigint as gpus_seen, coalesce(sum(gpus_held), 0)::bigint as gpus_held
    from intermediate.int_gpu_training_found
    join intermediate.int_sessions_merged as sessions using (session_key)
    where sessions.started_at >= $start and sessions.started_at < $end
"""


def _line(course: Course, place: int) -> pl.DataFrame:
    values = course.values[:, place]
    is_known = ~np.isnan(values)
    frame = pl.DataFrame({"at": course.at, "value": values}).filter(is_known | _gaps(is_known))
    return frame.select(pl.lit(course.nodes[place]).alias("node"), "at", pl.col("value").fill_nan(None))


def _gaps(is_known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Steps without a value that have another one beside them."""
    is_empty = np.pad(~is_known, 1)
    return is_empty[1:-1] & (is_empty[:-2] | is_empty[2:])
