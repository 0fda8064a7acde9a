"""Gang sessions one by one: what each left out at its start, what chance would leave out, and how alike they are."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import duckdb
import polars as pl

from gangline.estimates import Estimate
from gangline.estimates.chance import Block, BlockNull, block_null, session_blocks
from gangline.estimates.concentration import top_share
from gangline.estimates.quantiles import median
from gangline.warehouse.querying import query
from gangline.windows import Window

TOP = 3
EXCLUSION_STATES = ("occupied", "idle", "asked_out")
NO_GANG = "no gang session starts in the window"
COMPOSITION = """
select session_id, started_at, jaccard from marts.gang_composition($start, $end)
order by started_at, session_id
"""


@dataclass(frozen=True)
class GangSession:
    """A gang session of the window with what it left out at its start, and what it could have left out."""

    session_id: str
    started_at: datetime
    window_h: float
    excluded: frozenset[str]
    candidates: frozenset[str]


def gang_sessions(con: duckdb.DuckDBPyConnection, window: Window) -> list[GangSession]:
    """Gang sessions that start in the window, by start, each with its excluded set and its candidates."""
    candidates = _Candidates(con)
    left_out = states(con, window).filter(pl.col("state").is_in(EXCLUSION_STATES))
    excluded = {name: frozenset(nodes) for name, nodes in left_out.group_by("session_id").agg("node").iter_rows()}
    return [
        GangSession(
            row["session_id"],
            row["started_at"],
            row["window_h"],
            excluded.get(row["session_id"], frozenset()),
            candidates.at(row["partition"], row["gpu_model"], row["started_at"]),
        )
        for row in query(con, _GANGS, start=window.start, end=window.end).iter_rows(named=True)
    ]


def states(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """What left-out nodes were doing at gang starts: session_id, started_at, node, state."""
    return query(con, "from marts.gang_exclusions($start, $end)", start=window.start, end=window.end)


def chance(con: duckdb.DuckDBPyConnection, sessions: Sequence[GangSession]) -> BlockNull:
    """The permutation null of the top three's share of hours, by blocks of gang sessions with one excluded set.

    Its observed value counts each session's whole time for the set that it left out at its start, as its draws do.
    """
    settings = query(con, "select exclusions_draws, exclusions_seed, exclusions_max_blocks from meta.settings")
    draws, seed, most = settings.row(0)
    return _null(blocks(sessions), draws, seed, most)


@lru_cache(maxsize=4)
def _null(drawn: tuple[Block, ...], draws: int, seed: int, most: int) -> BlockNull:
    return block_null(drawn, draws=draws, seed=seed, max_blocks=most, top=TOP)


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
            hours[node] += session.window_h
    return top_share(list(hours.values()), TOP)


def composition(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """How alike each gang session of the window and the one before it are: session_id, started_at, jaccard."""
    return query(con, COMPOSITION, start=window.start, end=window.end)


def likeness(similar: pl.DataFrame) -> Estimate:
    """The middle of `composition`: 1 where gangs always take the same nodes."""
    known = similar["jaccard"].drop_nulls()
    if known.is_empty():
        return Estimate.missing("index", "fewer than two gang sessions with known nodes start in the window", n=0)
    return median(known.to_numpy(), "index")


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
        self._none = rows.clear()

    def at(self, partition: str | None, gpu_model: str | None, instant: datetime) -> frozenset[str]:
        era = bisect_right(self._edges, instant)
        key = (partition, gpu_model, era)
        if key not in self._known:
            pool = self._pools.get((partition, gpu_model), self._none)
            in_service = (pl.col("from_at").is_null() | (pl.col("from_at") <= instant)) & (
                pl.col("to_at").is_null() | (pl.col("to_at") > instant)
            )
            self._known[key] = frozenset(pool.filter(in_service)["node"].to_list())
        return self._known[key]


_GANGS = """
    select session_id, partition, gpu_model, started_at, window_h
    from marts.sessions_within($start, $end)
    where is_gang and starts_within
    order by started_at, session_id
"""
