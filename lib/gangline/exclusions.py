"""Node exclusion concentration and single-node overlap of a window: how uneven, against chance, and by whom."""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import polars as pl

from gangline.capacity import below_need
from gangline.estimates import Estimate
from gangline.estimates.chance import BlockNull
from gangline.estimates.concentration import gini, hhi, top_share
from gangline.estimates.proportions import proportion
from gangline.gangs import NO_GANG, TOP, chance, gang_sessions
from gangline.vocabulary import Verdict
from gangline.warehouse.querying import query
from gangline.windows import Window

CARDS = (
    "exclusions.excluded_total",
    "exclusions.top3_share_hours",
    "exclusions.p_value",
    "exclusions.nodes_below_5pct_share",
    "overlap.fleet_ratio",
)
STATES = ("occupied", "idle", "asked_out", "down", "other_gang")
STATE_COLUMNS = ("node", *(f"{state}_sessions" for state in STATES))
RARE_RATIO = 0.05
CHANCE_LEVEL = 0.05
NO_SESSIONS = "no session file gave a started session"
NO_SPARE = "no spare nodes: every gang session takes every candidate node that is free"


def figures(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """The `exclusions.*` headlines and `overlap.fleet_ratio` of a window.

    Concentration is over all candidate nodes in service, zeros included. Where no gang session starts, or every one
    takes all that is free, the figures of concentration are null with that reason.
    """
    nodes = by_node(con, window)
    reason = reason_for_none(nodes)
    null = None if reason else chance(con, gang_sessions(con, window))
    return {
        "exclusions.gang_sessions": _gang_count(con, window),
        "exclusions.excluded_total": _total(nodes),
        **_concentration(nodes, reason),
        **_against_chance(null, reason),
        "exclusions.nodes_below_5pct_share": _rarely(nodes, reason),
        **gang_time(con, window),
        "exclusions.below_need_h": below_need(con, window),
        "overlap.fleet_ratio": overlap(nodes, reason=reason),
    }


def case(figures: Mapping[str, Estimate], nodes: pl.DataFrame) -> str:
    """Which sentence fits.

    `no_gang`, `no_spare`, `untested` (a share, but no test of it), `uneven` (more than chance gives: p below 0.05),
    else `by_chance`.
    """
    reason, p = reason_for_none(nodes), figures["exclusions.p_value"].value
    if reason:
        return "no_gang" if reason == NO_GANG else "no_spare"
    if p is None:
        return "untested"
    return "uneven" if p < CHANCE_LEVEL else "by_chance"


def by_node(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Rows of `marts.node_exclusions(window)` for the nodes that some gang session of the window could have taken."""
    rows = query(con, "from marts.node_exclusions($start, $end)", start=window.start, end=window.end)
    return rows.filter((pl.col("gang_sessions") > 0) | (pl.col("excluded_h") > 0)).sort(
        ["excluded_h", "excluded_sessions", "node"], descending=[True, True, False]
    )


def most_excluded(nodes: pl.DataFrame, count: int = TOP) -> list[str]:
    """Names of the nodes with most excluded hours, most first; fewer where fewer have any."""
    names: list[str] = nodes.filter(pl.col("excluded_h") > 0)["node"].head(count).to_list()
    return names


def reason_for_none(nodes: pl.DataFrame) -> str:
    """Why nothing can be said of concentration; empty where something can."""
    if nodes["excluded_sessions"].sum() > 0 or nodes["excluded_h"].sum() > 0:
        return ""
    return NO_SPARE if nodes["gang_sessions"].sum() > 0 else NO_GANG


def overlap(nodes: pl.DataFrame, held: str = "held_h", reason: str = "") -> Estimate:
    """Excluded node-hours in which a single-node session held the node, over all excluded node-hours.

    Parameters
    ----------
    held : str
        `held_h` (sessions of at least held_min_gpu_share) or `fully_held_h` (a session that holds every GPU).
    """
    excluded, count = float(nodes["excluded_h"].sum()), nodes.filter(pl.col("excluded_h") > 0).height
    if excluded == 0:
        return Estimate.missing("ratio", reason or "no node was left out for any time in the window", n=0)
    share = float(nodes[held].sum()) / excluded
    return Estimate(share, "ratio", count, method="ratio of sums over nodes that were left out")


def verdicts(nodes: pl.DataFrame) -> dict[str, int]:
    """How many nodes were occupied, mixed and unoccupied while they were left out."""
    return {str(verdict): nodes.filter(pl.col("verdict") == verdict).height for verdict in Verdict}


def state_totals(nodes: pl.DataFrame) -> dict[str, int]:
    """Gang starts without a candidate node, over all nodes, by what the node was doing then."""
    return {state: int(nodes[f"{state}_sessions"].sum()) for state in STATES}


def stretches(con: duckdb.DuckDBPyConnection, window: Window, nodes: Sequence[str], joined_s: float) -> pl.DataFrame:
    """When each of some nodes was left out, and when held meanwhile: node, use (`left_out`, `held`), from_at, to_at.

    Stretches of one use no more than `joined_s` seconds apart are one.
    """
    return query(
        con, _STRETCHES, start=window.start, end=window.end, nodes=list(nodes), joined_us=round(joined_s * 1e6)
    )


def holders(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Who held left-out nodes with single-node sessions: node, owner, run_name, sessions, held_h, held_first_share.

    `held_first_share` is the share of meetings (a session and an exclusion that it overlaps) in which the session was
    running before the exclusion began; `meetings` and `held_first` are its parts. Most hours first.
    """
    rows = query(con, "from marts.exclusion_holders($start, $end)", start=window.start, end=window.end)
    return rows.with_columns(held_first_share=pl.col("held_first") / pl.col("meetings"))


def held_first(holders: pl.DataFrame) -> Estimate:
    """Meetings of a single-node session and an exclusion in which the session was there first, over all meetings."""
    return proportion(int(holders["held_first"].sum()), int(holders["meetings"].sum()))


def overlaps(nodes: pl.DataFrame, holders: pl.DataFrame) -> pl.DataFrame:
    """Left-out nodes with their overlap and who held them most, most excluded hours first."""
    main = holders.sort(["held_h", "owner", "run_name"], descending=[True, False, False]).group_by("node").first()
    first = holders.group_by("node").agg(held_first_share=pl.col("held_first").sum() / pl.col("meetings").sum())
    held = main.select("node", pl.col("owner").alias("main_holder"), pl.col("run_name").alias("main_run")).join(
        first, on="node"
    )
    kept = nodes.filter(pl.col("excluded_h") > 0).join(held, on="node", how="left", maintain_order="left")
    return kept.select(_OVERLAP_COLUMNS)


_OVERLAP_COLUMNS = (
    "node",
    "excluded_h",
    "held_h",
    "overlap_ratio",
    "verdict",
    "fully_held_ratio",
    "main_holder",
    "main_run",
    "held_first_share",
)
_STRETCHES = """
    with names as (select node_key, node from intermediate.int_nodes_keyed where list_contains($nodes, node)),
    spans as (
        select node_key, 'left_out' as use, started_at, until_at from intermediate.int_node_exclusions_found
        union all
        select node_key, 'held', started_at, until_at from intermediate.int_node_exclusions_held
    ),
    clipped as (
        select node, use, greatest(started_at, $start) as from_at, least(until_at, $end) as to_at
        from spans join names using (node_key)
        where started_at < $end and until_at > $start
    ),
    reached as (
        select *, max(epoch_us(to_at)) over (
            partition by node, use order by from_at, to_at rows between unbounded preceding and 1 preceding
        ) as reached_us
        from clipped
    ),
    numbered as (
        select *, count(*) filter (epoch_us(from_at) - reached_us > $joined_us) over (
            partition by node, use order by from_at, to_at rows between unbounded preceding and current row
        ) as stretch
        from reached
    )
    select node, use, min(from_at) as from_at, max(to_at) as to_at
    from numbered group by node, use, stretch order by node, use desc, from_at
"""
_OBSERVED_TO = "least($end, coalesce((select max(observed_until) from marts.sessions), $end))"
_COVERAGE = f"""
    with gangs as (from marts.sessions_within($start, {_OBSERVED_TO}) where is_gang),
    ordered as (
        select shown_from, shown_to,
            max(shown_to) over (order by shown_from, shown_to rows between unbounded preceding and 1 preceding) as reach
        from gangs
    )
    select count(*) as gangs,
        sum(greatest(0, hours_between(greatest(shown_from, coalesce(reach, shown_from)), shown_to))) as covered_h,
        hours_between($start, {_OBSERVED_TO}) as observed_h,
        (select max(duration_h) from gangs where starts_within) as longest_h,
        (select count(*) from gangs where starts_within) as starting,
        exists(from marts.sessions where has_started) as has_sessions
    from ordered
"""  # noqa: S608


def _gang_count(con: duckdb.DuckDBPyConnection, window: Window) -> Estimate:
    sql = "select count(*) as gangs from marts.sessions where is_gang and started_at >= $start and started_at < $end"
    count = int(query(con, sql, start=window.start, end=window.end).item())
    return Estimate(float(count), "sessions", count, method="count")


def _total(nodes: pl.DataFrame) -> Estimate:
    count = int(nodes["excluded_sessions"].sum())
    return Estimate(float(count), "exclusions", int(nodes["gang_sessions"].sum()), method="sum over candidate nodes")


def concentration(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """The shares of the top three nodes, Gini and Herfindahl index alone, without the test against chance."""
    nodes = by_node(con, window)
    return _concentration(nodes, reason_for_none(nodes))


def _concentration(nodes: pl.DataFrame, reason: str) -> dict[str, Estimate]:
    hours, sessions = nodes["excluded_h"].to_numpy(), nodes["excluded_sessions"].to_numpy()
    if reason:
        units = dict.fromkeys(("top3_share_sessions", "top3_share_hours"), "ratio")
        units |= dict.fromkeys(("gini_hours", "hhi_hours"), "index")
        return {f"exclusions.{name}": Estimate.missing(unit, reason, n=nodes.height) for name, unit in units.items()}
    return {
        "exclusions.top3_share_sessions": top_share(sessions, TOP),
        "exclusions.top3_share_hours": top_share(hours, TOP),
        "exclusions.gini_hours": gini(hours),
        "exclusions.hhi_hours": hhi(hours),
    }


def _against_chance(null: BlockNull | None, reason: str) -> dict[str, Estimate]:
    if null is None:
        missing = {"null_top3_share_hours": "ratio", "p_value": "p", "blocks": "blocks"}
        return {f"exclusions.{name}": Estimate.missing(unit, reason, n=0) for name, unit in missing.items()}
    return {
        "exclusions.null_top3_share_hours": null.expected,
        "exclusions.p_value": null.p,
        "exclusions.blocks": Estimate(
            float(null.blocks), "blocks", null.blocks, method=null.sampling_note() or "count"
        ),
    }


def _rarely(nodes: pl.DataFrame, reason: str) -> Estimate:
    ratios = nodes["excluded_ratio"].drop_nulls()
    if reason:
        return Estimate.missing("ratio", reason, n=len(ratios))
    rare = int((ratios < RARE_RATIO).sum())
    return proportion(rare, len(ratios))


def gang_time(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """`exclusions.gang_time_share` and `longest_gang_session_h`: when gang sessions ran, whatever they left out."""
    row = query(con, _COVERAGE, start=window.start, end=window.end).row(0, named=True)
    return {
        "exclusions.gang_time_share": _time_share(row),
        "exclusions.longest_gang_session_h": _longest(row),
    }


def _time_share(row: Mapping[str, Any]) -> Estimate:
    method = "union of gang sessions over the observed window"
    if not row["has_sessions"] or not row["observed_h"] > 0:
        reason = "the sources end before the window begins" if row["has_sessions"] else NO_SESSIONS
        return Estimate.missing("ratio", reason, n=row["gangs"], method=method)
    return Estimate((row["covered_h"] or 0.0) / row["observed_h"], "ratio", row["gangs"], method=method)


def _longest(row: Mapping[str, Any]) -> Estimate:
    if row["longest_h"] is None:
        return Estimate.missing("h", NO_GANG, n=0)
    method = "largest; open ones count as far as the export"
    return Estimate(row["longest_h"], "h", row["starting"], method=method)
