"""Small clusters for tests of retries, downtimes and runs: launches on two nodes, in minutes of one day."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import duckdb
import polars as pl

from gangline.build import build
from gangline.windows import Window
from tests.sql.given import warehouse_of

DAY = datetime(2026, 3, 1, tzinfo=UTC)
HEAD = "session_id, job_name, owner, nodes, created_at, started_at, ended_at, state_key"
LATEST = "2026-03-10T00:00:00Z"
EXPORT = 9 * 24 * 60
"""The minute of `LATEST`."""
MARTS = ("sessions", "nodes", "node_states", "retry_chains", "downtimes", "launches_within", "retry_chains_within")


def at(minute: float) -> str:
    """An instant of the story."""
    return (DAY + timedelta(minutes=minute)).isoformat()


def launch(name: str, owner: str, start: float, length: float | None, state: str = "failed", wait: float = 0) -> str:
    """A line of an export: a session on two nodes, `length` minutes long, open where it is None."""
    end = "" if length is None else at(start + length)
    return f'{name}, train, {owner}, "n[1-2]", {at(start - wait)}, {at(start)}, {end}, {state}'


@contextmanager
def cluster_of(lines: Sequence[str], **sections: object) -> Iterator[duckdb.DuckDBPyConnection]:
    """A built warehouse of these sessions; `sections` go into the config."""
    given = {
        "config": {"cluster": {"gang_min_nodes": 2, "gpus_per_node": 8}} | sections,
        "files": [{"id": "export", "kind": "sessions_csv", "latest_at": LATEST if lines else None}],
        "sessions": "\n".join([HEAD, *lines]) if lines else "",
    }
    with warehouse_of(given) as con:
        build(con, only=[*MARTS, "retry_chains_by_delay", "launches_by_delay", "downtimes_within"])
        yield con


def days(first: int, after: int) -> Window:
    """A window of whole days of March."""
    return Window.between(f"2026-03-{first:02d}", f"2026-03-{after:02d}", "UTC")


def chains_of(recovered: int, failed: int, retries: int) -> pl.DataFrame:
    """As many chains; the retries of all, one of each recovered chain in it having trained."""
    count = recovered + failed
    sizes = [retries // count + (place < retries % count) for place in range(count)]
    reached = [place < recovered for place in range(count)]
    return pl.DataFrame(
        {"chain_id": [f"chain:{place}" for place in range(count)], "retries": sizes, "recovered": reached}
    ).with_columns(retries_reached=pl.col("recovered").cast(pl.Int64), retries_unknown=0, is_censored=False)


def by_hand(reached: int, n: int) -> pl.DataFrame:
    """As many launches by hand, each a sequence of its own."""
    return pl.DataFrame(
        {
            "chain_id": pl.Series([None] * n, dtype=pl.String),
            "attempt": pl.Series([None] * n, dtype=pl.Int64),
            "is_chain_within": pl.Series([None] * n, dtype=pl.Boolean),
            "manual_sequence_id": pl.Series([f"manual:{place}" for place in range(n)], dtype=pl.String),
            "manual_attempt": pl.Series([1] * n, dtype=pl.Int64),
            "is_manual_sequence_within": pl.Series([True] * n, dtype=pl.Boolean),
            "reached_training": pl.Series([place < reached for place in range(n)], dtype=pl.Boolean),
        }
    )
