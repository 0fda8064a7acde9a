"""Real exports of the same sessions in several forms: the marts agree wherever a form carries the column."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from gangline.build import build
from gangline.sources import backendai, slurm
from gangline.sources.files import InputFile
from gangline.sources.records import ReadLog, Source, SourceOptions
from tests.sql.given import warehouse_of

# columns that say where a value was read from differ by form, as do those that a form lacks
EVIDENCE = {"end_source", "gpu_evidence", "observed_until", "source_state"}
SESSIONS = "psql_csv_sessions.csv"
KERNELS = "psql_csv_kernels.csv"
GRAPHQL = "gql_compute_session_nodes.json"
CLI = "cli_session_list.json"
HISTORY = "psql_csv_session_scheduling_history.csv"
EXPORTED_AT = "2026-11-29T18:00:00Z"


def marts(source: Source, folder: Path, *names: str) -> tuple[list[dict[str, Any]], list[Any]]:
    """Sessions (by column) and session nodes of some files."""
    logs = {name: ReadLog() for name in names}
    with warehouse_of({"files": []}) as con:
        for name, log in logs.items():
            for batch in source.read(InputFile(folder / name), SourceOptions(source.KIND, "UTC"), log):
                con.register("batch", batch.frame)
                con.execute(f"insert into raw.{batch.table} by name select *, '{name}' as file_id from batch")
            put_file(con, source.KIND, name, log)
        build(con, only=["sessions", "session_nodes"])
        sessions = con.sql("from marts.sessions order by session_id").pl().to_dicts()
        return sessions, con.execute("from marts.session_nodes order by all").fetchall()


def put_file(con: duckdb.DuckDBPyConnection, kind: str, name: str, log: ReadLog) -> None:
    con.execute(
        """insert into meta.files by name select ? as file_id, 'jobs' as source_id, ? as kind, ? as path, ? as sha256,
        0 as size_bytes, '' as options_hash, 1 as reader_version, 0 as records, 0 as loaded, 0 as ignored,
        0 as rejected, ?::timestamptz as latest_at, now() as loaded_at""",
        [name, kind, name, name, log.latest_at],
    )
    con.execute(
        """insert or ignore into meta.sources by name select 'jobs' as source_id, ? as kind, 'raw' as path,
        ?::timestamptz as exported_at, 0 as position, true as is_configured""",
        [kind, EXPORTED_AT],
    )


def without(sessions: list[dict[str, Any]], columns: set[str]) -> list[dict[str, Any]]:
    return [{name: value for name, value in session.items() if name not in columns} for session in sessions]


def members(session_nodes: list[Any]) -> list[Any]:
    return [row[:3] for row in session_nodes]


def test_sacct_text_and_json_are_the_same_20_sessions(shared_data: Path) -> None:
    folder = shared_data / "real" / "slurm"
    text, text_nodes = marts(slurm, folder, "sacct_P_D_ALL_final.txt")
    document, document_nodes = marts(slurm, folder, "sacct_final.json")
    assert len(text) == 20
    assert sum(session["end_reason"] == "never_started" for session in text) == 4
    assert without(text, {"source_state"}) == without(document, {"source_state"})
    assert text_nodes == document_nodes


@pytest.mark.parametrize(
    ("form", "lacking"),
    [
        (GRAPHQL, set()),
        (KERNELS, {"owner", "partition"}),
    ],
)
def test_each_backendai_form_gives_the_same_10_sessions(shared_data: Path, form: str, lacking: set[str]) -> None:
    folder = shared_data / "real" / "backendai"
    wanted, wanted_nodes = marts(backendai, folder, SESSIONS)
    got, got_nodes = marts(backendai, folder, form)
    assert len(wanted) == 10
    assert without(got, lacking | EVIDENCE) == without(wanted, lacking | EVIDENCE)
    assert members(got_nodes) == members(wanted_nodes)


@pytest.mark.parametrize(
    "names",
    [
        (CLI, KERNELS, SESSIONS),
        (SESSIONS, HISTORY),
        (HISTORY, GRAPHQL, CLI),
        (KERNELS, SESSIONS, GRAPHQL, CLI, HISTORY),
    ],
)
def test_the_union_of_backendai_files_adds_nothing_and_loses_nothing(shared_data: Path, names: tuple[str, ...]) -> None:
    folder = shared_data / "real" / "backendai"
    whole, _ = marts(backendai, folder, SESSIONS)
    # only kernels know that a node was lost while its session went on
    _, whole_nodes = marts(backendai, folder, KERNELS if KERNELS in names else SESSIONS)
    union, union_nodes = marts(backendai, folder, *names)
    assert without(union, EVIDENCE) == without(whole, EVIDENCE)
    assert [row[:5] for row in union_nodes] == [row[:5] for row in whole_nodes]
