"""The fleet and its sessions in a window: how many, how large, who held the GPUs and how it ended."""

import duckdb
import polars as pl

from gangline.estimates import Estimate
from gangline.warehouse.querying import query
from gangline.windows import Window

FEW_SHARE = 0.5

CLIPPED = """
    select *, greatest(0, epoch(least(coalesce(ended_at, observed_until), $end)) - epoch(greatest(started_at, $start)))
        / 3600 as window_h
    from marts.sessions
    where started_at < $end and coalesce(ended_at, observed_until) > $start
"""


def figures(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """The `fleet.*` headlines of a window.

    A session belongs to the window that holds its start (one that never started: its creation); GPU-hours are
    clipped to the window. `fleet.gang_gpu_hours_share` is GPU-hours of gang sessions over those of all sessions
    whose GPU count is known.
    """
    (counts,) = query(
        con,
        """
        select
            count(*) filter (started_at is not null) as started,
            count(*) filter (started_at is not null and node_count >= 2) as multi_node,
            count(*) filter (end_reason = 'never_started') as never_started
        from marts.sessions
        where coalesce(started_at, created_at, ended_at) >= $start
            and coalesce(started_at, created_at, ended_at) < $end
        """,
        start=window.start,
        end=window.end,
    ).iter_rows(named=True)
    return {
        "fleet.nodes": _count(_nodes_in_service(con, window), "nodes"),
        "fleet.sessions": _count(counts["started"], "sessions"),
        "fleet.multi_node_sessions": _count(counts["multi_node"], "sessions"),
        "fleet.never_started": _count(counts["never_started"], "sessions"),
        "fleet.gang_gpu_hours_share": _gang_share(con, window),
    }


def gang_min_nodes(con: duckdb.DuckDBPyConnection) -> int | None:
    """The fewest nodes of a gang session, as configured or derived; None where the export has no multi-node session."""
    row = con.execute("select gang_min_nodes from intermediate.int_gang_rule").fetchone()
    return row[0] if row else None


def timeline(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Sessions that ran in the window: id, names, nodes, clipped start and end, end reason; longest first by lane."""
    return query(
        con,
        f"""
        select session_id, job_name, run_name, owner, node_count, gpu_count, is_gang, end_reason, end_class,
            greatest(started_at, $start) as started_at,
            least(coalesce(ended_at, observed_until), $end) as ended_at, window_h
        from ({CLIPPED})
        order by started_at, session_id
        """,
        start=window.start,
        end=window.end,
    )


def gpu_hours_by_owner(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """GPU-hours in the window by owner and end reason: owner, end_reason, sessions, gpu_h."""
    return query(
        con,
        f"""
        select coalesce(owner, 'unknown') as owner, end_reason, count(*) as sessions, sum(window_h * gpu_count) as gpu_h
        from ({CLIPPED})
        group by all
        having sum(window_h * gpu_count) > 0
        order by gpu_h desc, owner, end_reason
        """,
        start=window.start,
        end=window.end,
    )


def starts_by_day(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Sessions started per local day by node count and end reason: day (local midnight as UTC instant), size, count."""
    return query(
        con,
        """
        select
            date_trunc('day', started_at at time zone $zone) at time zone 'UTC' as day,
            case
                when is_gang then 'gang'
                when node_count >= 2 then 'multi-node'
                else 'single-node'
            end as size,
            end_reason,
            count(*) as sessions
        from marts.sessions
        where started_at >= $start and started_at < $end
        group by all
        order by all
        """,
        start=window.start,
        end=window.end,
        zone=window.time_zone,
    )


def _nodes_in_service(con: duckdb.DuckDBPyConnection, window: Window) -> int:
    (count,) = query(
        con,
        """
        select count(*) as nodes from marts.nodes
        where coalesce(in_service_from, $start) < $end and coalesce(in_service_to, $end) > $start
        """,
        start=window.start,
        end=window.end,
    )["nodes"]
    return int(count)


def _gang_share(con: duckdb.DuckDBPyConnection, window: Window) -> Estimate:
    (row,) = query(
        con,
        f"""
        select count(*) as sessions, sum(window_h * gpu_count) as gpu_h,
            sum(window_h * gpu_count) filter (is_gang) as gang_gpu_h
        from ({CLIPPED})
        where gpu_count is not null
        """,
        start=window.start,
        end=window.end,
    ).iter_rows(named=True)
    method = "GPU-hours of gang sessions over GPU-hours of all sessions, clipped to the window"
    if not row["gpu_h"]:
        return Estimate.missing("ratio", "no session held a GPU in the window", n=row["sessions"], method=method)
    return Estimate((row["gang_gpu_h"] or 0.0) / row["gpu_h"], "ratio", row["sessions"], method=method)


def _count(value: int, unit: str) -> Estimate:
    return Estimate(float(value), unit, value, method="count")
