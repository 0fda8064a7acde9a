"""Nodes that fail more often than chance gives: signs per node against a Poisson null, all looks paid for.

The signs are those that Kokolis et al. 2025 (arXiv 2410.21680) look for lemon nodes by, as far as files tell them.
"""

from dataclasses import dataclass

import duckdb
import numpy as np
import polars as pl
from scipy import stats
from statsmodels.stats.multitest import multipletests

from gangline import failure_rates, incidents
from gangline.warehouse.querying import query
from gangline.windows import Window

STANDS_OUT_P = 0.05
SIGNS = {
    "incidents": "incidents",
    "filed_incidents": "of files",
    "single_node_failures": "alone failed",
}
"""What is tested, as the table heads it. XIDs come in bunches, exclusions are someone's choice, and a failed session of
several nodes counts on each of them, attempts in a row on the same ones: these are shown and not tested."""


@dataclass(frozen=True)
class Lemons:
    """Signs of every node in service, and how likely chance alone gives as many.

    Attributes
    ----------
    nodes
        A row a node: node, incidents, xid_events, filed_incidents, single_node_failures, multi_node_failures,
        excluded_sessions, asked_out_sessions, p_adjusted (its least), sign (that of its least p); the least likely
        first. A sign that no source tells is null.
    tests
        A row a node and sign: node, sign, count, expected, p, p_adjusted.
    """

    nodes: pl.DataFrame
    tests: pl.DataFrame

    @property
    def outstanding(self) -> pl.DataFrame:
        """Tests with an adjusted p below 0.05, least first."""
        return self.tests.filter(pl.col("p_adjusted") < STANDS_OUT_P).sort("p_adjusted", "node", "sign")

    @property
    def tested(self) -> int:
        """How many nodes and signs were looked at: what the correction is for."""
        return self.tests.height

    @property
    def names(self) -> list[str]:
        """Nodes that stand out, the least likely first."""
        return self.outstanding["node"].unique(maintain_order=True).to_list()

    @property
    def case(self) -> str:
        """Which sentence fits: `untested` (no sign has an event, or one node is seen), `none` stands out, `found`."""
        return "untested" if not self.tested else "found" if self.names else "none"


def lemons(con: duckdb.DuckDBPyConnection, window: Window) -> Lemons:
    """Count the signs of each node in service and test them.

    Incidents come at one rate under the null (Poisson): given the total, a node's count is binomial, its share that of
    its watched hours (of files: its hours in service). Failures of single-node sessions fall on any of those that ended
    alike: a node's count is hypergeometric. One-sided p; Benjamini-Hochberg over all nodes and signs.

    References
    ----------
    Benjamini and Hochberg 1995, Journal of the Royal Statistical Society B 57:289.
    """
    counts = _counts(con, window)
    tests = pl.concat([_tested(counts, sign) for sign in SIGNS])
    adjusted = _adjusted(tests)
    least = adjusted.sort("p_adjusted", "p", "sign").unique("node", keep="first", maintain_order=True)
    ranked = counts.join(least.select("node", "p_adjusted", "p", "sign"), on="node", how="left")
    order = ranked.sort("p_adjusted", "p", "node", nulls_last=True)
    return Lemons(order.select(*_COLUMNS, "p_adjusted", pl.col("sign").replace(SIGNS)), adjusted)


def spread(found: Lemons, sign: str = "incidents") -> pl.DataFrame:
    """Nodes by their count of a sign, beside how many chance gives on average: count, nodes, expected_nodes."""
    tested = found.tests.filter(pl.col("sign") == sign)
    if tested.is_empty():
        return pl.DataFrame(schema={"count": pl.Int64, "nodes": pl.Int64, "expected_nodes": pl.Float64})
    counts = np.arange(int(tested["count"].max()) + 2)  # type: ignore[arg-type]
    total = int(tested["count"].sum())
    chances = stats.binom.pmf(counts[:, None], total, tested["expected"].to_numpy()[None, :] / total).sum(axis=1)
    seen = np.bincount(tested["count"].to_numpy(), minlength=counts.size)
    return pl.DataFrame({"count": counts, "nodes": seen, "expected_nodes": chances})


def binomial_p(count: int, total: int, share: float) -> float:
    """One-sided p of a node's count given the total: a Poisson count against those of all others.

    >>> round(binomial_p(3, 10, 0.1), 4)
    0.0702
    """
    return float(stats.binom.sf(count - 1, total, min(share, 1.0)))


def hypergeometric_p(count: int, sessions: int, total: int, all_sessions: int) -> float:
    """One-sided p that so many of a node's sessions failed, if failures fell on any of all sessions alike (Fisher).

    >>> round(hypergeometric_p(3, 4, 5, 20), 4)
    0.032
    """
    return float(stats.hypergeom.sf(count - 1, all_sessions, total, sessions))


_COLUMNS = (
    "node",
    "incidents",
    "xid_events",
    "filed_incidents",
    "single_node_failures",
    "multi_node_failures",
    "excluded_sessions",
    "asked_out_sessions",
)
_TESTS = {
    "node": pl.String,
    "sign": pl.String,
    "count": pl.Int64,
    "expected": pl.Float64,
    "p": pl.Float64,
}


def _counts(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Signs and their exposure (`<sign>_of`: hours or sessions), null where no source tells of the sign."""
    span = {"start": window.start, "end": window.end}
    watched = failure_rates.watch(con, window).select("node", "incidents", "xid_events", incidents_of="watched_h")
    filed = incidents.hours_by_node(con, window).select("node", filed_incidents="incidents")
    for more in (filed, query(con, _SESSIONS, **span), query(con, _SERVICE, **span)):
        watched = watched.join(more, on="node", how="left")
    untold = ["incidents", "xid_events"] * (not failure_rates.has_source(con))
    untold += ["filed_incidents"] * (not incidents.has_source(con))
    return watched.with_columns(pl.lit(None, pl.Int64).alias(name) for name in untold)


def _tested(counts: pl.DataFrame, sign: str) -> pl.DataFrame:
    """The tests of one sign; none where it has no event, or only one node is seen."""
    seen = counts.filter(pl.col(sign).is_not_null() & (pl.col(f"{sign}_of") > 0))
    if not seen[sign].sum() or seen.height < 2:
        return pl.DataFrame(schema=_TESTS)
    told = seen.select("node", sign, f"{sign}_of")
    rows = _session_tests(sign, told) if sign == "single_node_failures" else _time_tests(sign, told)
    return pl.DataFrame(rows, schema=_TESTS, orient="row")


def _time_tests(sign: str, told: pl.DataFrame) -> list[tuple[object, ...]]:
    total, whole = int(told[sign].sum()), float(told[f"{sign}_of"].sum())
    return [
        (node, sign, count, total * own / whole, binomial_p(count, total, own / whole))
        for node, count, own in told.rows()
    ]


def _session_tests(sign: str, told: pl.DataFrame) -> list[tuple[object, ...]]:
    total, whole = int(told[sign].sum()), int(told[f"{sign}_of"].sum())
    return [
        (node, sign, count, total * own / whole, hypergeometric_p(count, own, total, whole))
        for node, count, own in told.rows()
    ]


def _adjusted(tests: pl.DataFrame) -> pl.DataFrame:
    """Benjamini-Hochberg over all rows."""
    p = multipletests(tests["p"].to_numpy(), method="fdr_bh")[1] if tests.height else []
    return tests.with_columns(pl.Series("p_adjusted", p, pl.Float64))


_SESSIONS = """
with sessions as (
    select session_id, node_count = 1 as is_single, coalesce(is_failure, false) as is_failed
    from marts.sessions where has_started and node_count > 0 and ended_at >= $start and ended_at < $end
),
members as (select distinct session_id, node from marts.session_nodes),
counted as (
    select members.node,
        count(*) filter (where is_single) as single_of,
        count(*) filter (where is_single and is_failed) as single,
        count(*) filter (where not is_single and is_failed) as multi
    from sessions join members using (session_id) group by members.node
)
select nodes.node, coalesce(counted.single, 0) as single_node_failures,
    coalesce(counted.single_of, 0) as single_node_failures_of, coalesce(counted.multi, 0) as multi_node_failures
from marts.nodes as nodes left join counted using (node)
"""
_SERVICE = """
    select nodes.node,
        greatest(0, hours_between(
            greatest(coalesce(in_service_from, $start), $start), least(coalesce(in_service_to, $end), $end)
        )) as filed_incidents_of,
        left_out.excluded_sessions, left_out.asked_out_sessions
    from marts.nodes as nodes
    left join marts.node_exclusions($start::timestamptz, $end::timestamptz) as left_out using (node)
"""
