"""Bytes that nodes hand to write() and read(), against what goes over the network, and what memory holds meanwhile."""

from collections.abc import Mapping

import duckdb
import polars as pl

from gangline.estimates import Estimate
from gangline.estimates.means import mean
from gangline.estimates.ratios import ratio_of_sums
from gangline.units import BYTES_PER_GB
from gangline.warehouse.querying import query
from gangline.windows import Window

GROUP_FACTOR = 1.5  # nodes whose buffers differ by less belong together
NO_PROGRAM = "the bytes of write() and read() are not exported"


def figures(con: duckdb.DuckDBPyConnection, window: Window, reasons: Mapping[str, str | None]) -> dict[str, Estimate]:
    """`nfs.{handed_gb_per_node, handed_gb_per_save, sent_over_handed, read_reuse_share}`.

    Parameters
    ----------
    reasons
        Why there are no saves, and no loads, in the window, by phase; null where there are.
    """
    saves, loads = moved(con, window, "save"), moved(con, window, "load")
    why = {phase: reasons[phase] or NO_PROGRAM for phase in ("save", "load")}
    if saves.is_empty():
        none = {name: Estimate.missing(unit, why["save"], n=0) for name, unit in _SAVE_UNITS.items()}
    else:
        handed = saves["handed"] / BYTES_PER_GB
        none = {
            "nfs.handed_gb_per_node": ratio_of_sums(handed.to_list(), saves["nodes"].to_list(), "gb"),
            "nfs.handed_gb_per_save": mean(handed.to_list(), "gb", least=0.0),
            "nfs.sent_over_handed": ratio_of_sums(saves["moved"].to_list(), saves["handed"].to_list(), "times"),
        }
    return none | {"nfs.read_reuse_share": reuse(loads, why["load"])}


def moved(con: duckdb.DuckDBPyConnection, window: Window, phase: str) -> pl.DataFrame:
    """A row a save (or load) of the window: bytes around it, over the nodes that tell both sides throughout.

    Returns
    -------
    DataFrame
        checkpoint_id, started_at, nodes, handed (to write(), or out by read()), moved (by WRITE, or READ).
    """
    return query(con, _MOVED, phase=phase, start=window.start, end=window.end, **_ROLES[phase])


def by_node(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """A row a node over the saves of the window.

    Returns
    -------
    DataFrame
        node, saves, handed_gb and sent_gb (means per save, around it), shared_memory_gb (median over saves of its
        peak), buffer_gb (median of its peak less its start); null where not
        exported. In order of shared memory, most first.
    """
    return query(con, _BY_NODE, start=window.start, end=window.end)


def staging_groups(nodes: pl.DataFrame) -> pl.DataFrame:
    """Groups of nodes by how much shared memory they hold around a save; takes `by_node`.

    Nodes in order of shared memory are parted where one holds 1.5 times as much as the next.

    Returns
    -------
    DataFrame
        group (from 1, the largest first), nodes, example (its first node), and over its nodes the medians of
        shared_memory_gb, buffer_gb and sent_gb.
    """
    held = grouped(nodes)
    return (
        held.group_by("group", maintain_order=True)
        .agg(
            pl.len().alias("nodes"),
            pl.col("node").sort().first().alias("example"),
            pl.col("shared_memory_gb", "buffer_gb", "sent_gb").median(),
        )
        .sort("group")
    )


def grouped(nodes: pl.DataFrame) -> pl.DataFrame:
    """The nodes with shared memory, each with its `group`."""
    held = nodes.filter(pl.col("shared_memory_gb") > 0).sort("shared_memory_gb", "node", descending=[True, False])
    is_parted = pl.col("shared_memory_gb").shift(1) >= GROUP_FACTOR * pl.col("shared_memory_gb")
    return held.with_columns(group=1 + is_parted.fill_null(value=False).cast(pl.Int64).cum_sum())


def reuse(loads: pl.DataFrame, reason: str) -> Estimate:
    """Share of the bytes that read() handed out which did not come over the network meanwhile; takes `moved`."""
    if loads.is_empty():
        return Estimate.missing("ratio", reason, n=0)
    above = (loads["handed"] - loads["moved"]).clip(lower_bound=0.0)
    return ratio_of_sums(above.to_list(), loads["handed"].to_list(), "ratio")


_ROLES = {
    "save": {"program": "nfs_program_write_bytes", "network": "nfs_write_bytes"},
    "load": {"program": "nfs_program_read_bytes", "network": "nfs_read_bytes"},
}
_SAVE_UNITS = {"nfs.handed_gb_per_node": "gb", "nfs.handed_gb_per_save": "gb", "nfs.sent_over_handed": "times"}

_MOVED = """
with chosen as (
    select save_id as checkpoint_id, started_at from marts.checkpoint_saves
    where $phase = 'save' and started_at >= $start and started_at < $end
    union all
    select load_id, started_at from marts.checkpoint_loads
    where $phase = 'load' and started_at >= $start and started_at < $end
),
nodes as (
    select checkpoint_id, node, sum(around) filter (where role = $program) as handed,
        sum(around) filter (where role = $network) as moved
    from marts.checkpoint_nodes
    where phase = $phase and is_covered and role in ($program, $network)
    group by checkpoint_id, node
)
select checkpoint_id, started_at, count(*) as nodes, sum(handed) as handed, sum(moved) as moved
from chosen join nodes using (checkpoint_id)
where handed is not null and moved is not null
group by checkpoint_id, started_at
order by started_at, checkpoint_id
"""

_BY_NODE = """
with chosen as (
    select save_id as checkpoint_id from marts.checkpoint_saves where started_at >= $start and started_at < $end
)
select node, count(distinct checkpoint_id) as saves,
    avg(around) filter (where role = 'nfs_program_write_bytes' and is_covered) / 1e9 as handed_gb,
    avg(around) filter (where role = 'nfs_write_bytes' and is_covered) / 1e9 as sent_gb,
    median(peak_level) filter (where role = 'shm_used') / 1e9 as shared_memory_gb,
    median(peak_level - first_level) filter (where role = 'shm_used') / 1e9 as buffer_gb
from marts.checkpoint_nodes
semi join chosen using (checkpoint_id)
where phase = 'save'
group by node
order by shared_memory_gb desc nulls last, node
"""
