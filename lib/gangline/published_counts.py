"""Four counts of the 504-GPU report that readers mix up, beside the same counts here."""

import duckdb
import polars as pl

from gangline import exposures
from gangline.estimates import Estimate
from gangline.published import TELEMETRY, spans
from gangline.warehouse.querying import query
from gangline.windows import Window


def reconciled(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Four counts that are easily mixed up, and how they hang together: what, printed, here, meaning."""
    seen = spans(con, window)[TELEMETRY]
    span = {"start": window.start, "end": window.end, "from": seen.start, "to": seen.end}
    found = query(con, _RECONCILED, **span).row(0, named=True)
    rows = [(what, printed, found[name], how.format(**found)) for what, printed, name, how in _COUNTS]
    return pl.DataFrame(
        rows, schema={"what": pl.String, "printed": pl.Int64, "here": pl.Int64, "meaning": pl.String}, orient="row"
    )


def ends_of_all_sessions(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, int | Estimate]:
    """For a sentence on what pages 06 and 91 count in the whole window: ends, of them in vain, seen, mtbf."""
    found = exposures.exposure(con, window)
    seen = exposures.exposure(con, spans(con, window)[TELEMETRY])
    trained = found.ends.filter("reached_training").height
    return {
        "ends": found.ends.height,
        "vain": found.ends.height - trained,
        "seen": seen.ends.height,
        "mtbf": exposures.figures(found)["checkpoints.mtbf_h"],
    }


_COUNTS = (
    (
        "failures",
        21,
        "xid_failures",
        "events on nodes, several in one downtime; how they were counted is not printed. "
        "Incidents with an XID here: {xid_failures}",
    ),
    (
        "downtimes with a failure",
        14,
        "xid_downtimes",
        "of the episodes, those in which hardware failed. Here an XID incident "
        "stands at the end, or in the downtime, of {xid_downtimes}",
    ),
    (
        "episodes",
        21,
        "episodes",
        "ends of sessions that trained, to the next training, over all sessions: {seen_episodes} open within "
        "the telemetry",
    ),
    (
        "abnormal ends",
        23,
        "ends",
        "ends of runs within the telemetry, neither completed nor planned: {opening} open an episode, "
        "{untrained} had not trained and open none",
    ),
)
_RECONCILED = """
    with episodes as (select * from marts.downtimes where started_at >= $start and started_at < $end),
    ends as (
        select * from marts.sessions
        where is_gang and ended_at >= $from and ended_at < $to
            and coalesce(end_class, 'unknown') not in ('completed', 'planned')
            and session_id in (select session_id from marts.runs)
    ),
    incidents as (select * from marts.incidents where started_at >= $from and started_at < $to and code is not null)
    select
        (select count(*) from episodes) as episodes,
        (select count(*) from episodes where started_at >= $from and started_at < $to) as seen_episodes,
        (select count(*) from ends) as ends,
        (select count(*) from ends where session_id in (select failed_session_id from episodes)) as opening,
        (select count(*) from ends where not coalesce(reached_training, false)) as untrained,
        (select count(*) from incidents) as xid_failures,
        (
            select count(distinct episodes.downtime_id) from episodes
            join incidents on incidents.started_at >= episodes.started_at - interval 10 minute
                and incidents.started_at < coalesce(episodes.session_restored_at, $end)
        ) as xid_downtimes
"""
