"""Where the time of a request goes between GPU and storage, as figures (analyses 7)."""

from collections.abc import Sequence

import duckdb
import numpy as np
import polars as pl

from gangline import load_starts, nfs_requests, node_bytes, storage_capacity
from gangline.estimates import Estimate
from gangline.estimates.proportions import proportion
from gangline.estimates.quantiles import quantile
from gangline.estimates.ratios import ratio_of_sums
from gangline.warehouse.querying import query
from gangline.windows import Window

MANY_WRITERS = 50
HALF = 0.5
CARDS = (
    "nfs.write_request_s",
    "nfs.write_queue_share",
    "nfs.write_in_flight",
    "nfs.read_request_ms",
    "nfs.read_queue_share",
)
NOT_EXPORTED = "no NFS request counters are exported (node_exporter's mountstats collector)"
OTHER_STORAGE = "storage is told by {}, which does not count requests"
NOT_MEASURED = "no {} has samples of NFS requests throughout on nine tenths of its nodes"
PHASES = ("save", "load")
_COUNTERS = {
    "request_s": "the time of requests",
    "queue_s": "the time that requests wait",
    "response_s": "the time until the answer",
    "queue_ms": "the time that requests wait",
    "response_ms": "the time until the answer",
    "bytes": "the size of requests",
}


def figures(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """Every `nfs.*` figure of the saves and loads that begin in the window; n is the number of them that are measured.

    WRITE is told of inside saves, READ inside loads.
    """
    rows = nfs_requests.by_checkpoint(con, window)
    reasons = {phase: reason(con, window, phase) for phase in PHASES}
    absent = {phase: absence(con, window, phase) for phase in PHASES}
    saves, loads = (rows.filter(pl.col("phase") == phase) for phase in PHASES)
    nodes = nfs_requests.by_node(con, window).filter(pl.col("phase") == "save")
    return {
        "nfs.write_request_s": _time(saves, "request_s", "s", reasons["save"]),
        "nfs.write_queue_share": _share(saves, reasons["save"]),
        "nfs.write_response_ms": _time(saves, "response_s", "ms", reasons["save"]),
        "nfs.write_kb": _ratio(saves, "bytes", "requests", "kb", 1e-3, reasons["save"]),
        "nfs.write_in_flight": _ratio(saves, "response_s", "node_s", "requests", 1.0, reasons["save"]),
        "nfs.write_queue_p95_ms": _p95(nodes, "queue_ms", reasons["save"]),
        "nfs.write_response_p95_ms": _p95(nodes, "response_ms", reasons["save"]),
        "nfs.metadata_share": _ratio(saves, "metadata_requests", "all_requests", "ratio", 1.0, reasons["save"]),
        "nfs.saves_measured": _measured(saves, reasons["save"]),
        "nfs.saves_50_writers_share": many_writers(saves, reasons["save"]),
        "nfs.read_request_ms": _time(loads, "request_s", "ms", reasons["load"]),
        "nfs.read_queue_share": _share(loads, reasons["load"]),
        "nfs.read_response_ms": _time(loads, "response_s", "ms", reasons["load"]),
        "nfs.read_kb": _ratio(loads, "bytes", "requests", "kb", 1e-3, reasons["load"]),
        "nfs.read_in_flight": _ratio(loads, "response_s", "node_s", "requests", 1.0, reasons["load"]),
        **node_bytes.figures(con, window, absent),
        **load_starts.figures(load_starts.loads(con, window), absent["load"]),
        **storage_capacity.figures(con, window),
    }


def case(estimates: dict[str, Estimate]) -> str:
    """Which sentence fits: `both`, `saves`, `loads` (of which requests are known), else `none`."""
    is_write, is_read = (estimates[name].value is not None for name in ("nfs.write_request_s", "nfs.read_request_ms"))
    return "both" if is_write and is_read else "saves" if is_write else "loads" if is_read else "none"


def measured(con: duckdb.DuckDBPyConnection, window: Window, checkpoints: pl.DataFrame) -> dict[str, int]:
    """How many saves and loads begin in the window, and how many are measured; takes `nfs_requests.by_checkpoint`."""
    begun = query(con, _BEGUN, start=window.start, end=window.end).row(0, named=True)
    counts = {phase: checkpoints.filter(pl.col("phase") == phase).height for phase in PHASES}
    return {"saves": begun["saves"], "loads": begun["loads"], "measured": counts["save"], "read": counts["load"]}


def where(share: Estimate) -> str:
    """Where most of a request's time passes, as a clause, by the queue's share of it.

    >>> where(Estimate(0.93, "ratio", 5))
    'most of it before it leaves the node'
    """
    if share.value is None:
        return "where, is not known"
    return "most of it before it leaves the node" if share.value > HALF else "most of it until the storage answers"


def reason(con: duckdb.DuckDBPyConnection, window: Window, phase: str) -> str | None:
    """Why nothing can be said of the requests inside saves (or loads) of the window; null where something can."""
    if absent := absence(con, window, phase):
        return absent
    known = query(con, _KNOWN, start=window.start, end=window.end, phase=phase).row(0, named=True)
    if not known["requests"]:
        metric = known["metric"]
        return NOT_EXPORTED if metric is None or "_nfs_" in metric else OTHER_STORAGE.format(metric)
    return None if known["measured"] else NOT_MEASURED.format(phase)


def absence(con: duckdb.DuckDBPyConnection, window: Window, phase: str) -> str | None:
    """Why there is no save (or load) in the window; null where there is one."""
    begun = query(con, _BEGUN, start=window.start, end=window.end).row(0, named=True)
    return None if begun[f"{phase}s"] else begun[f"{phase}_reason"] or f"no {phase} begins in the window"


def many_writers(saves: pl.DataFrame, reason: str | None) -> Estimate:
    """Share of measured saves in which at least 50 nodes wrote in one step."""
    told = saves.drop_nulls("writer_nodes")
    if reason or told.is_empty():
        return Estimate.missing("ratio", reason or "writers are not told", n=0)
    return proportion(int((told["writer_nodes"] >= MANY_WRITERS).sum()), told.height)


def _time(rows: pl.DataFrame, column: str, unit: str, reason: str | None) -> Estimate:
    return _ratio(rows, column, "requests", unit, 1000.0 if unit == "ms" else 1.0, reason)


def _share(rows: pl.DataFrame, reason: str | None) -> Estimate:
    return _ratio(rows, "queue_s", "request_s", "ratio", 1.0, reason)


def _ratio(rows: pl.DataFrame, above: str, below: str, unit: str, scale: float, reason: str | None) -> Estimate:
    if reason:
        return Estimate.missing(unit, reason, n=0)
    missing = [name for name in (above, below) if rows[name].null_count() == rows.height]
    if missing:
        return Estimate.missing(unit, f"{_COUNTERS[missing[0]]} is not exported", n=0)
    return ratio_of_sums(_numbers(rows, above), _numbers(rows, below), unit, scale=scale)


def _p95(nodes: pl.DataFrame, column: str, reason: str | None) -> Estimate:
    if reason or nodes[column].null_count() == nodes.height:
        return Estimate.missing("ms", reason or f"{_COUNTERS[column]} is not exported", n=0)
    return quantile(_numbers(nodes, column), nfs_requests.NODE_QUANTILE, "ms")


def _measured(saves: pl.DataFrame, reason: str | None) -> Estimate:
    if reason:
        return Estimate.missing("saves", reason, n=0)
    return Estimate(float(saves.height), "saves", saves.height, method="count")


def _numbers(rows: pl.DataFrame, column: str) -> Sequence[float]:
    return rows[column].cast(pl.Float64).fill_null(np.nan).to_list()


_BEGUN = """
select (select count(*) from marts.checkpoint_saves where started_at >= $start and started_at < $end) as saves,
    (select count(*) from marts.checkpoint_loads where started_at >= $start and started_at < $end) as loads,
    rules.save_reason, rules.load_reason
from (select 1) left join marts.checkpoint_rules rules on true
"""

_KNOWN = """
with chosen as (
    select save_id as checkpoint_id from marts.checkpoint_saves
    where $phase = 'save' and started_at >= $start and started_at < $end
    union all
    select load_id from marts.checkpoint_loads where $phase = 'load' and started_at >= $start and started_at < $end
),
requests as (
    select checkpoint_id, node, is_covered from marts.checkpoint_requests
    semi join chosen using (checkpoint_id) where phase = $phase
),
covered as (
    select checkpoint_id, count(distinct node) >= 0.9 * any_value(node_count) - 1e-9 as is_measured
    from requests
    join intermediate.int_checkpoint_windows_measured using (checkpoint_id)
    where is_covered
    group by checkpoint_id
)
select (select count(*) from requests) as requests,
    (select coalesce(bool_or(is_measured), false) from covered) as measured,
    if($phase = 'save', rules.write_metric, rules.read_metric) as metric
from (select 1) left join marts.checkpoint_rules rules on true
"""
