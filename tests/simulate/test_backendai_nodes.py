"""Backend.AI pages, read back by the reader of real ones."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from gangline.simulate.backendai_nodes import status_history, write_pages
from gangline.simulate.plan import SessionPlan
from gangline.sources import backendai
from tests.simulate.small_plan import HOLD, NEVER, PLAN, TRAINING
from tests.sources.reading import read_file

ENDED = TRAINING.ended_ms or 0
COLUMNS = ("session_id", "job_name", "nodes", "gpu_count", "created_at", "started_at", "ended_at", "has_started")


def _read(folder: Path, *sessions: SessionPlan, page: int = 100) -> tuple[pl.DataFrame, pl.DataFrame]:
    plan = replace(PLAN, sessions=sessions)
    readings = [read_file(backendai, path) for path in write_pages(folder, plan, page)]
    assert all((reading.log.rejected, reading.log.oddities) == (0, {}) for reading in readings)
    records = pl.concat(reading.frames["session_records"] for reading in readings)
    return records, pl.concat(reading.frames["session_node_records"] for reading in readings)


def _utc(at_ms: int | None) -> datetime | None:
    return None if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC)


def test_sessions_read_back(tmp_path: Path) -> None:
    records, parts = _read(tmp_path, TRAINING, HOLD, NEVER)
    told = [
        (
            session.session_id,
            session.name,
            list(session.nodes) if session.started_ms else [],
            8.0 * len(session.nodes) if session.started_ms else 0.0,
            *map(_utc, (session.created_ms, session.started_ms, session.ended_ms)),
            session.started_ms is not None,
        )
        for session in (TRAINING, HOLD, NEVER)
    ]
    assert records.select(COLUMNS).rows() == told
    assert records["state_key"].to_list() == ["task-failed", "RUNNING", "user-requested"]
    started, ended = _utc(TRAINING.started_ms), _utc(TRAINING.ended_ms)
    by_node = parts.select("node", "gpu_count", "started_at", "ended_at").rows()
    assert by_node[:3] == [(node, 8.0, started, ended) for node in TRAINING.nodes]
    assert by_node[3] == ("gpu065", 8.0, _utc(HOLD.started_ms), None)
    assert parts["part_id"].n_unique() == 6


def test_pages_together_hold_all(tmp_path: Path) -> None:
    records, _ = _read(tmp_path, TRAINING, HOLD, NEVER, page=2)
    assert records["session_id"].to_list() == [TRAINING.session_id, HOLD.session_id, NEVER.session_id]
    assert len(list(tmp_path.iterdir())) == 2


def test_half_a_node(tmp_path: Path) -> None:
    records, _ = _read(tmp_path, replace(HOLD, gpus_per_node=4))
    assert records["gpu_count"].to_list() == [4.0]


def test_history_is_in_the_order_of_a_session_s_life() -> None:
    quick = replace(TRAINING, created_ms=TRAINING.started_ms or 0, status="TERMINATED")
    for session in (TRAINING, HOLD, NEVER, quick):
        history = status_history(session)
        assert [at_ms for _, at_ms in history] == sorted(at_ms for _, at_ms in history)
    assert [status for status, _ in status_history(NEVER)] == ["PENDING", "CANCELLED"]
    assert dict(status_history(TRAINING))["RUNNING"] == TRAINING.started_ms
    assert status_history(quick)[-2:] == [("TERMINATING", ENDED - 2_000), ("TERMINATED", ENDED)]
