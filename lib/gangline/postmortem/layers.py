"""The layers of a node around an event, over the band of its peers, with phases and marks."""

from collections.abc import Sequence
from typing import Any

import duckdb
import polars as pl

from gangline.config import Config
from gangline.courses import course
from gangline.telemetry import LAYERS, band, lines
from gangline.warehouse.querying import query
from gangline.windows import Window

MARKED = ("xid", "bus_loss", "node_incident_started", "session_ended", "session_started", "annotation")


def layers(
    con: duckdb.DuckDBPyConnection, config: Config, window: Window, node: str | None, roles: Sequence[str] = LAYERS
) -> pl.DataFrame:
    """A node's values over the fleet's band, layer by layer: layer, at, value (null without a node), median, p5, p95.

    Roles that have no samples in the window, or none of the node, are left out.

    Raises
    ------
    RoleError
        Where there is no such role.
    """
    frames = []
    for role in roles:
        found = course(con, config, window, role)
        if found is None or (node and node not in found.nodes):
            continue
        fleet = band(found).select("at", "median", "p5", "p95")
        own = lines(found, [node]) if node else lines(found, [])
        joined = fleet.join(own.select("at", "value"), on="at", how="left", maintain_order="left")
        frames.append(joined.select(pl.lit(found.title).alias("layer"), "at", "value", "median", "p5", "p95"))
    return pl.concat([pl.DataFrame(schema=_SCHEMA), *frames])


def phases(con: duckdb.DuckDBPyConnection, window: Window, session_ids: Sequence[str]) -> pl.DataFrame:
    """Phases of some sessions in a window, cut to it: phase, from_at, to_at."""
    return query(con, _PHASES, ids=list(session_ids), start=window.start, end=window.end)


def marks(timeline: pl.DataFrame, node: str | None, kinds: Sequence[str] = MARKED) -> pl.DataFrame:
    """What of a timeline is marked on pictures: at, name; of other nodes only what no node is named for."""
    is_own = pl.col("node").is_null() | (pl.col("node") == node) if node else pl.lit(value=True)
    words = {"xid": "XID ", "session_ended": "end: ", "session_started": "start"}
    name = pl.col("kind").replace_strict(words, default=None, return_dtype=pl.String)
    shown = pl.when(pl.col("kind") == "session_started").then(pl.lit("start"))
    named = shown.otherwise(pl.concat_str(name.fill_null(""), pl.col("value").fill_null("").str.slice(0, 24)))
    return (
        timeline.filter(pl.col("kind").is_in(list(kinds)) & is_own)
        .select("at", named.alias("name"))
        .unique(maintain_order=True)
    )


_SCHEMA: dict[str, Any] = {"layer": pl.String, "at": pl.Datetime("us", "UTC")} | dict.fromkeys(
    ("value", "median", "p5", "p95"), pl.Float64
)
_PHASES = """
    select phase, greatest(started_at, $start) as from_at, least(ended_at, $end) as to_at
    from marts.phases
    where session_id in (select unnest($ids::varchar[])) and started_at < $end and ended_at > $start
    order by from_at, phase
"""
