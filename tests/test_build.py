"""The build: contracts enforced, checks kept, descriptions in the database."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from gangline.build import BuildError, build, describe, run_checks

NODES = """description: Every node.
grain: one row per node
key: [node]
columns:
  node: {type: varchar, description: the node's own name}
  up_h: {type: double, description: hours up, unit: h, nullable: false}
"""
MACRO = "description: Hours.\narguments: {a: instants}\nassertions: {doubles: doubled(2) = 4}\n"


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def put(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return folder


def nodes(folder: Path, sql: str, contract: str = NODES) -> Path:
    put(folder, "marts/nodes.yml", contract)
    return put(folder, "marts/nodes.sql", sql)


def test_what_was_built_describes_itself(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    put(tmp_path, "macros/doubled.sql", "create or replace macro doubled(a) as a * 2")
    put(tmp_path, "macros/doubled.yml", MACRO)
    nodes(tmp_path, "select 'n1' as node, doubled(1.5::double) as up_h;")
    report = build(con, tmp_path)
    assert [model.name for model in report.models] == ["macro doubled", "marts.nodes"]
    assert con.execute("select * from marts.nodes").fetchall() == [("n1", 3.0)]
    assert describe(con, "nodes").rows() == [
        ("node", "varchar", "the node's own name"),
        ("up_h", "double", "hours up. Unit: h."),
    ]
    assert ("marts.nodes", "table", "Every node. A row: one row per node.") in describe(con).rows()
    assert ("doubled(a)", "macro", "Hours.") in describe(con).rows()


def test_describe_names_the_nearest_table(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    build(con, nodes(tmp_path, "select 'n1' as node, 0::double as up_h"))
    with pytest.raises(ValueError, match="node is no table of this warehouse; did you mean nodes"):
        describe(con, "node")


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("select 'n1' as node, 1 as up_h", r"column 2 is up_h integer; its contract says up_h double"),
        ("select 0::double as up_h, 'n1' as node", r"column 1 is up_h double; its contract says node varchar"),
        ("select 'n1' as node, 0::double as up_h, 1 as more", "more stands in one of select and contract only"),
        ("select 'n1' as node, null::double as up_h", "up_h is null in 1 row; its contract allows none"),
        ("select unnest(['n1', 'n1', 'n2']) as node, 0::double as up_h", "1 key .* the first 'n1'"),
        ("select nodee as node, 0::double as up_h", r"nodes\.sql: Binder Error: Referenced column"),
    ],
)
def test_a_model_that_breaks_its_contract_stops_the_build(
    tmp_path: Path, con: duckdb.DuckDBPyConnection, sql: str, words: str
) -> None:
    with pytest.raises(BuildError, match=words) as raised:
        build(con, nodes(tmp_path, sql))
    assert "\n" not in str(raised.value)


def checked(folder: Path, severity: str) -> Path:
    check = (
        f"checks:\n  is_up: {{sql: from marts.nodes where up_h < 1, message: down; mend it, severity: {severity}}}\n"
    )
    return nodes(folder, "select unnest(['a', 'b']) as node, 0::double as up_h", NODES + check)


def test_a_failed_check_stops_the_build_and_is_kept(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(BuildError, match=r"marts\.nodes: is_up: 2 failing rows: down; mend it"):
        build(con, checked(tmp_path, "fail"))
    assert con.execute("from meta.checks").fetchall() == [("marts.nodes", "is_up", "fail", 2, "down; mend it")]


def test_a_warning_is_counted_and_does_not_stop(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    report = build(con, checked(tmp_path, "warn"))
    assert [(check.check_name, check.failing_rows) for check in report.warnings] == [("is_up", 2)]
    assert run_checks(con, tmp_path) == report.checks


def test_an_identity_must_not_be_false_and_may_be_unknown(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    contract = NODES.replace(", nullable: false", "") + "identities: {has_24_hours: up_h <= 24}\n"
    sql = "select unnest(['a', 'b', 'c']) as node, unnest([1.0::double, 25, null]) as up_h"
    with pytest.raises(BuildError, match="has_24_hours: 1 failing row: does not hold in every row: up_h <= 24"):
        build(con, nodes(tmp_path, sql, contract))


def test_a_macro_that_breaks_its_assertion_is_told(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    put(tmp_path, "macros/doubled.sql", "create or replace macro doubled(a) as a * 3")
    put(tmp_path, "macros/doubled.yml", MACRO)
    with pytest.raises(BuildError, match="doubles: 1 failing row: the macro no longer meets: doubled"):
        build(con, tmp_path)


def test_a_check_that_cannot_run_fails(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    nodes(tmp_path, "select 'a' as node, 0::double as up_h")
    put(tmp_path, "checks/all_up.sql", "select missing from marts.nodes")
    put(tmp_path, "checks/all_up.yml", "message: m\nseverity: fail\n")
    with pytest.raises(BuildError, match="the check itself cannot run: Binder Error"):
        build(con, tmp_path)


def test_a_seed_has_the_header_of_its_contract(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    put(tmp_path, "seeds/nodes.yml", NODES)
    put(tmp_path, "seeds/nodes.csv", 'node,up_h\n"n,1",2\nn2,3.5\n')
    build(con, tmp_path)
    assert con.execute("from staging.nodes").fetchall() == [("n,1", 2.0), ("n2", 3.5)]
    put(tmp_path, "seeds/nodes.csv", "node,hours\nn1,2\n")
    with pytest.raises(BuildError, match=r"nodes\.csv:1: the header is node,hours; its contract says node,up_h"):
        build(con, tmp_path)


def test_building_again_replaces_and_a_table_may_become_a_view(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    build(con, nodes(tmp_path, "select 'a' as node, 0::double as up_h"))
    build(con, nodes(tmp_path, "select 'b' as node, 0::double as up_h", NODES + "materialized: view\n"))
    assert con.execute("select node from marts.nodes").fetchall() == [("b",)]
    assert ("marts.nodes", "view", "Every node. A row: one row per node.") in describe(con).rows()


def test_only_builds_what_is_asked_for(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    nodes(tmp_path, "select 'a' as node, 0::double as up_h")
    put(tmp_path, "marts/broken.yml", NODES)
    put(tmp_path, "marts/broken.sql", "select 1 as one")
    assert [model.name for model in build(con, tmp_path, only=["nodes"]).models] == ["marts.nodes"]


def test_a_missing_folder_is_told(tmp_path: Path, con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(BuildError, match="no such folder; gangline runs from its clone"):
        build(con, tmp_path / "absent")
