"""An analyst's connection: read-only, in nobody's way, and told when there is newer data."""

from pathlib import Path

import duckdb
import pytest

from gangline.config import load
from gangline.descriptions import UnknownTableError
from gangline.ingest import ingest
from gangline.lab import Lab, open_lab
from gangline.report.parameters import ParameterError
from gangline.warehouse import WarehouseError

CONFIG = '[cluster]\nname = "orion"\ntime_zone = "UTC"\n[[sources]]\nkind = "sessions_csv"\npath = "raw/*.csv"\n'
HEAD = "session_id,job_name,nodes,started_at,ended_at,end_reason\n"
COUNT = "select count(*) as n from marts.sessions"


def test_nothing_can_be_written(here: Lab) -> None:
    with pytest.raises(duckdb.InvalidInputException, match="read-only"):
        here.sql("create table marts.mine as select 1")


def test_values_are_bound_and_never_pasted(here: Lab) -> None:
    assert here.sql("select $name as name", name="'; drop table x --").row(0) == ("'; drop table x --",)


def test_the_window_and_the_nodes_are_bound_without_being_given(here: Lab) -> None:
    here.between("2026-03-01", "2026-03-02")
    here.nodes = ("n1", "n2")
    row = here.sql("select $window_start as a, $window_end as b, len($nodes) as n, $cluster as name").row(0)
    assert row == (here.window.start, here.window.end, 2, here.config.cluster.name)


def test_tables_are_those_of_the_marts_with_what_a_row_is(here: Lab) -> None:
    names = here.tables()
    assert "marts.sessions" in names["name"].to_list()
    assert names["description"].null_count() == 0
    assert here.tables("").height > names.height
    assert here.describe("sessions")["column"][0] == "session_id"
    with pytest.raises(UnknownTableError, match="did you mean sessions"):
        here.describe("sesions")


def test_a_window_to_begin_with(config) -> None:
    lab = open_lab(str(config.path), "2026-03-01", "2026-03-02")
    assert lab.window.label == "2026-03-01"
    lab.con.close()
    with pytest.raises(ParameterError, match="start and end"):
        open_lab(str(config.path), "today", "")


def test_without_a_warehouse_the_command_is_said(tmp_path: Path) -> None:
    (tmp_path / "cluster.toml").write_text(CONFIG)
    with pytest.raises(WarehouseError, match="gangline ingest"):
        open_lab(str(tmp_path / "cluster.toml"))


def test_an_ingest_goes_on_beside_a_lab_and_the_lab_turns_to_it_when_told(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "a.csv").write_text(HEAD + "1,x,n[1-2],2026-03-01T00:00:00Z,2026-03-01T05:00:00Z,failed\n")
    (tmp_path / "cluster.toml").write_text(CONFIG)
    config = load(tmp_path / "cluster.toml")
    ingest(config)
    lab = open_lab(str(config.path))
    (raw / "b.csv").write_text(HEAD + "2,x,n[1-2],2026-03-02T00:00:00Z,2026-03-02T05:00:00Z,failed\n")
    assert not lab.is_stale
    ingest(config)
    assert (lab.sql(COUNT).item(), lab.is_stale) == (1, True)
    lab.reopen()
    assert (lab.sql(COUNT).item(), lab.is_stale, lab.window.label) == (2, False, "whole export")
    lab.con.close()
