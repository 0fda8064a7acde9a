"""Stretches of a window in which nodes were down, drained or out of service, and why."""

import duckdb
import polars as pl

from gangline.warehouse.querying import query
from gangline.windows import Window

LABELS = {"state_kind": "State", "meaning": "Reason", "is_open": "Still so", "state_h": "In the window (h)"}


def within(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Stretches in which a node of the inventory could not be used, clipped to the observed window, earliest first.

    From scheduler events (`slurm_events` and the like); what the config's [[nodes]] takes out of service shows in the
    line of usable nodes only. Columns: node, state_kind, state (in the source's words), from_at, to_at, is_open (it
    lasts at the export), state_h, meaning (the source's reason).
    """
    return query(con, _WITHIN, start=window.start, end=window.end)


_WITHIN = """
    with stretches as (
        select node_states.node, node_states.state_kind, node_states.state,
            greatest(node_states.started_at, $start) as from_at,
            least(coalesce(node_states.ended_at, node_states.observed_until), $end) as to_at,
            node_states.ended_at is null as is_open, node_states.reason as meaning
        from marts.node_states
        join marts.nodes using (node)
        where node_states.state_kind in ('down', 'drained', 'out_of_service')
            and node_states.started_at < $end
    )
    select node, state_kind, state, from_at, to_at, is_open, hours_between(from_at, to_at) as state_h, meaning
    from stretches where from_at < to_at order by from_at, node, state
"""
