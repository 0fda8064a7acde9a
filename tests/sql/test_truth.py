"""The small cluster whose answers were computed apart from this code (../shared/data/truth/sessions), in SQL alone."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gangline.build import build
from gangline.config import load
from gangline.sources import backendai, sessions_csv, slurm
from gangline.sources.files import InputFile
from gangline.sources.records import ReadLog, Source, SourceOptions
from gangline.warehouse import create_tables, record_config

FORMS: dict[str, Source] = {"csv": sessions_csv, "slurm": slurm, "backendai": backendai}
EXPORTED_AT = "2026-11-16T05:00:00Z"
WINDOW = "timestamptz '2026-09-15 00:00 America/New_York', timestamptz '2026-11-16 00:00 America/New_York'"
FIGURES = ("gang_sessions", "excluded_sessions", "excluded_h", "held_h", "overlap_ratio")


def read_into(con: duckdb.DuckDBPyConnection, source: Source, path: Path) -> None:
    """What ingest does, without its ledger."""
    log = ReadLog()
    for batch in source.read(InputFile(path), SourceOptions(source.KIND, "America/New_York"), log):
        con.register("batch", batch.frame)
        con.execute(f"insert into raw.{batch.table} by name select *, 'export' as file_id from batch")
    con.execute(
        """insert into meta.files by name select 'export' as file_id, 'jobs' as source_id, ? as kind, 'raw' as path,
        '' as sha256, 0 as size_bytes, '' as options_hash, 1 as reader_version, 0 as records, 0 as loaded, 0 as ignored,
        0 as rejected, ?::timestamptz as latest_at, now() as loaded_at""",
        [source.KIND, log.latest_at],
    )
    con.execute(
        """insert into meta.sources by name select 'jobs' as source_id, ? as kind, 'raw' as path,
        ?::timestamptz as exported_at, 0 as position, true as is_configured""",
        [source.KIND, EXPORTED_AT],
    )


@pytest.mark.parametrize("form", FORMS)
def test_each_node_is_excluded_as_plain_loops_say(shared_data: Path, form: str) -> None:
    folder = shared_data / "truth" / "sessions"
    if not folder.is_dir():
        pytest.skip("../shared/data/truth/sessions is not on this machine")
    truth: dict[str, Any] = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    with duckdb.connect() as con:
        con.execute("set TimeZone = 'UTC'")
        create_tables(con)
        record_config(con, load(folder / form / "cluster.toml"))
        read_into(con, FORMS[form], next((folder / form / "raw").iterdir()))
        build(con, only=["node_exclusions"])
        columns = ", ".join(("node", *FIGURES))
        rows = con.execute(f"select {columns} from marts.node_exclusions({WINDOW}) order by node").fetchall()
    wanted = [(node, *(figures[name] for name in FIGURES)) for node, figures in sorted(truth["nodes"].items())]
    assert [row[:3] for row in rows] == [row[:3] for row in wanted]
    assert [row[3:] for row in rows] == [pytest.approx(row[3:], abs=1e-9, nan_ok=False) for row in wanted]
