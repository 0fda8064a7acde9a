"""No GPU counts twice at one instant: two efforts of gangs side by side, nodes down meanwhile, held by a plain loop."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gangline.config import load
from gangline.ingest import ingest
from gangline.warehouse import connect
from gangline.warehouse.querying import query
from gangline.weekly.lost_hours import lost_hours
from gangline.windows import Window
from tests.configs import cluster_head, source_entry

START, STEP, DAYS = datetime(2026, 3, 2, tzinfo=UTC), timedelta(minutes=10), 4
TOML = (
    cluster_head("pair", "n[1-8]", gpus_per_node=8, gang_min_nodes=3)
    + source_entry("sessions_csv", "sessions.csv", "2026-03-06T00:00:00Z")
    + source_entry("slurm_events", "events.txt", "2026-03-06T00:00:00Z")
)


def _at(place: int) -> str:
    return f"{START + place * STEP:%Y-%m-%dT%H:%M:%S}"


def _sessions(dice: random.Random) -> Iterator[str]:
    """Two efforts that share a node and often fail, and sessions of one node."""
    yield "session_id,job_name,owner,nodes,gpu_count,created_at,started_at,ended_at,end_reason"
    for effort, usual in (("a", [1, 2, 3, 4]), ("b", [4, 5, 6, 7])):
        begin = 0
        while begin < 500:
            nodes = usual if dice.random() < 0.5 else sorted(dice.sample(range(1, 9), 4))
            end = begin + dice.choice([1, 3, 9, 40, 90])
            names = ",".join(f"n{node}" for node in nodes)
            reason = dice.choice(["failed", "failed", "completed"])
            yield f'{effort}{begin},{effort},{effort},"{names}",32,{_at(begin)},{_at(begin)},{_at(end)},{reason}'
            begin = end + dice.choice([0, 1, 4, 30])
    for number in range(8):
        begin = dice.randrange(500)
        yield f"p{number},p,c,n{dice.randrange(1, 9)},8,{_at(begin)},{_at(begin)},{_at(begin + 30)},completed"


def _events(dice: random.Random) -> Iterator[str]:
    yield "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User"
    for node in range(1, 7):
        begin = dice.randrange(450)
        yield f"pair|n{node}|{_at(begin)}|{_at(begin + dice.randrange(20, 100))}|DOWN|bad|root(0)"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    folder: Path = tmp_path_factory.mktemp("pair")
    dice = random.Random(3)
    (folder / "cluster.toml").write_text(TOML)
    (folder / "sessions.csv").write_text("\n".join(_sessions(dice)) + "\n")
    (folder / "events.txt").write_text("\n".join(_events(dice)) + "\n")
    config = load(folder / "cluster.toml")
    ingest(config)
    with connect(config) as opened:
        yield opened


def _rows(con: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
    return query(con, sql).rows()


def _looped(con: duckdb.DuckDBPyConnection) -> dict[str, float]:
    """GPU-hours by walking through the days in steps of ten minutes, node by node."""
    sessions = _rows(con, "select session_id, lineage_id, is_gang, started_at, until_at from marts.sessions")
    nodes: dict[str, set[str]] = {}
    for session, node in _rows(con, "select session_id, node from marts.session_nodes"):
        nodes.setdefault(session, set()).add(node)
    states = _rows(con, "select node, started_at, ended_at from marts.node_states where state_kind = 'down'")
    downtimes = _rows(con, "select failed_session_id, started_at, session_restored_at, observed_until"
                      " from marts.downtimes")  # fmt: skip
    hours = {"down": 0.0, "unusable": 0.0}
    for place in range(DAYS * 144):
        at = START + (place + 0.5) * STEP
        running = [row for row in sessions if row[3] <= at < row[4]]
        used = set().union(*(nodes[row[0]] for row in running))
        unusable = {node for node, begin, end in states if begin <= at < end} - used
        failed = [row[0] for row in downtimes if row[1] <= at < (row[2] or row[3])]
        waiting = set().union(*(nodes[name] for name in failed)) if not any(row[2] for row in running) else set()
        named = {node for node, begin, end in states if begin <= at < end}
        hours["unusable"] += 8 * len(unusable) / 6
        hours["down"] += 8 * len(waiting - used - named) / 6
    return hours


def test_down_and_unusable_are_those_of_a_plain_loop(pair: duckdb.DuckDBPyConnection) -> None:
    window = Window.between("2026-03-02", "2026-03-06", "UTC")
    told = {row["cause"]: row["lost_gpu_h"] for row in lost_hours(pair, window).rows.iter_rows(named=True)}
    looped = _looped(pair)
    assert min(looped.values()) > 20
    assert {cause: told[cause] for cause in looped} == pytest.approx(looped)
    assert sum(value or 0 for value in told.values()) <= 64 * 24 * DAYS
