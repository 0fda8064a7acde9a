"""Retry chains of a window against launches by hand: how many, how often they recover, how fast, at what cost."""

from collections.abc import Mapping

import duckdb
import polars as pl

from gangline.capacity import NO_STATES
from gangline.estimates import Estimate
from gangline.estimates.proportions import fisher_p, proportion, ratio_of_proportions
from gangline.exclusions import NO_SESSIONS
from gangline.retry_gaps import gap_figures, longest_min
from gangline.vocabulary import StartKind
from gangline.warehouse.querying import query
from gangline.windows import Window

CARDS = (
    "retries.chain_success",
    "retries.manual_success",
    "retries.success_ratio",
    "retries.auto_gap_median_min",
    "retries.failed_chain_h",
)
NO_LAUNCH = "no session large enough to be a retry starts in the window"
NO_CHAIN = "no retry chain starts in the window"
NO_FAILED_CHAIN = "no chain of the window failed to recover"
NO_HAND = "no session that is in no chain starts in the window"
NO_GPUS = "the sources do not tell the GPUs of these attempts"


def figures(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """The `retries.*` headlines of a window.

    A chain belongs to the window that holds its first attempt's start, a launch by hand and a gap to the window that
    holds the session's start; all as known at the window's end. Where the export holds no session, or none large
    enough to be a retry, figures are null with that reason.
    """
    chains, launches = by_chain(con, window), by_launch(con, window)
    if not query(con, "select exists(from marts.sessions where started_at is not null) as found").item():
        return {name: Estimate.missing(unit, NO_SESSIONS, n=0) for name, unit in _UNITS.items()}
    return {
        **_counts(chains),
        **_success(chains, launches),
        "retries.retry_success": retry_success(chains),
        **gap_figures(launches, longest_min(con)),
        **_cost(chains, training_h(con, window)),
    }


def case(figures: Mapping[str, Estimate]) -> str:
    """Which sentence fits.

    `no_source` (no session in the export), `no_launch` (none large enough in the window), `no_chain`,
    `undecided` (chains or launches by hand whose outcomes do not make a ratio), else `found`.
    """
    if figures["retries.chains"].value is None:
        return "no_source"
    if not figures["retries.chains"].value:
        return "no_chain" if figures["retries.manual_sessions"].value else "no_launch"
    return "undecided" if figures["retries.success_ratio"].value is None else "found"


def by_chain(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Rows of `marts.retry_chains_within(window)`: chains whose first attempt starts in it, none cut."""
    return query(con, "from marts.retry_chains_within($start, $end)", start=window.start, end=window.end)


def by_launch(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Rows of `marts.launches_within(window)`: sessions large enough to be a retry that start in it."""
    return query(con, "from marts.launches_within($start, $end)", start=window.start, end=window.end)


def by_hand(launches: pl.DataFrame) -> pl.DataFrame:
    """Launches that are in no chain, the prequeued and the requeued ones among them."""
    return launches.filter(pl.col("chain_id").is_null())


def attempts(launches: pl.DataFrame) -> pl.DataFrame:
    """Attempts of the chains that belong to the window, chain after chain, with `outcome`."""
    return launches.filter("is_chain_within").with_columns(outcome()).sort("chain_id", "attempt")


def outcome(reached: str = "reached_training") -> pl.Expr:
    """Name what came of a launch: `trained`, `did not train`, or `not known yet` while it is open."""
    known = pl.when(reached).then(pl.lit("trained")).otherwise(pl.lit("did not train"))
    return pl.when(pl.col(reached).is_null()).then(pl.lit("not known yet")).otherwise(known).alias("outcome")


def chain_outcome() -> pl.Expr:
    """Name what came of a chain: `recovered`, `did not recover`, or `still open`."""
    known = pl.when("recovered").then(pl.lit("recovered")).otherwise(pl.lit("did not recover"))
    return pl.when("is_censored").then(pl.lit("still open")).otherwise(known).alias("outcome")


def chain_success(chains: pl.DataFrame) -> Estimate:
    """Chains in which an attempt after the first reached training, over those of which that is known."""
    known = chains["recovered"].drop_nulls()
    return _share(int(known.sum()), len(known), NO_CHAIN if chains.is_empty() else "every chain is still open")


def manual_success(launches: pl.DataFrame) -> Estimate:
    """Launches in no chain that reached training, over those of which that is known."""
    known = by_hand(launches)["reached_training"].drop_nulls()
    reason = NO_HAND if by_hand(launches).is_empty() else "every launch by hand is still open"
    return _share(int(known.sum()), len(known), NO_LAUNCH if launches.is_empty() else reason)


def retry_success(chains: pl.DataFrame) -> Estimate:
    """Retries (attempts after the first) that reached training, over those of which that is known."""
    tried = int(chains["retries"].sum()) - int(chains["retries_unknown"].sum())
    return _share(int(chains["retries_reached"].sum()), tried, NO_CHAIN)


def training_h(con: duckdb.DuckDBPyConnection, window: Window) -> float:
    """Hours, clipped to the window, of sessions large enough to be a retry that reached training."""
    return float(query(con, _TRAINING_H, start=window.start, end=window.end).item() or 0.0)


def doomed(con: duckdb.DuckDBPyConnection, chains: pl.DataFrame) -> Estimate:
    """Retries that started while fewer nodes were usable than their chain's largest attempt held, over all retries."""
    retries = int(chains["retries"].sum())
    if not query(con, "select exists(from marts.node_states) or exists(from meta.node_periods) as found").item():
        return Estimate.missing("ratio", NO_STATES, n=retries)
    return _share(int(chains["doomed_retries"].sum()), retries, NO_CHAIN)


def changes(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, float]:
    """The exact p that chain success is that of the window before, by figure id; empty where there is none."""
    before = window.previous()
    if before is None:
        return {}
    now, then = (chain_success(by_chain(con, span)) for span in (window, before))
    p = fisher_p(now.numerator or 0, now.n or 0, then.numerator or 0, then.n or 0)
    return {} if p.value is None else {"retries.chain_success": p.value}


def start_kinds(launches: pl.DataFrame) -> dict[str, int]:
    """How many launches by hand began each way: first, manual, prequeued, requeue_unknown."""
    kinds = by_hand(launches)["start_kind"].fill_null("first")
    names = ["first", StartKind.MANUAL, StartKind.PREQUEUED, StartKind.REQUEUE_UNKNOWN]
    return {str(name): int((kinds == name).sum()) for name in names}


def chain_table(chains: pl.DataFrame, launches: pl.DataFrame) -> pl.DataFrame:
    """Every chain with its outcome, its cost and the ids of its sessions, by first start."""
    sessions = attempts(launches).group_by("chain_id").agg(pl.col("session_id").alias("sessions"))
    named = chains.with_columns(chain_outcome()).join(sessions, on="chain_id", how="left", maintain_order="left")
    return named.select(_CHAIN_COLUMNS)


def attempt_table(launches: pl.DataFrame) -> pl.DataFrame:
    """Every attempt of every chain with its session, its gap and its outcome."""
    return attempts(launches).select(_ATTEMPT_COLUMNS)


_UNITS = {
    **{f"retries.{name}": name for name in ("chains", "attempts", "retries")},
    "retries.chains_recovered": "chains",
    "retries.chains_censored": "chains",
    "retries.chain_success": "ratio",
    "retries.manual_sessions": "sessions",
    "retries.manual_reached": "sessions",
    "retries.manual_success": "ratio",
    "retries.success_ratio": "times",
    "retries.fisher_p": "p",
    "retries.retry_success": "ratio",
    **{f"retries.auto_gap_{name}_min": "min" for name in ("median", "q1", "q3")},
    **{f"retries.manual_gap_{name}_min": "min" for name in ("median", "min", "max")},
    "retries.failed_chain_h": "h",
    "retries.failed_chain_gpu_h": "gpu_h",
    "retries.failed_chain_share": "ratio",
}
_CHAIN_COLUMNS = (
    "chain_id",
    "run_name",
    "owner",
    "first_started_at",
    "attempts",
    "outcome",
    "recovered_attempt",
    "attempts_h",
    "failed_h",
    "failed_gpu_h",
    "doomed_retries",
    "sessions",
)
_ATTEMPT_COLUMNS = (
    "session_id",
    "chain_id",
    "attempt",
    "started_at",
    "ended_at",
    "gap_min",
    "duration_h",
    "end_reason",
    "outcome",
    "start_rule",
    "training_evidence",
    "node_count",
    "usable_nodes",
)
_TRAINING_H = """
    select sum(hours_between(greatest(started_at, $start), until_at)) filter (reached_training and until_at > $start)
    from marts.launches_within('-infinity'::timestamptz, $end)
"""


def _counts(chains: pl.DataFrame) -> dict[str, Estimate]:
    counts = {
        "chains": (chains.height, "chains"),
        "attempts": (int(chains["attempts"].sum()), "attempts"),
        "retries": (int(chains["retries"].sum()), "retries"),
        "chains_recovered": (int(chains["recovered"].fill_null(value=False).sum()), "chains"),
        "chains_censored": (int(chains["is_censored"].sum()), "chains"),
    }
    return {f"retries.{name}": _count(count, unit, chains.height) for name, (count, unit) in counts.items()}


def _success(chains: pl.DataFrame, launches: pl.DataFrame) -> dict[str, Estimate]:
    chain, hand = chain_success(chains), manual_success(launches)
    sides = (chain.numerator or 0, chain.n or 0, hand.numerator or 0, hand.n or 0)
    count = by_hand(launches).height
    return {
        "retries.chain_success": chain,
        "retries.manual_sessions": _count(count, "sessions", count),
        "retries.manual_reached": _count(hand.numerator or 0, "sessions", count),
        "retries.manual_success": hand,
        "retries.success_ratio": ratio_of_proportions(*sides),
        "retries.fisher_p": fisher_p(*sides),
    }


def _cost(chains: pl.DataFrame, trained_h: float) -> dict[str, Estimate]:
    failed = chains.filter(~pl.col("recovered"))
    n, hours, gpu_hours = failed.height, float(failed["failed_h"].sum()), failed["failed_gpu_h"]
    method = "attempts that did not reach training, of chains that did not recover"
    if not n:
        units = {"failed_chain_h": "h", "failed_chain_gpu_h": "gpu_h", "failed_chain_share": "ratio"}
        reason = NO_FAILED_CHAIN if chains.height else NO_CHAIN
        return {f"retries.{name}": Estimate.missing(unit, reason, n=0, method=method) for name, unit in units.items()}
    return {
        "retries.failed_chain_h": Estimate(hours, "h", n, method=method),
        "retries.failed_chain_gpu_h": _gpu_hours(gpu_hours, method),
        "retries.failed_chain_share": _of_training(hours, trained_h, n),
    }


def _gpu_hours(hours: pl.Series, method: str) -> Estimate:
    known = hours.drop_nulls()
    if not len(known):
        return Estimate.missing("gpu_h", NO_GPUS, n=0, method=method)
    return Estimate(float(known.sum()), "gpu_h", len(known), method=method)


def _of_training(hours: float, trained_h: float, n: int) -> Estimate:
    method = "failed hours over hours of sessions that reached training, clipped to the window"
    if not trained_h:
        return Estimate.missing("ratio", "no session of the window reached training", n=n, method=method)
    return Estimate(hours / trained_h, "ratio", n, method=method)


def _share(hits: int, n: int, reason: str) -> Estimate:
    return proportion(hits, n) if n else Estimate.missing("ratio", reason, n=0, numerator=0)


def _count(count: int, unit: str, n: int) -> Estimate:
    return Estimate(float(count), unit, n, method="count")
