"""The reference cluster's marts against the truth that was drawn, row by row; thirty hours of its telemetry."""

from collections.abc import Iterator
from dataclasses import replace

import duckdb
import pytest

from gangline import nfs
from gangline.config import load
from gangline.ingest import ingest
from gangline.simulate.exports import write_exports
from gangline.simulate.history import draw
from gangline.simulate.plan import Plan, Span
from gangline.simulate.truth import truth_of
from gangline.warehouse import connect
from tests.simulate.reference import SEED, window_of

HOUR = 3_600_000
Rows = list[tuple[object, ...]]


def _cut(plan: Plan) -> Plan:
    """The plan with 30 hours of telemetry, around a load that the exporter tells all of."""
    load_of = next(load for load in plan.loads if load.started_ms > plan.telemetry.from_ms + 20 * 24 * HOUR)
    first_ms = plan.telemetry.from_ms + (load_of.started_ms - plan.telemetry.from_ms) // 30_000 * 30_000 - HOUR
    span = Span(first_ms, first_ms + 30 * HOUR)
    saves = [save for save in plan.saves if span.from_ms <= save.started_ms < span.to_ms - HOUR]
    loads = [load for load in plan.loads if span.from_ms <= load.started_ms < span.to_ms - HOUR]
    return replace(plan, telemetry=span, saves=tuple(saves), loads=tuple(loads))


@pytest.fixture(scope="module")
def plan() -> Plan:
    return _cut(draw(SEED))


@pytest.fixture(scope="module")
def con(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    folder = tmp_path_factory.mktemp("reference")
    write_exports(folder, plan, lambda *_: None, workers=1)
    config = load(folder / "cluster.toml")
    report = ingest(config)
    assert [outcome.shown_path for outcome in report.outcomes if not outcome.is_clean] == []
    with connect(config) as opened:
        yield opened


def _rows(con: duckdb.DuckDBPyConnection, sql: str) -> Rows:
    return con.execute(sql).fetchall()


def test_sessions(con: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    sql = """
        select session_id, epoch_ms(created_at), epoch_ms(started_at), epoch_ms(ended_at), node_count,
            is_gang, is_gang and coalesce(reached_training, false)
        from marts.sessions order by session_id
    """
    drawn = [
        (
            session.session_id,
            session.created_ms,
            session.started_ms,
            session.ended_ms,
            len(session.nodes) if session.started_ms is not None else 0,
            session.kind == "gang" and session.started_ms is not None,
            session.kind == "gang" and session.training_from_ms is not None,
        )
        for session in sorted(plan.sessions, key=lambda session: session.session_id)
    ]
    assert _rows(con, sql) == drawn


def test_chains(con: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    sql = """
        select list(session_id order by attempt), max(attempt) - 1, any_value(recovered), any_value(ended_training)
        from marts.retry_chains join marts.sessions using (chain_id) group by chain_id
        order by min(started_at)
    """
    chains: list[dict[str, object]] = truth_of(plan)["chains"]  # type: ignore[assignment]
    drawn = [tuple(chain[name] for name in ("sessions", "retries", "recovered", "ended_training")) for chain in chains]
    assert sorted(_rows(con, sql)) == sorted(drawn)
    assert len(drawn) == 12


def test_episodes(con: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    sql = """
        select failed_session_id, epoch_ms(started_at), restoring_session_id, epoch_ms(session_restored_at),
            epoch_ms(training_restored_at), recovery_kind = 'automatic'
        from marts.downtimes order by started_at
    """
    episodes: list[dict[str, object]] = truth_of(plan)["episodes"]  # type: ignore[assignment]
    names = (
        "failed_session_id",
        "started_ms",
        "restoring_session_id",
        "session_restored_ms",
        "training_restored_ms",
        "is_automatic",
    )
    assert _rows(con, sql) == [tuple(episode[name] for name in names) for episode in episodes]


def test_runs(con: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    sql = """
        select run_id, session_id, epoch_ms(started_at), coalesce(last_step, starting_step)
        from marts.runs order by run_id
    """
    drawn = [(run.run_id, run.session_id, run.started_ms, run.last_step) for run in plan.runs]
    assert _rows(con, sql) == sorted(drawn)


def test_saves(con: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    sql = """
        select session_id, epoch_ms(started_at), stall_s, stage, bytes, writer_nodes
        from marts.checkpoint_saves order by started_at
    """
    nodes = {session.session_id: set(session.nodes) for session in plan.sessions}
    drawn = [
        (
            save.session_id,
            save.started_ms,
            save.stall_ms / 1000,
            save.stage,
            float(sum(group.bytes_per_node * len(nodes[save.session_id] & set(group.nodes)) for group in save.groups)),
            sum(len(nodes[save.session_id] & set(group.nodes)) for group in save.groups),
        )
        for save in plan.saves
    ]
    assert _rows(con, sql) == drawn
    assert len(drawn) > 5


def test_loads(con: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    sql = """
        select session_id, epoch_ms(started_at), epoch_ms(ended_at), bytes, peak_bytes_per_s
        from marts.checkpoint_loads order by started_at
    """
    told = _rows(con, sql)
    lasted = {it.session_id: (it.ended_ms or 0) - (it.started_ms or 0) for it in plan.sessions}
    loads = [load_of for load_of in plan.loads if lasted[load_of.session_id] >= HOUR]
    assert [row[:3] for row in told] == [(it.session_id, it.started_ms, it.ended_ms) for it in loads]
    for row, load_of in zip(told, loads, strict=True):
        assert row[3] == pytest.approx(30 * sum(load_of.rates_bytes_per_s), rel=1e-9)
        assert row[4] == pytest.approx(max(load_of.rates_bytes_per_s), rel=1e-9)


def test_requests(con: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    told = nfs.figures(con, window_of(plan.telemetry))
    assert told["nfs.saves_measured"].value == len(plan.saves)
    means = {name: told[f"nfs.{name}"].value for name in ("write_kb", "read_request_ms", "read_kb", "metadata_share")}
    assert means == {
        "write_kb": pytest.approx(1021, rel=1e-4),
        "read_request_ms": pytest.approx(78.2, rel=1e-4),
        "read_kb": pytest.approx(440, rel=1e-4),
        "metadata_share": pytest.approx(0.0085, abs=5e-5),
    }


def test_xids(con: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    sql = "select node, gpu_index, code from marts.xid_events where kind = 'xid' order by node, \"at\", code"
    seconds = {(line.node, line.at_ms // 1000, line.xid, line.gpu) for line in plan.kernel_lines if line.xid}
    assert _rows(con, sql) == [(node, gpu, xid) for node, _, xid, gpu in sorted(seconds)]
