"""The SQL layer as a whole: it builds on nothing, says what each thing is, and does not care for the order of files."""

import itertools
from collections.abc import Iterator
from typing import Any

import duckdb
import polars as pl
import pytest

from gangline.build import build, describe, run_checks
from gangline.contracts import Check, ModelContract, Severity
from gangline.definitions import sql_folder
from gangline.models import find_models
from gangline.vocabulary import EndReason
from tests.sql.given import warehouse_of

EXPORTS = {
    "week1": [
        "s1, kim, n[1-2], 2026-03-01T00:00Z, , RUNNING",
        "s2, , n3, 2026-03-02T00:00Z, 2026-03-02T09:00Z, FAILED",
    ],
    "week2": [
        "s1, , n[1-2], 2026-03-01T00:00Z, 2026-03-09T00:00Z, TIMEOUT",
        "s2, lee, ?, 2026-03-02T00:00Z, , RUNNING",
    ],
    "again": [
        "s1, kim, n[1-2], 2026-03-01T00:00Z, 2026-03-09T00:00Z, TIMEOUT",
        "s3, kim, n[2-3], 2026-03-09T00:05Z, , RUNNING",
    ],
}
LATEST = {"week1": "2026-03-07T00:00:00Z", "week2": "2026-03-14T00:00:00Z", "again": "2026-03-14T00:00:00Z"}
MARTS = ("sessions", "session_nodes", "nodes", "node_exclusions", "events")


@pytest.fixture(scope="module")
def empty() -> Iterator[duckdb.DuckDBPyConnection]:
    with warehouse_of({"files": [{"id": "none", "kind": "slurm", "latest_at": None}]}) as con:
        yield con


def test_it_builds_on_no_data_and_every_check_passes(empty: duckdb.DuckDBPyConnection) -> None:
    report = build(empty)
    assert report.warnings == ()
    assert run_checks(empty) == report.checks
    assert empty.execute("select count(*) from marts.sessions").fetchone() == (0,)


def test_everything_it_makes_is_described_in_the_database(empty: duckdb.DuckDBPyConnection) -> None:
    build(empty)
    made = describe(empty).filter(pl.col("name").str.contains(r"^(staging|intermediate|marts)\.|^\w+\("))
    assert made.filter(pl.col("description").is_null())["name"].to_list() == []
    assert describe(empty, "sessions").filter(pl.col("description").is_null()).is_empty()


def exports_in(order: tuple[str, ...]) -> dict[str, Any]:
    header = "session_id, owner, nodes, started_at, ended_at, state_key, source_state, file\n"
    rows = [f"{row}, {row.split(', ')[-1]}, {name}" for name in order for row in EXPORTS[name]]
    return {
        "config": {"cluster": {"nodes": ["n[1-4]"], "gang_min_nodes": 2}},
        "files": [{"id": name, "kind": "slurm", "latest_at": LATEST[name]} for name in order],
        "sessions": header + "\n".join(rows).replace("n[1-2]", '"n[1-2]"').replace("n[2-3]", '"n[2-3]"'),
    }


def content(order: tuple[str, ...]) -> dict[str, list[Any]]:
    given = exports_in(order)
    with warehouse_of(given) as con:
        # a file's lines are its own, wherever it stands in the order of loading
        con.execute("update raw.session_records set line = case session_id when 's1' then 2 else 3 end")
        build(con)
        return {mart: con.execute(f"from marts.{mart} order by all").fetchall() for mart in MARTS}


def test_overlapping_exports_give_the_same_marts_in_every_order() -> None:
    first, *others = itertools.permutations(EXPORTS)
    wanted = content(first)
    assert [row[0] for row in wanted["sessions"]] == ["s1", "s2", "s3"]
    assert all(content(order) == wanted for order in others)


def test_end_reasons_are_the_vocabulary(empty: duckdb.DuckDBPyConnection) -> None:
    build(empty, only=["end_reasons"])
    words = empty.execute(
        "select end_reason from staging.end_reasons union select end_reason_unstarted from staging.end_reasons"
    )
    assert {row[0] for row in words.fetchall()} <= set(EndReason)
    contract = next(model.contract for model in find_models(sql_folder()) if model.name == "end_reasons")
    assert isinstance(contract, ModelContract)
    check: Check = contract.checks["end_reasons_are_known"]
    assert check.severity is Severity.FAIL
    assert all(f"'{reason}'" in check.sql for reason in EndReason)
