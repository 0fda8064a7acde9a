"""A plan's exports as a folder, and what the ordinary ingest makes of them, held to the truth beside them."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from gangline.config import load
from gangline.ingest import ingest
from gangline.simulate.exports import ForeignFilesError, is_written, write_exports
from gangline.simulate.truth import truth_of
from gangline.warehouse import connect
from tests.simulate.small_plan import GB, PLAN, SAVES, TRAINING, at


def _write(folder: Path, **changes: object) -> list[str]:
    told: list[str] = []
    write_exports(folder, replace(PLAN, **changes), lambda name, *_: told.append(name), workers=1)  # type: ignore[arg-type]
    return told


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("simulated")
    _write(made)
    return made


@pytest.fixture(scope="module")
def con(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    report = ingest(load(folder / "cluster.toml"))
    assert [outcome.shown_path for outcome in report.outcomes if not outcome.is_clean] == []
    assert report.empty_sources == []
    with connect(load(folder / "cluster.toml")) as opened:
        yield opened


def _rows(con: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[object, ...]]:
    return con.execute(sql).fetchall()


def test_sessions_are_those_that_were_drawn(con: duckdb.DuckDBPyConnection) -> None:
    sql = """
        select session_id, run_name, epoch_ms(created_at), epoch_ms(started_at), epoch_ms(ended_at), is_gang,
            coalesce(reached_training, false), end_class
        from marts.sessions order by created_at
    """
    ends = {TRAINING.session_id: "failure"}
    assert _rows(con, sql) == [
        (
            session.session_id,
            session.name,
            session.created_ms,
            session.started_ms,
            session.ended_ms,
            session.kind == "gang",
            session.training_from_ms is not None,
            ends.get(session.session_id),
        )
        for session in PLAN.sessions
    ]


def test_saves_are_those_that_were_drawn(con: duckdb.DuckDBPyConnection) -> None:
    sql = """
        select epoch_ms(started_at), stall_s, stage, bytes, writer_nodes, save_evidence, interval_s
        from marts.checkpoint_saves order by started_at
    """
    assert _rows(con, sql) == [
        (SAVES[0].started_ms, 18.0, "4K", 78.0 * GB, 3, "logged", None),
        (SAVES[1].started_ms, 18.0, "4K", 54.0 * GB, 3, "logged", 6009.0),
    ]


def test_the_load_is_the_one_that_was_drawn(con: duckdb.DuckDBPyConnection) -> None:
    sql = """
        select epoch_ms(started_at), epoch_ms(ended_at), bytes, peak_bytes_per_s, node_count
        from marts.checkpoint_loads
    """
    assert _rows(con, sql) == [(at(12), at(15), 12 * 0.44 * GB * 30, 6 * 0.44 * GB, 3)]


def test_xids_of_log_and_gauge_are_one_each(con: duckdb.DuckDBPyConnection) -> None:
    sql = 'select epoch_ms("at"), node, gpu_index, code, source from marts.xid_events order by 1'
    assert _rows(con, sql) == [
        (line.at_ms, line.node, line.gpu, line.xid, "kernel_log+gauge") for line in PLAN.kernel_lines
    ]


def test_runs_and_node_states(con: duckdb.DuckDBPyConnection) -> None:
    assert _rows(con, "select run_id, session_id, last_step from marts.runs") == [("r1", TRAINING.session_id, 1910)]
    states = _rows(con, "select node, state, epoch_ms(started_at), epoch_ms(ended_at) from marts.node_states")
    assert states == [("gpu063", "DOWN", at(520), at(560))]


def test_the_truth_beside_the_exports(folder: Path) -> None:
    truth = json.loads((folder / "truth.json").read_text())
    assert truth == json.loads(json.dumps(truth_of(PLAN)))
    (episode,) = truth["episodes"]
    assert (episode["failed_session_id"], episode["restoring_session_id"]) == (TRAINING.session_id, None)


def test_chains_of_the_truth() -> None:
    first, second = (replace(TRAINING, session_id=f"s{number}", chain=3, attempt=number) for number in (1, 2))
    barren = replace(first, training_from_ms=None)
    (chain,) = truth_of(replace(PLAN, sessions=(barren, second)))["chains"]  # type: ignore[misc]
    told = {"chain": 3, "sessions": ["s1", "s2"], "retries": 1, "recovered": True, "ended_training": True}
    assert chain == told


def test_the_folder_says_that_it_is_simulated(folder: Path) -> None:
    assert "no cluster ever ran any of it" in (folder / "SIMULATED").read_text()
    assert is_written(folder, PLAN)
    assert not is_written(folder, replace(PLAN, seed=6))


def test_equal_plans_give_equal_bytes_however_many_write(folder: Path, tmp_path: Path) -> None:
    write_exports(tmp_path, PLAN, lambda *_: None, workers=2)
    ours = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert ours == {path: (folder / path).read_bytes() for path in ours}
    assert len(ours) == 12


def test_exports_that_were_deleted_are_written_again(tmp_path: Path) -> None:
    _write(tmp_path)
    shutil.rmtree(tmp_path / "raw" / "telemetry")
    assert not is_written(tmp_path, PLAN)
    assert len(_write(tmp_path)) == 2
    assert is_written(tmp_path, PLAN)


def test_a_simulation_that_was_broken_off_goes_on(tmp_path: Path) -> None:
    _write(tmp_path)
    first, second = sorted((tmp_path / "raw" / "telemetry").iterdir())
    kept = first.stat().st_mtime_ns
    second.unlink()
    (tmp_path / "SIMULATED").rename(tmp_path / "SIMULATED.part")
    assert not is_written(tmp_path, PLAN)
    assert _write(tmp_path) == [second.name]
    assert first.stat().st_mtime_ns == kept
    assert is_written(tmp_path, PLAN)


def test_another_plan_replaces_the_exports_and_leaves_the_config(tmp_path: Path) -> None:
    _write(tmp_path)
    config, told = tmp_path / "cluster.toml", (tmp_path / "raw" / "node_events.txt").read_text()
    config.write_text(config.read_text() + "# mine\n")
    assert len(_write(tmp_path, seed=6, node_states=())) == 2
    assert (tmp_path / "raw" / "node_events.txt").read_text() != told
    assert config.read_text().endswith("# mine\n")


def test_files_of_another_origin_are_not_touched(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "precious.json").write_text("{}")
    with pytest.raises(ForeignFilesError, match="no simulation wrote"):
        _write(tmp_path)
    assert (tmp_path / "raw" / "precious.json").exists()
    assert not (tmp_path / "SIMULATED").exists()
