"""The fleet and its sessions in a window: how many, how large, who held the GPUs and how it ended."""

from dataclasses import dataclass

import duckdb
import polars as pl

from gangline.estimates import Estimate
from gangline.warehouse.querying import query
from gangline.windows import Window

FEW_SHARE = 0.5
NAMED_RUNS, NAMED_OWNERS, SHOWN_SESSIONS = 24, 20, 2000
DAYS_AS_DAYS, DAYS_AS_WEEKS = 370, 2600
OTHERS = "all others"
CARDS = (
    "fleet.nodes",
    "fleet.sessions",
    "fleet.multi_node_sessions",
    "fleet.never_started",
    "fleet.gang_gpu_hours_share",
)


@dataclass(frozen=True)
class GangRule:
    """From how many nodes on a session is a gang, and the usual gang's size; None where no session shows it.

    `origin` is `config` (gang_min_nodes), `usual_size` (0.8 of the size that holds most node-hours) or None.
    """

    min_nodes: int | None
    origin: str | None
    usual_nodes: int | None


def figures(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """The `fleet.*` headlines of a window.

    A session belongs to the window that holds its start (one that never started: its creation); GPU-hours are
    clipped to the window. `fleet.gang_gpu_hours_share` is GPU-hours of gang sessions over those of all sessions
    whose GPU count is known.
    """
    (counts,) = query(con, _COUNTS, start=window.start, end=window.end).iter_rows(named=True)
    return {
        "fleet.nodes": _count(counts["nodes"], "nodes"),
        "fleet.sessions": _count(counts["started"], "sessions"),
        "fleet.multi_node_sessions": _count(counts["multi_node"], "sessions"),
        "fleet.never_started": _count(counts["never_started"], "sessions"),
        "fleet.gang_gpu_hours_share": gang_share(con, window),
    }


def gang_share(con: duckdb.DuckDBPyConnection, window: Window) -> Estimate:
    """GPU-hours of gang sessions over GPU-hours of all sessions, clipped to the window."""
    (row,) = query(con, _GANG_SHARE, start=window.start, end=window.end).iter_rows(named=True)
    method = "GPU-hours of gang sessions over GPU-hours of all sessions, clipped to the window"
    if not row["gpu_h"]:
        return Estimate.missing("ratio", "no session held a GPU in the window", n=row["sessions"], method=method)
    return Estimate((row["gang_gpu_h"] or 0.0) / row["gpu_h"], "ratio", row["sessions"], method=method)


def is_gang_minority(share: Estimate) -> bool:
    """Whether gang sessions cover so few of the GPU-hours that figures about them are not figures about the fleet."""
    return share.value is not None and share.value < FEW_SHARE


def case(con: duckdb.DuckDBPyConnection, figures: dict[str, Estimate]) -> str:
    """Which sentence fits: `no_source` (no session in the export), `none` (none in the window), else `found`."""
    if not query(con, "select exists(from marts.sessions) as known").item():
        return "no_source"
    return "found" if figures["fleet.sessions"].value else "none"


def gang_rule(con: duckdb.DuckDBPyConnection) -> GangRule:
    """What makes a session a gang in this export."""
    row = query(con, "select gang_min_nodes, gang_rule, usual_node_count from intermediate.int_gang_sizes_ruled").row(0)
    return GangRule(*row)


def starts(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Sessions started per stretch of the zone's calendar: day (its first local day), size, end_reason, sessions."""
    return query(
        con, _STARTS, start=window.start, end=window.end, zone=window.time_zone, stretch=calendar_stretch(window)
    )


def calendar_stretch(window: Window) -> str:
    """What a bar over time stands for: a day, in long windows a week or a month."""
    if window.days <= DAYS_AS_DAYS:
        return "day"
    return "week" if window.days <= DAYS_AS_WEEKS else "month"


def runs(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """The largest sessions of the run names with most GPU-hours in the window.

    Columns: run_name (the session's id where it has none), owner, session_id, node_count, end_reason, from_at and to_at
    clipped to the window, is_censored, gpu_h in the window, run_gpu_h of the whole run; largest run first.
    """
    shown = {"named": NAMED_RUNS, "most": SHOWN_SESSIONS}
    return query(con, _RUNS, start=window.start, end=window.end, **shown)


def run_count(con: duckdb.DuckDBPyConnection, window: Window) -> int:
    """Run names that had a session in the window."""
    sql = "select count(distinct coalesce(run_name, session_id)) as runs from marts.sessions_within($start, $end)"
    return int(query(con, sql, start=window.start, end=window.end).item())


def gpu_hours(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """GPU-hours in the window by owner and end reason, smaller owners together, largest owner first.

    Columns: owner (null where no source names one), is_others (the smaller owners together), place, end_reason,
    sessions, gpu_h.
    """
    return query(con, _GPU_HOURS, start=window.start, end=window.end, named=NAMED_OWNERS)


def ends(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Sessions that ran in the window by how they ended: end_reason, sessions, node_h, gpu_h, gpu_hours_share."""
    return query(con, _ENDS, start=window.start, end=window.end)


def never_started(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Sessions of the window that never held a node, by owner and state: owner, source_state, sessions, created."""
    return query(con, _NEVER_STARTED, start=window.start, end=window.end)


_BELONGING = "coalesce(started_at, created_at, ended_at, observed_until)"
_COUNTS = f"""
    with belonging as (from marts.sessions where {_BELONGING} >= $start and {_BELONGING} < $end),
    serving as (
        from marts.nodes
        where coalesce(in_service_from, $start) < $end and coalesce(in_service_to, $end) > $start
    )
    select
        (select count(*) from serving) as nodes,
        count(*) filter (started_at is not null) as started,
        count(*) filter (started_at is not null and node_count >= 2) as multi_node,
        count(*) filter (end_reason = 'never_started') as never_started
    from belonging
"""  # noqa: S608
_GANG_SHARE = """
    select count(*) as sessions, sum(window_h * gpu_count) as gpu_h,
        sum(window_h * gpu_count) filter (is_gang) as gang_gpu_h
    from marts.sessions_within($start, $end)
    where gpu_count is not null
"""
_STARTS = """
    select
        date_trunc($stretch, started_at at time zone $zone)::date as day,
        case
            when is_gang then 'gang'
            when node_count >= 2 then 'multi-node'
            when node_count = 1 then 'single-node'
            else 'size not known'
        end as size,
        end_reason,
        count(*) as sessions
    from marts.sessions
    where started_at >= $start and started_at < $end
    group by all
    order by all
"""
_RUNS = """
    with weighed as (
        select coalesce(run_name, session_id) as run_name, owner, session_id, node_count, end_reason, is_censored,
            shown_from as from_at, shown_to as to_at, window_h * coalesce(gpu_count, node_count, 0) as gpu_h
        from marts.sessions_within($start, $end)
    ),
    runs as (
        select run_name, sum(gpu_h) as run_gpu_h from weighed group by all order by run_gpu_h desc, run_name
        limit $named
    ),
    largest as (
        select weighed.*, runs.run_gpu_h from weighed join runs using (run_name)
        order by weighed.gpu_h desc, weighed.session_id limit $most
    )
    from largest order by run_gpu_h desc, run_name, from_at, session_id
"""
_GPU_HOURS = """
    with held as (
        select owner, end_reason, count(*) as sessions, sum(window_h * gpu_count) as gpu_h
        from marts.sessions_within($start, $end) group by all having gpu_h > 0
    ),
    owners as (
        select owner, row_number() over (order by sum(gpu_h) desc, owner) as place from held group by owner
    )
    select if(place > $named, null, held.owner) as owner, place > $named as is_others,
        least(place, $named + 1) as place, end_reason, sum(sessions)::bigint as sessions, sum(gpu_h) as gpu_h
    from held join owners on held.owner is not distinct from owners.owner
    group by all
    order by 3, end_reason
"""
_ENDS = """
    with within as (from marts.sessions_within($start, $end))
    select end_reason, count(*) as sessions, sum(window_h * node_count) as node_h, sum(window_h * gpu_count) as gpu_h,
        sum(window_h * gpu_count) / nullif(sum(sum(window_h * gpu_count)) over (), 0) as gpu_hours_share
    from within group by end_reason order by sessions desc, end_reason
"""
_NEVER_STARTED = f"""
    select owner, source_state, count(*) as sessions, min(created_at) as first_created_at,
        max(created_at) as last_created_at
    from marts.sessions
    where end_reason = 'never_started' and {_BELONGING} >= $start and {_BELONGING} < $end
    group by all order by sessions desc, owner, source_state
"""  # noqa: S608


def _count(value: int, unit: str) -> Estimate:
    return Estimate(float(value), unit, value, method="count")
