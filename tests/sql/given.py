"""Rows of a scenario, put into a warehouse as the sources would have put them."""

import csv
import io
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import yaml

from gangline.config.model import Config
from gangline.hostlists import expand
from gangline.warehouse import create_tables, record_config

RAW_TABLES = {
    "sessions": "session_records",
    "parts": "session_node_records",
    "statuses": "session_status_records",
    "node_states": "node_state_records",
    "incidents": "incident_records",
    "annotations": "annotation_records",
    "runs": "run_records",
    "run_steps": "run_step_records",
    "kernel_events": "kernel_event_records",
    "kernel_logs": "kernel_log_records",
    "console": "console_records",
}
META_TABLES = {"series": "series_seen", "xid_edges": "xid_edges", "console_signatures": "console_signatures"} | {
    f"telemetry_{what}": f"checkpoint_{what}" for what in ("rules", "sessions", "phases", "saves", "loads")
}
HOST_LISTS = ("nodes", "excluded_nodes")
CLUSTER = {"name": "test", "time_zone": "UTC"}
ONE_FILE = [{"id": "export", "kind": "sessions_csv", "latest_at": "2026-04-01T00:00:00Z"}]


def read_given(path: Path) -> dict[str, Any]:
    """A scenario's `given.yml`: config, files, and one CSV text per raw table."""
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")))


def warehouse_of(given: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """An in-memory warehouse that holds what is given, before any model is built."""
    con = duckdb.connect()
    con.execute("set TimeZone = 'UTC'")
    create_tables(con)
    record_config(con, _config(given.get("config", {})))
    files = given.get("files", ONE_FILE)
    for file in files:
        _put_file(con, file)
    for name, table in RAW_TABLES.items():
        for line, row in enumerate(_rows(given.get(name, "")), start=2):
            _put_row(con, f"raw.{table}", {"line": str(line), "file_id": files[0]["id"], **row})
    for name, table in META_TABLES.items():
        for row in _rows(given.get(name, "")):
            _put_row(con, f"meta.{table}", row)
    return con


def _config(sections: dict[str, Any]) -> Config:
    cluster = CLUSTER | sections.get("cluster", {})
    return Config.model_validate(_with_instants(sections | {"cluster": cluster}))


def _with_instants(value: Any) -> Any:
    """Instants are written as text, and the config's model takes none."""
    if isinstance(value, dict):
        return {key: _instant(item) if key in ("from", "to") else _with_instants(item) for key, item in value.items()}
    return [_with_instants(item) for item in value] if isinstance(value, list) else value


def _instant(value: str | datetime) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(value)


def _put_file(con: duckdb.DuckDBPyConnection, file: dict[str, Any]) -> None:
    source_id = file.get("source", file["kind"])
    con.execute(
        """insert into meta.files by name select ? as file_id, ? as source_id, ? as kind, ? as path, ? as sha256,
        0 as size_bytes, '' as options_hash, 1 as reader_version, 0 as records, 0 as loaded, 0 as ignored,
        0 as rejected, ?::timestamptz as latest_at, now() as loaded_at""",
        [file["id"], source_id, file["kind"], f"raw/{file['id']}", file.get("sha256", file["id"]), file["latest_at"]],
    )
    con.execute(
        """insert or ignore into meta.sources by name select ? as source_id, ? as kind, 'raw/*' as path,
        ?::timestamptz as exported_at, 0 as position, true as is_configured""",
        [source_id, file["kind"], file.get("exported_at")],
    )


def _rows(table: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table), skipinitialspace=True))


def _put_row(con: duckdb.DuckDBPyConnection, table: str, row: dict[str, str]) -> None:
    if "file" in row:
        row["file_id"] = row.pop("file")
    values = [_value(name, value) for name, value in row.items()]
    columns = ", ".join(f'"{name}"' for name in row)
    marks = ", ".join("?" for _ in row)
    con.execute(f"insert into {table} ({columns}) values ({marks})", values)


def _value(name: str, value: str) -> object:
    if name in HOST_LISTS:
        return None if value == "?" else list(expand(value))
    return value or None
