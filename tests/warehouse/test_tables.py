"""What ingest and SQL agree on: raw tables, the ledger, the config as one row."""

from pathlib import Path

import duckdb

from gangline.config import load
from gangline.sources.records import SCHEMAS
from gangline.warehouse import create_tables, record_config


def _columns(con: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    return {row[0]: row[1] for row in con.execute(f"describe {table}").fetchall()}


def test_what_every_build_fills_takes_its_new_columns() -> None:
    con = duckdb.connect()
    con.execute(
        "create schema meta; create table meta.storage_levels (export varchar); create table meta.files (a int)"
    )
    create_tables(con)
    named = con.execute("select table_name, count(*) from duckdb_columns() where schema_name = 'meta' group by all")
    counts = dict(named.fetchall())
    assert (counts["storage_levels"], counts["files"]) == (5, 1)


def test_raw_tables_have_the_readers_columns_and_the_file() -> None:
    con = duckdb.connect()
    create_tables(con)
    for table, schema in SCHEMAS.items():
        assert list(_columns(con, f"raw.{table}")) == [*schema, "file_id"]
    assert _columns(con, "raw.session_records")["nodes"] == "VARCHAR[]"
    assert _columns(con, "raw.session_records")["started_at"] == "TIMESTAMP WITH TIME ZONE"


def test_making_the_tables_twice_keeps_rows_and_adds_columns() -> None:
    con = duckdb.connect()
    create_tables(con)
    con.execute("alter table raw.session_records drop column owner")
    con.execute("insert into raw.session_records (session_id, file_id) values ('1', 'f')")
    create_tables(con)
    assert con.execute("select session_id, owner from raw.session_records").fetchall() == [("1", None)]


def test_settings_are_one_typed_row(tmp_path: Path) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(
        '[cluster]\nname = "orion"\ntime_zone = "UTC"\nnodes = ["n[1-2]"]\n[end_class]\nsilent_min = 7.0\n'
        '[[nodes]]\nname = "n[1-2]"\nfrom = 2026-01-01\n[[stages]]\nname = "4K"\nto = 2026-02-01\n'
        '[[maintenance]]\nnote = "it"\n'
    )
    con = duckdb.connect()
    create_tables(con)
    record_config(con, load(path))
    record_config(con, load(path))
    row = con.execute(
        "select cluster_name, gang_min_nodes, end_class_silent_min, retries_delay_min, run_name_strip"
        " from meta.settings"
    ).fetchall()
    assert row == [("orion", None, 7.0, 10.0, [r"-retry\d+$", r"_\d{8}$"])]
    types = _columns(con, "meta.settings")
    assert types["end_class_silent_min"] == "DOUBLE"
    assert types["exclusions_draws"] == "BIGINT"
    assert types["storage_max_read_gb_per_s"] == "DOUBLE"
    assert con.execute("select node from meta.inventory order by position").fetchall() == [("n1",), ("n2",)]
    assert con.execute("select node, to_at from meta.node_periods").fetchall() == [("n1", None), ("n2", None)]
    assert con.execute("select name, from_at from meta.stages").fetchall() == [("4K", None)]
    assert con.execute("select note from meta.maintenance").fetchall() == [("it",)]
