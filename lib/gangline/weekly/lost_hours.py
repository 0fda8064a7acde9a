"""GPU-hours that a window lost, by cause, as far as what was read tells; each hour counts for one cause only."""

from dataclasses import dataclass
from typing import Any

import duckdb
import polars as pl

from gangline.checkpoints import Checkpoints, measured
from gangline.estimates import Estimate
from gangline.gangs import NO_GANG
from gangline.warehouse.querying import query
from gangline.windows import Window

UNIT = "GPU-hours"
CAUSES = {
    "down": "No gang session ran after an end that was neither completed nor planned",
    "attempts": "Gang sessions that did not reach training",
    "start": "From a gang session's start to its training",
    "rework": "Training since the last checkpoint, lost at such an end",
    "saves": "Training stood still for a save",
    "idle": "Usable nodes that a gang left out and nobody held",
    "unusable": "Nodes down or drained",
}
"""What each cause counts, in the order of a table."""
NAMES = {
    "down": "Down, nothing ran",
    "attempts": "Attempts without training",
    "start": "Starting and loading",
    "rework": "Work lost at ends",
    "saves": "Saving",
    "idle": "Left out and not held",
    "unusable": "Down or drained nodes",
}
"""How a picture names them."""
NOT_REACHED = ("slow nodes and slow links", "GPUs that wait inside a training step", "queues without a session")
"""What no table tells apart yet: these hours are in no row."""


@dataclass(frozen=True)
class LostHours:
    """GPU-hours by cause.

    Attributes
    ----------
    rows
        cause, name, meaning, lost_gpu_h (null where it cannot be told), cases, reason.
    found
        Exposure, ends, saves and loads of the window, from which `rework` and `saves` are told.
    """

    rows: pl.DataFrame
    found: Checkpoints

    @property
    def total(self) -> Estimate:
        """Their sum over the causes that can be told."""
        known = self.rows.drop_nulls("lost_gpu_h")
        if known.is_empty():
            return Estimate.missing(UNIT, NO_GANG, n=0)
        method = f"sum over {known.height} of {self.rows.height} causes"
        return Estimate(float(known["lost_gpu_h"].sum()), UNIT, int(known["cases"].sum()), method=method)

    @property
    def largest(self) -> str | None:
        """The cause of most hours; None where nothing was lost."""
        known = self.rows.filter(pl.col("lost_gpu_h") > 0).sort("lost_gpu_h", "cause", descending=[True, False])
        return None if known.is_empty() else str(known["cause"][0])


def lost_hours(con: duckdb.DuckDBPyConnection, window: Window) -> LostHours:
    """GPU-hours lost in a window by cause; hours are clipped to it, an end's lost work belongs to the end's window.

    A downtime counts the GPUs of the nodes of the session that failed, less the time that a gang session of its lineage
    ran (in `attempts` or `start`) and, node by node, that another session used it, a gang left it out or it was
    unusable; a node that is drained while a session runs on it is used. `rework` and `saves` are GPU-hours of sessions
    that trained.
    """
    values = {"start": window.start, "end": window.end}
    found = measured(con, window)
    told = query(con, _BY_SESSIONS, **values).row(0, named=True) | _from_checkpoints(con, found)
    return LostHours(pl.DataFrame([_row(cause, told) for cause in CAUSES], schema=_SCHEMA, orient="row"), found)


_SCHEMA = {
    "cause": pl.String,
    "name": pl.String,
    "meaning": pl.String,
    "lost_gpu_h": pl.Float64,
    "cases": pl.Int64,
    "reason": pl.String,
}


def _row(cause: str, told: dict[str, Any]) -> tuple[str, str, str, float | None, int, str | None]:
    reason = told.get(f"{cause}_reason")
    hours = None if reason else told[f"{cause}_gpu_h"] or 0.0
    return cause, NAMES[cause], CAUSES[cause], hours, told[f"{cause}_cases"] or 0, reason


def _from_checkpoints(con: duckdb.DuckDBPyConnection, found: Checkpoints) -> dict[str, Any]:
    gpus = query(con, "select session_id, gpu_count from marts.sessions where is_gang")
    lost = found.lost.join(gpus, on="session_id", how="left")
    saves = found.saves.join(gpus, on="session_id", how="left")
    rework = lost.select(pl.col("lost_h") * pl.col("gpu_count")).to_series().drop_nulls()
    stalls = saves.select(pl.col("stall_s") / 3600 * pl.col("gpu_count")).to_series().drop_nulls()
    no_stall = found.reason or ("no save's stall is known" if saves.height and stalls.is_empty() else None)
    untold = "nothing tells what was lost at the ends of this window" if lost.height and rework.is_empty() else None
    return {
        "rework_gpu_h": float(rework.sum()),
        "rework_cases": rework.len(),
        "rework_reason": untold,
        "saves_gpu_h": float(stalls.sum()),
        "saves_cases": stalls.len(),
        "saves_reason": no_stall,
    }


_BY_SESSIONS = """
with gangs as (
    select *, greatest(started_at, $start) as shown_from, least(until_at, $end) as shown_to
    from marts.sessions
    where is_gang and started_at < $end and until_at > $start
),
runs as (
    select nodes.node, greatest(nodes.started_at, $start) as from_at,
        least(coalesce(nodes.ended_at, sessions.until_at), $end) as to_at
    from marts.session_nodes as nodes
    join marts.sessions as sessions using (session_id)
    where nodes.started_at < $end and coalesce(nodes.ended_at, sessions.until_at) > $start
),
states as (
    select node, greatest(started_at, $start) as from_at, least(coalesce(ended_at, observed_until), $end) as to_at
    from marts.node_states
    where state_kind in ('down', 'drained') and started_at < $end and coalesce(ended_at, observed_until) > $start
),
left_out as (
    select nodes.node, found.started_at as from_at, found.until_at as to_at
    from intermediate.int_node_exclusions_found as found
    join intermediate.int_nodes_keyed as nodes using (node_key)
    where found.started_at < $end and found.until_at > $start
),
episodes as (
    select downtimes.downtime_id, downtimes.lineage_id, downtimes.failed_session_id,
        greatest(downtimes.started_at, $start) as from_at,
        least(coalesce(downtimes.session_restored_at, downtimes.observed_until), $end) as to_at
    from marts.downtimes as downtimes
    where downtimes.started_at < $end
        and coalesce(downtimes.session_restored_at, downtimes.observed_until) > $start
),
-- A piece is a node for a time; what is taken from it counts elsewhere, or was used.
pieces as (
    select 'down' as cause, episodes.downtime_id as of_what, episodes.lineage_id, nodes.node,
        sessions.gpu_count / greatest(1, count(nodes.node) over (partition by episodes.downtime_id)) as gpus,
        episodes.from_at, episodes.to_at
    from episodes
    join marts.sessions as sessions on sessions.session_id = episodes.failed_session_id
    left join (select distinct session_id, node from marts.session_nodes) as nodes
        on nodes.session_id = sessions.session_id
    union all
    select 'unusable', states.node, null, states.node, coalesce(nodes.gpu_count, settings.gpus_per_node),
        states.from_at, states.to_at
    from states
    left join marts.nodes as nodes using (node), meta.settings as settings
),
numbered as (select *, row_number() over (order by cause, of_what, node, from_at, to_at) as piece from pieces),
taken as (
    select piece, takers.from_at, takers.to_at
    from numbered
    join (select * from states union all select * from left_out) as takers using (node)
    where cause = 'down'
    union all
    select piece, runs.from_at, runs.to_at from numbered join runs using (node)
    union all
    select piece, gangs.shown_from, gangs.shown_to from numbered join gangs using (lineage_id)
    union all
    select numbered.piece, earlier.from_at, earlier.to_at
    from numbered
    join numbered as earlier using (cause, node)
    where earlier.piece < numbered.piece and earlier.from_at < numbered.to_at and earlier.to_at > numbered.from_at
),
inside as (
    select piece, greatest(taken.from_at, numbered.from_at) as from_at, least(taken.to_at, numbered.to_at) as to_at
    from taken
    join numbered using (piece)
    where taken.from_at < numbered.to_at and taken.to_at > numbered.from_at
),
ordered as (
    select piece, to_at, greatest(from_at, coalesce(max(to_at) over (
        partition by piece order by from_at, to_at rows between unbounded preceding and 1 preceding
    ), from_at)) as new_from_at
    from inside
),
used as (select piece, sum(greatest(0, hours_between(new_from_at, to_at))) as used_h from ordered group by piece),
by_piece as (
    select cause, of_what, gpus * greatest(0, hours_between(from_at, to_at) - coalesce(used_h, 0)) as gpu_h
    from numbered left join used using (piece)
),
down as (select sum(gpu_h) as gpu_h, count(distinct of_what) as cases from by_piece where cause = 'down'),
unusable as (select sum(gpu_h) as gpu_h, count(distinct of_what) as cases from by_piece where cause = 'unusable'),
attempts as (
    select sum(gpu_count * hours_between(shown_from, shown_to)) as gpu_h, count(*) as cases
    from gangs where reached_training is not true
),
start as (
    select sum(gpu_count * hours_between(shown_from, least(shown_to, training_from))) as gpu_h, count(*) as cases,
        count(*) filter (where reached_training and training_from is null) as untold
    from gangs where reached_training and (training_from is null or training_from > shown_from)
),
idle as (
    select sum((excluded_h - held_h) * coalesce(nodes.gpu_count, settings.gpus_per_node)) as gpu_h,
        count(*) filter (where excluded_h > held_h) as cases
    from marts.node_exclusions($start, $end) as left_out
    left join marts.nodes as nodes using (node), meta.settings as settings
),
sources as (select exists(from marts.node_states) as has_states, exists(from gangs) as has_gangs)

select
    down.gpu_h as down_gpu_h, down.cases as down_cases,
    attempts.gpu_h as attempts_gpu_h, attempts.cases as attempts_cases,
    start.gpu_h as start_gpu_h, start.cases as start_cases,
    if(start.untold > 0 and start.untold = start.cases, 'no source tells when training began', null) as start_reason,
    idle.gpu_h as idle_gpu_h, idle.cases as idle_cases,
    if(has_gangs, null, 'no gang session runs in the window') as idle_reason,
    unusable.gpu_h as unusable_gpu_h, unusable.cases as unusable_cases,
    if(has_states, null, 'no source tells node states') as unusable_reason
from down, attempts, start, idle, unusable, sources
"""
