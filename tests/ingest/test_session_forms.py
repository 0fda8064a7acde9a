"""The same ten Backend.AI sessions in every form of export: each form, and any union of files, says the same of them.

`pg_dump.sql` holds sessions and kernels, so it is the whole. A form that lacks a column leaves it null, and another
form fills it; the columns that say where a value was read from differ by form.
"""

from pathlib import Path
from typing import Any

import pytest

from gangline.config import load
from gangline.ingest import ingest
from gangline.warehouse import connect

FIXTURES = Path(__file__).parents[1] / "sources" / "fixtures" / "backendai"
WHOLE = FIXTURES / "pg_dump.sql"
HEAD = '[cluster]\nname = "ten"\ntime_zone = "UTC"\n'
SOURCE = '[[sources]]\nkind = "backendai"\npath = "{path}"\nexported_at = 2026-11-21T12:00:00Z\n'
EVIDENCE = {"end_source", "gpu_evidence"}
NAMES = {"session_id", "bare_id", "source", "run_name", "job_name", "source_state", "created_at"}
# what a form carries, where it does not carry all: the CLI has no nodes and few starts, the admin export no start
CARRIED = {
    "cli_session_list.json": NAMES | {"owner", "ended_at"},
    "cli_session_list_2pages_concatenated.json": NAMES | {"owner", "ended_at"},
    "admin_export.csv": NAMES | {"owner", "partition", "time_limit_min"},
}
KERNELS_LACK = {
    "psql_csv_kernels.csv": {"owner", "partition", "source_state"},
    "row_to_json_kernels.jsonl": {"owner", "partition", "source_state", "job_name", "run_name", "created_at"}
    | {"has_started", "node_count", "gpu_count", "end_reason"},
}
Marts = tuple[dict[str, dict[str, Any]], set[tuple[Any, ...]]]


def marts(folder: Path, *paths: Path) -> Marts:
    """Sessions by id, and session nodes, of an ingest of these files."""
    folder.mkdir()
    (folder / "cluster.toml").write_text(HEAD + "".join(SOURCE.format(path=path) for path in paths))
    config = load(folder / "cluster.toml")
    report = ingest(config)
    assert [outcome.shown_path for outcome in report.refused] == []
    with connect(config) as con:
        sessions = con.sql("from marts.sessions").pl().to_dicts()
        members = con.execute("select session_id, node, gpus, started_at, ended_at from marts.session_nodes").fetchall()
    return {session["session_id"]: session for session in sessions}, set(members)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Marts:
    return marts(tmp_path_factory.mktemp("whole") / "cluster", WHOLE)


def carried(columns: set[str], paths: list[Path]) -> set[str]:
    """The columns that at least one of these files carries."""
    found: set[str] = set()
    for path in paths:
        lacking = KERNELS_LACK.get(path.name, set())
        found |= CARRIED.get(path.name, columns - lacking)
    return found - EVIDENCE


def assert_same(got: Marts, whole: Marts, paths: list[Path]) -> None:
    sessions, wanted = got[0], whole[0]
    columns = carried(set(next(iter(wanted.values()))), paths)
    assert len(wanted) == 10
    assert {key: {name: row[name] for name in columns} for key, row in sessions.items()} == {
        key: {name: row[name] for name in columns} for key, row in wanted.items()
    }


def knows_kernels(paths: list[Path]) -> bool:
    return any("kernels" in path.name for path in paths)


def assert_members(got: Marts, whole: Marts, paths: list[Path]) -> None:
    """Only kernels know that a node was lost while its session went on."""
    if knows_kernels(paths):
        assert got[1] == whole[1]
    else:
        lost = {row for row in whole[1] if whole[0][row[0]]["ended_at"] is None and row[4] is not None}
        assert len(lost) == 1
        assert got[1] == (whole[1] - lost) | {(*row[:4], None) for row in lost}


@pytest.mark.parametrize(
    "names",
    [
        ["copy_sessions.txt"],
        ["row_to_json_sessions.jsonl"],
        ["json_agg_sessions.json"],
        ["legacy_compute_session_list.json"],
        ["admin_export.csv", "row_to_json_kernels.jsonl", "copy_sessions.txt"],
        ["row_to_json_kernels.jsonl", "legacy_compute_session_list.json"],
    ],
    ids="+".join,
)
def test_forms_of_its_own(tmp_path: Path, whole: Marts, names: list[str]) -> None:
    paths = [FIXTURES / name for name in names]
    got = marts(tmp_path / "cluster", *paths)
    assert_same(got, whole, paths)
    assert_members(got, whole, paths)


def test_the_admin_export_knows_no_start(tmp_path: Path, whole: Marts) -> None:
    paths = [FIXTURES / "admin_export.csv"]
    got = marts(tmp_path / "cluster", *paths)
    assert_same(got, whole, paths)
    assert {row["started_at"] for row in got[0].values()} == {None}
    assert {row["is_gang"] for row in got[0].values()} == {False}
    known = [(got[0][key]["ended_at"], row["ended_at"]) for key, row in whole[0].items()]
    assert [pair for pair in known if pair[0] not in (None, pair[1])] == []


def test_kernels_of_one_file_and_names_of_another(tmp_path: Path, whole: Marts) -> None:
    paths = [FIXTURES / "admin_export.csv", FIXTURES / "row_to_json_kernels.jsonl"]
    got = marts(tmp_path / "cluster", *paths)
    assert_same(got, whole, paths[:1])
    assert got[1] == whole[1]
    columns = ("started_at", "is_censored", "is_gang", "reached_training", "lineage_id", "gpu_h", "end_class")
    assert {key: [row[name] for name in columns] for key, row in got[0].items()} == {
        key: [row[name] for name in columns] for key, row in whole[0].items()
    }


@pytest.mark.parametrize(
    "names",
    [
        ["gql_compute_session_nodes.json"],
        ["psql_csv_sessions.csv"],
        ["psql_csv_kernels.csv"],
        ["cli_session_list.json"],
        ["cli_session_list.json", "psql_csv_kernels.csv", "psql_csv_session_scheduling_history.csv"],
        [
            "psql_csv_session_scheduling_history.csv",
            "gql_compute_session_nodes.json",
            "cli_session_list_2pages_concatenated.json",
            "psql_csv_sessions.csv",
            "psql_csv_kernels.csv",
        ],
    ],
    ids="+".join,
)
def test_real_forms(tmp_path: Path, shared_data: Path, whole: Marts, names: list[str]) -> None:
    paths = [shared_data / "real" / "backendai" / name for name in names]
    got = marts(tmp_path / "cluster", *paths)
    states = [path for path in paths if "history" not in path.name]
    assert_same(got, whole, states)
    if names != ["cli_session_list.json"]:
        assert_members(got, whole, paths)
