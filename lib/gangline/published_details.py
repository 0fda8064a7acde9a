"""Figures that the 504-GPU report tells in passing, and no page has a card for: computed for page 90 alone."""

import duckdb

from gangline import load_starts, node_bytes
from gangline.estimates import Estimate
from gangline.estimates.quantiles import median
from gangline.warehouse.querying import query
from gangline.windows import Window

NAMED = ("gpu074", "gpu119", "gpu086")
"""The three nodes that the report says were left out most."""
NO_SESSION, NO_CHAIN = "no gang session leaves a node out", "no chain failed after training"
NO_EPISODE, NO_STAGING = "no such episode", "no two groups of nodes stage saves in shared memory"
NO_LOAD = "no load is measured in the window"


def of_sessions(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """Named nodes among the three left out most, chains' courses, and the longest episodes that a retry ended."""
    row = query(con, _SESSIONS, start=window.start, end=window.end, named=list(NAMED)).row(0, named=True)
    return {
        "exclusions.named_in_top3": _known(row["named"] if row["excluded"] else None, "nodes", NO_SESSION),
        "retries.recovered_at_first": _known(row["at_first"], "chains", NO_CHAIN),
        "retries.trained_before_longest_h": _known(row["trained_h"], "h", NO_CHAIN),
        "retries.longest_failed_retries": _known(row["failed"], "retries", NO_CHAIN),
        "downtimes.automatic_longest_h": _known(row["longest_h"], "h", NO_EPISODE),
        "downtimes.automatic_second_h": _known(row["second_h"], "h", NO_EPISODE),
    }


def of_telemetry(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """What the two groups of nodes stage and send in a save, the highest read rate, and what the page cache keeps."""
    return _staging(con, window) | _loads(con, window)


def _staging(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    groups = node_bytes.staging_groups(node_bytes.by_node(con, window)).rows(named=True)
    is_told = len(groups) == len(_GROUPS)
    return {
        f"nfs.{name}_{group}_gb": _known(row[column] if is_told else None, "gb", NO_STAGING)
        for group, row in zip(_GROUPS, groups if is_told else [{}, {}], strict=True)
        for name, column in (("staged", "buffer_gb"), ("sent", "sent_gb"))
    }


def _loads(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    loads = load_starts.loads(con, window)
    peaks, cached = loads["peak_gb_per_s"].drop_nulls().to_list(), loads["cache_gb"].drop_nulls().to_list()
    return {
        "nfs.read_peak_gb_per_s": _known(max(peaks, default=None), "gb_per_s", NO_LOAD),
        "nfs.page_cache_gb": median(cached, "gb") if cached else Estimate.missing("gb", NO_LOAD, n=0),
    }


def _known(value: float | None, unit: str, reason: str) -> Estimate:
    return Estimate.missing(unit, reason, n=0) if value is None else Estimate(float(value), unit, None)


_GROUPS = ("large", "small")
_SESSIONS = """
    with top as (
        select node, excluded_sessions from marts.node_exclusions($start, $end)
        order by excluded_sessions desc, node limit 3
    ),
    chains as (select * from marts.retry_chains where first_started_at >= $start and first_started_at < $end),
    vain as (
        select retries, hours_between(started_at, ended_at) as trained_h
        from chains join marts.sessions using (chain_id)
        where not chains.recovered and attempt = 1 and reached_training
        order by retries desc, chain_id limit 1
    ),
    ranked as (
        select downtime_h, row_number() over (order by downtime_h desc, downtime_id) as place from marts.downtimes
        where recovery_kind = 'automatic' and downtime_h is not null and started_at >= $start and started_at < $end
    )
    select
        (select count(*) from top where list_contains($named::varchar[], node)) as named,
        (select sum(excluded_sessions) from top) as excluded,
        (select count(*) from chains where recovered_attempt = 2) as at_first,
        (select trained_h from vain) as trained_h,
        (select retries from vain) as failed,
        (select downtime_h from ranked where place = 1) as longest_h,
        (select downtime_h from ranked where place = 2) as second_h
"""
