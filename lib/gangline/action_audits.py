"""What incidents called for, and what was done about their nodes: taken, not taken, or not known."""

import duckdb
import polars as pl

from gangline.estimates import Estimate
from gangline.estimates.proportions import proportion
from gangline.warehouse.querying import query
from gangline.windows import Window

CALLS = {
    "retry": "retry on the node",
    "isolate_reset_retry": "isolate the node, reset it, retry",
    "stop_isolate_page": "stop, isolate the node, call somebody",
    "ignore": "nothing",
    "follow_cause": "what its cause calls for",
    "follow_action": "what the driver names",
    "contact_support": "contact the vendor",
    "unknown": "not known: the code is not in the table",
}
TAKEN, NOT_TAKEN, UNKNOWN = "taken", "not taken", "unknown"


def rows(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Incidents of a window with what was called for and done, latest first.

    node, started_at, kind, called_for, action_taken, reason (what it rests on), next_kept_node, node_out_until,
    catalogue_action, session_id, incident_id.
    """
    found = query(con, _ROWS, start=window.start, end=window.end)
    return found.with_columns(called_for=pl.col("policy").replace(CALLS)).select(_COLUMNS)


def summary(audited: pl.DataFrame) -> pl.DataFrame:
    """The same by what was called for: called_for, incidents, taken, not_taken, unknown."""
    counted = audited.group_by("called_for").agg(
        incidents=pl.len(),
        taken=(pl.col("action_taken") == TAKEN).sum(),
        not_taken=(pl.col("action_taken") == NOT_TAKEN).sum(),
        unknown=(pl.col("action_taken") == UNKNOWN).sum(),
    )
    return counted.sort(["incidents", "called_for"], descending=[True, False])


def taken_share(audited: pl.DataFrame) -> Estimate:
    """The share of incidents with a known answer in which the action was taken, Wilson."""
    known = audited.filter(pl.col("action_taken") != UNKNOWN)
    if known.is_empty():
        return Estimate.missing("ratio", "of no incident is it known what was done", n=0)
    return proportion(known.filter(pl.col("action_taken") == TAKEN).height, known.height)


_COLUMNS = (
    "node",
    "started_at",
    "kind",
    "called_for",
    "action_taken",
    "reason",
    "next_kept_node",
    "node_out_until",
    "catalogue_action",
    "session_id",
    "incident_id",
)
_ROWS = """
    select incident_id, node, started_at, kind, policy, catalogue_action, action_taken, action_evidence as reason,
        next_kept_node, node_out_until, session_id
    from marts.incidents_within($start::timestamptz, $end::timestamptz)
    order by started_at desc, incident_id
"""
