"""Real exports of the same Slurm jobs, as text and as JSON: the marts agree."""

from pathlib import Path
from typing import Any

import duckdb

from gangline.build import build
from gangline.sources import slurm
from gangline.sources.files import InputFile
from gangline.sources.records import ReadLog, Source, SourceOptions
from tests.sql.given import warehouse_of

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


def test_sacct_text_and_json_are_the_same_20_sessions(shared_data: Path) -> None:
    folder = shared_data / "real" / "slurm"
    text, text_nodes = marts(slurm, folder, "sacct_P_D_ALL_final.txt")
    document, document_nodes = marts(slurm, folder, "sacct_final.json")
    assert len(text) == 20
    assert sum(session["end_reason"] == "never_started" for session in text) == 4
    assert without(text, {"source_state"}) == without(document, {"source_state"})
    assert text_nodes == document_nodes
