"""Node exclusion concentration and single-node overlap of a window: how uneven, against chance, and by whom."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import duckdb
import polars as pl

from gangline.estimates import Estimate
from gangline.estimates.chance import Block, BlockNull, block_null, session_blocks
from gangline.estimates.composition import consecutive_jaccard
from gangline.estimates.concentration import gini, hhi, top_share
from gangline.estimates.proportions import proportion
from gangline.warehouse.querying import query
from gangline.windows import Window

TOP = 3
RARE_RATIO = 0.05
EXCLUSION_STATES = ("occupied", "idle", "asked_out")
NO_GANG = "no gang session starts in the window"
NO_SPARE = "no spare nodes: every gang session takes every candidate node that is free"


@dataclass(frozen=True)
class GangSession:
    """A gang session of the window with what it left out at its start, and what it could have left out."""

    session_id: str
    started_at: datetime
    window_h: float
    members: frozenset[str]
    excluded: frozenset[str]
    candidates: frozenset[str]


def figures(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """The `exclusions.*` headlines and `overlap.fleet_ratio` of a window.

    Concentration is over all candidate nodes in service, zeros included. Where no gang session starts, or every one
    takes all that is free, the figures of concentration are null with that reason.
    """
    nodes = by_node(con, window)
    reason = _reason(nodes)
    null = None if reason else chance(con, window)
    return {
        "exclusions.gang_sessions": _gang_sessions(con, window),
        "exclusions.excluded_total": _total(nodes),
        **_concentration(nodes, reason),
        **_against_chance(null, reason),
        "exclusions.nodes_below_5pct_share": _rarely(nodes, reason),
        **_coverage(con, window),
        "overlap.fleet_ratio": overlap(nodes),
    }


def by_node(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Rows of `marts.node_exclusions(window)` for the nodes that some gang session of the window could have taken."""
    rows = query(con, "from marts.node_exclusions($start, $end)", start=window.start, end=window.end)
    return rows.filter((pl.col("gang_sessions") > 0) | (pl.col("excluded_h") > 0)).sort(
        ["excluded_h", "excluded_sessions", "node"], descending=[True, True, False]
    )


def states(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """What left-out nodes were doing at gang starts: session_id, started_at, node, state."""
    return query(con, "from marts.gang_exclusions($start, $end)", start=window.start, end=window.end)


def holders(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Who held excluded nodes with single-node sessions: node, owner, run_name, sessions, held_h, first_share.

    `held_first_share` is the share of those sessions that were running when the exclusion they overlap began.
    """
    return query(con, "from marts.exclusion_holders($start, $end)", start=window.start, end=window.end)


def overlap(nodes: pl.DataFrame) -> Estimate:
    """Excluded node-hours in which a single-node session held the node, over all excluded node-hours."""
    excluded, held = float(nodes["excluded_h"].sum()), float(nodes["held_h"].sum())
    count = nodes.filter(pl.col("excluded_h") > 0).height
    if excluded == 0:
        return Estimate.missing("ratio", "no node was left out in the window", n=0)
    return Estimate(held / excluded, "ratio", count, method="ratio of sums over nodes that were left out")


def gang_sessions(con: duckdb.DuckDBPyConnection, window: Window) -> list[GangSession]:
    """Gang sessions that start in the window, by start, each with its excluded set and its candidates."""
    candidates = _Candidates(con)
    excluded = {
        session_id: frozenset(names)
        for session_id, names in states(con, window)
        .filter(pl.col("state").is_in(EXCLUSION_STATES))
        .group_by("session_id")
        .agg("node")
        .iter_rows()
    }
    return [
        GangSession(
            row["session_id"],
            row["started_at"],
            row["window_h"],
            frozenset(row["members"]),
            excluded.get(row["session_id"], frozenset()),
            candidates.at(row["partition"], row["gpu_model"], row["started_at"]),
        )
        for row in query(con, _GANGS, start=window.start, end=window.end).iter_rows(named=True)
    ]


def chance(con: duckdb.DuckDBPyConnection, window: Window) -> BlockNull:
    """The permutation null of the top three's share of hours, by blocks of gang sessions with one excluded set."""
    settings = query(con, "select exclusions_draws, exclusions_seed, exclusions_max_blocks from meta.settings")
    draws, seed, most = settings.row(0)
    return block_null(blocks(gang_sessions(con, window)), draws=draws, seed=seed, max_blocks=most, top=TOP)


def blocks(sessions: Sequence[GangSession]) -> tuple[Block, ...]:
    """Runs of consecutive gang sessions that leave out the same nodes."""
    return session_blocks([Block(session.excluded, session.candidates, session.window_h) for session in sessions])


def without_longest(sessions: Sequence[GangSession]) -> Estimate:
    """The top three's share of excluded hours with the longest gang session left out."""
    if not sessions:
        return Estimate.missing("ratio", NO_GANG, n=0)
    longest = max(sessions, key=lambda session: (session.window_h, session.session_id))
    hours: dict[str, float] = {}
    for session in sessions:
        for node in session.candidates:
            hours.setdefault(node, 0.0)
        for node in session.excluded if session is not longest else ():
            hours[node] = hours.get(node, 0.0) + session.window_h
    return top_share(list(hours.values()), TOP)


def composition(sessions: Sequence[GangSession]) -> pl.DataFrame:
    """Jaccard similarity of each gang session's nodes with those of the one before: session_id, started_at, jaccard."""
    similar = consecutive_jaccard([session.members for session in sessions])
    return pl.DataFrame(
        {
            "session_id": [session.session_id for session in sessions[1:]],
            "started_at": [session.started_at for session in sessions[1:]],
            "jaccard": list(similar),
        },
        schema={"session_id": pl.String, "started_at": pl.Datetime("us", "UTC"), "jaccard": pl.Float64},
    )


class _Candidates:
    """The nodes that a gang session could take, by partition, GPU model and instant; sets are shared."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        rows = query(con, "from marts.gang_candidates")
        self._pools = {
            (partition, model): pool
            for (partition, model), pool in rows.partition_by("partition", "gpu_model", as_dict=True).items()
        }
        edges = pl.concat([rows["from_at"], rows["to_at"]]).drop_nulls().unique().sort()
        self._edges: list[datetime] = edges.to_list()
        self._known: dict[tuple[str | None, str | None, int], frozenset[str]] = {}

    def at(self, partition: str | None, gpu_model: str | None, instant: datetime) -> frozenset[str]:
        era = bisect_right(self._edges, instant)
        key = (partition, gpu_model, era)
        if key not in self._known:
            pool = self._pools[(partition, gpu_model)]
            in_service = (pl.col("from_at").is_null() | (pl.col("from_at") <= instant)) & (
                pl.col("to_at").is_null() | (pl.col("to_at") > instant)
            )
            self._known[key] = frozenset(pool.filter(in_service)["node"].to_list())
        return self._known[key]


_GANGS = """
    select sessions.session_id, sessions.partition, sessions.gpu_model, sessions.started_at, sessions.window_h,
        coalesce(list(members.node) filter (members.node is not null), []) as members
    from marts.sessions_within($start, $end) as sessions
    left join marts.session_nodes as members
        on members.session_id = sessions.session_id and members.started_at <= sessions.started_at
    where sessions.is_gang and sessions.starts_within
    group by all
    order by sessions.started_at, sessions.session_id
"""


def _reason(nodes: pl.DataFrame) -> str:
    if nodes["gang_sessions"].sum() == 0:
        return NO_GANG
    return NO_SPARE if nodes["excluded_sessions"].sum() == 0 and nodes["excluded_h"].sum() == 0 else ""


def _gang_sessions(con: duckdb.DuckDBPyConnection, window: Window) -> Estimate:
    sql = "select count(*) as gangs from marts.sessions where is_gang and started_at >= $start and started_at < $end"
    count = int(query(con, sql, start=window.start, end=window.end).item())
    return Estimate(float(count), "sessions", count, method="count")


def _total(nodes: pl.DataFrame) -> Estimate:
    count = int(nodes["excluded_sessions"].sum())
    return Estimate(float(count), "exclusions", int(nodes["gang_sessions"].sum()), method="sum over candidate nodes")


def _concentration(nodes: pl.DataFrame, reason: str) -> dict[str, Estimate]:
    hours, sessions = nodes["excluded_h"].to_numpy(), nodes["excluded_sessions"].to_numpy()
    measured = {
        "exclusions.top3_share_sessions": lambda: top_share(sessions, TOP),
        "exclusions.top3_share_hours": lambda: top_share(hours, TOP),
        "exclusions.gini_hours": lambda: gini(hours),
        "exclusions.hhi_hours": lambda: hhi(hours),
    }
    units = {"exclusions.gini_hours": "index", "exclusions.hhi_hours": "index"}
    return {
        name: Estimate.missing(units.get(name, "ratio"), reason, n=nodes.height) if reason else measure()
        for name, measure in measured.items()
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


def _coverage(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    (row,) = query(con, _COVERAGE, start=window.start, end=window.end).iter_rows(named=True)
    (need,) = query(con, "from intermediate.int_gang_sizes_ruled").iter_rows(named=True)
    count, observed = row["gangs"] or 0, row["observed_h"] or 0.0
    share = (
        Estimate(row["covered_h"] / observed, "ratio", count, method="union of gang sessions over the observed window")
        if observed > 0
        else Estimate.missing("ratio", "the sources end before the window begins", n=count)
    )
    longest = (
        Estimate(row["longest_h"], "h", row["starting"], method="largest; open ones count as far as the export")
        if row["starting"]
        else Estimate.missing("h", NO_GANG, n=0)
    )
    return {
        "exclusions.gang_time_share": share,
        "exclusions.longest_gang_session_h": longest,
        "exclusions.below_need_h": below_need(con, window, need["usual_node_count"]),
    }


def below_need(con: duckdb.DuckDBPyConnection, window: Window, need: int | None) -> Estimate:
    """Hours of the observed window with fewer usable nodes than the usual gang takes."""
    if need is None:
        return Estimate.missing("h", "no session of at least two nodes shows what a gang needs", n=0)
    if not query(con, "select count(*) as rows from marts.node_states").item():
        return Estimate.missing("h", "no source tells node states (slurm_events, or [[nodes]] in the config)", n=0)
    hours = query(con, _BELOW_NEED, start=window.start, end=window.end, need=need).item()
    return Estimate(float(hours or 0.0), "h", need, method=f"usable nodes below {need}, the usual gang's size")


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
        (select count(*) from gangs where starts_within) as starting
    from ordered
"""  # noqa: S608
_BELOW_NEED = f"""
    select sum(hours_between(from_at, to_at)) filter (usable_nodes < $need) as below_h
    from marts.capacity($start, {_OBSERVED_TO})
"""  # noqa: S608
