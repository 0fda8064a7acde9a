"""A window in one file: only what is of it, under the same names, with nothing beside it."""

from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

from gangline import bundle
from gangline.bundle import BundleError, write_bundle
from gangline.cli.application import app
from gangline.config import Config
from gangline.report.catalogue import CATALOGUE
from gangline.windows import Window
from tests import telemetries

SESSIONS = """session_id,job_name,owner,nodes,gpu_count,created_at,started_at,ended_at,end_reason
before,train,ana,"n[1-3]",6,2026-02-01T00:00Z,2026-02-01T00:00Z,2026-02-02T00:00Z,completed
across,train,ana,"n[1-3]",6,2026-02-28T00:00Z,2026-02-28T00:00Z,2026-03-01T02:00Z,failed
never,train,ana,n4,2,2026-03-01T01:00Z,,,never_started
open,probe,bo,n4,2,2026-03-01T00:30Z,2026-03-01T00:30Z,,running
"""
DAY = Window.between("2026-03-01", "2026-03-02", "UTC")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return telemetries.cluster(tmp_path_factory.mktemp("lyra"), telemetries.usual_lines(), SESSIONS)


def test_a_bundle_of_simulated_data_says_so(config: Config, tmp_path: Path) -> None:
    (config.folder / "SIMULATED").touch()
    try:
        write_bundle(config, DAY, tmp_path / "day.duckdb")
    finally:
        (config.folder / "SIMULATED").unlink()
    with duckdb.connect(tmp_path / "day.duckdb", read_only=True) as con:
        assert dict(con.execute("from about").fetchall())["simulated"].startswith("yes")


def test_what_is_of_the_window_is_in_it(config: Config, tmp_path: Path) -> None:
    counts = write_bundle(config, DAY, tmp_path / "day.duckdb")
    with duckdb.connect(tmp_path / "day.duckdb", read_only=True) as con:
        sessions = con.execute("select session_id from marts.sessions order by 1").fetchall()
        samples = con.execute("select count(*), count(distinct series_id) from marts.samples").fetchall()
        about = dict(con.execute("from about").fetchall())
        figures = dict(con.execute("select id, value from figures").fetchall())
        (said,) = con.execute("select comment from duckdb_tables() where table_name = 'sessions'").fetchall()[0]
        columns = con.execute("select count(*) from duckdb_columns() where comment is not null").fetchall()[0][0]
        views = con.execute("select count(*) from duckdb_views() where not internal").fetchall()[0][0]
    assert sessions == [("across",), ("never",), ("open",)]
    assert samples == [(counts["marts.samples"], 12)]
    assert counts["marts.samples"] == 12 * 120 - 2 * 30
    assert (about["cluster"], about["window_start"]) == ("lyra", "2026-03-01T00:00:00+00:00")
    assert about["simulated"] == "no"
    assert figures["fleet.sessions"] == 1.0
    assert said.startswith("Sessions of every source")
    assert (columns > 100, views) == (True, 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["day.duckdb"]


def test_figures_are_those_of_every_page_but_the_weekly_one(config: Config, tmp_path: Path) -> None:
    write_bundle(config, DAY, tmp_path / "day.duckdb")
    with duckdb.connect(tmp_path / "day.duckdb", read_only=True) as con:
        rows = con.execute("select id, value is null and reason is null from figures").fetchall()
    found = {name for name, _ in rows} | {name.rpartition(".")[0] for name, _ in rows}
    assert {name for name in CATALOGUE if name not in found and not name.startswith("weekly.")} == set()
    assert [name for name, is_unexplained in rows if is_unexplained] == []


def test_another_window_is_empty_and_whole(config: Config, tmp_path: Path) -> None:
    counts = write_bundle(config, Window.between("2026-01-01", "2026-01-02", "UTC"), tmp_path / "x.duckdb")
    assert (counts["marts.samples"], counts["marts.sessions"], counts["marts.series"]) == (0, 0, 0)
    assert counts["marts.nodes"] == 4


def test_a_file_that_is_there_stays(config: Config, tmp_path: Path) -> None:
    (tmp_path / "x.duckdb").write_text("mine")
    with pytest.raises(BundleError, match="is there already"):
        write_bundle(config, DAY, tmp_path / "x.duckdb")
    assert (tmp_path / "x.duckdb").read_text() == "mine"
    with pytest.raises(BundleError, match="no such folder"):
        write_bundle(config, DAY, tmp_path / "gone" / "x.duckdb")


def test_what_breaks_off_leaves_nothing(config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "ANALYSES", ())
    monkeypatch.setattr(bundle, "_write_about", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_bundle(config, DAY, tmp_path / "x.duckdb")
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_what_it_wrote(config: Config, tmp_path: Path) -> None:
    arguments = ["export", "-c", str(config.path), "--from", "2026-03-01", "--to", "2026-03-02"]
    told = CliRunner().invoke(app, [*arguments, str(tmp_path / "x.duckdb")])
    assert told.exit_code == 0
    assert "lyra 2026-03-01: 1,380 samples, 3 sessions" in told.stdout
