"""The tables that ingest fills: raw records as sources gave them, and the ledger in `meta`."""

import json
from datetime import datetime
from typing import Any

import duckdb
import polars as pl
from pydantic import BaseModel

from gangline.config.model import Cluster, Config
from gangline.hostlists import expand
from gangline.sources.records import SCHEMAS
from gangline.store.tables import create_store_tables

SCHEMA_VERSION = 1
SCHEMA_NAMES = ("raw", "staging", "intermediate", "marts", "meta")

_META_TABLES: dict[str, str] = {
    "files": """file_id varchar primary key, source_id varchar not null, kind varchar not null, path varchar not null,
        sha256 varchar not null, size_bytes bigint not null, modified_ns bigint, options_hash varchar not null,
        reader_version integer not null, records bigint not null, loaded bigint not null, ignored bigint not null,
        rejected bigint not null, ignored_kinds json, first_at timestamptz, latest_at timestamptz,
        loaded_at timestamptz not null""",
    "sources": """source_id varchar primary key, kind varchar not null, path varchar not null, time_zone varchar,
        exported_at timestamptz, position integer not null, is_configured boolean not null, file_count bigint""",
    "rejects": "file_id varchar not null, line bigint, reason varchar not null, text varchar",
    "oddities": "file_id varchar not null, kind varchar not null, count bigint not null, line bigint",
    "checks": """model varchar not null, check_name varchar not null, severity varchar not null,
        failing_rows bigint, message varchar""",
    "build": "key varchar primary key, value varchar",
    "gpu_training": """session_key integer primary key, is_covered boolean not null, reached_training boolean not null,
        training_from timestamptz, is_weak boolean not null, gpus_seen integer not null""",
    "checkpoint_rules": """save_start_bytes_per_s double, save_end_bytes_per_s double, load_read_bytes_per_s double,
        write_metric varchar, read_metric varchar, util_metric varchar, save_reason varchar, load_reason varchar""",
    "checkpoint_sessions": """session_key integer primary key, step_s double, node_count integer not null,
        steps bigint not null, known_steps bigint not null, read_steps bigint not null, util_steps bigint not null,
        training_util_ratio double, reason varchar, known_from timestamptz, known_until timestamptz""",
    "checkpoint_phases": """session_key integer not null, phase varchar not null, started_at timestamptz not null,
        ended_at timestamptz not null""",
    "checkpoint_saves": """session_key integer not null, started_at timestamptz not null, ended_at timestamptz not null,
        step_s double not null, bytes double not null, known_s double not null, mean_bytes_per_s double,
        peak_bytes_per_s double, writer_nodes integer not null, node_count integer not null, reporting_nodes integer,
        util_stall_s double, is_completed boolean not null, is_span_seen boolean not null""",
    "checkpoint_loads": """session_key integer not null, started_at timestamptz not null, ended_at timestamptz not null,
        step_s double not null, bytes double not null, known_s double not null, mean_bytes_per_s double,
        peak_bytes_per_s double, node_count integer not null, reporting_nodes integer""",
    "checkpoint_requests": """phase varchar not null, checkpoint_id varchar not null, node varchar not null,
        operation varchar not null, coverage_ratio double not null, is_told boolean not null, requests double not null,
        request_s double, queue_s double, response_s double, sent_bytes double, received_bytes double,
        transmissions double, major_timeouts double""",
    "checkpoint_nodes": """phase varchar not null, checkpoint_id varchar not null, node varchar not null,
        role varchar not null, kind varchar not null, unit varchar not null, inside double, around double,
        coverage_ratio double, mostly_s double, first_level double, peak_level double, last_level double""",
    "checkpoint_courses": """phase varchar not null, checkpoint_id varchar not null, role varchar not null,
        "at" timestamptz not null, unit varchar not null, total double not null, reporting_nodes integer not null""",
    "storage_levels": """export varchar not null, "at" timestamptz not null, file_system varchar not null,
        size_bytes double not null, available_bytes double not null""",
    "xid_edges": """series_id bigint not null, seen_at timestamptz not null, previous_at timestamptz,
        code bigint not null""",
    "xid_series": "series_id bigint primary key",
    "console_signatures": """file_id varchar not null, line bigint not null, ordinal bigint not null,
        rule_id varchar not null""",
    "inventory": "node varchar primary key, position integer not null",
    "node_periods": "node varchar not null, from_at timestamptz, to_at timestamptz",
    "maintenance": "from_at timestamptz, to_at timestamptz, note varchar",
    "stages": "name varchar not null, from_at timestamptz, to_at timestamptz",
}

_KEPT_TABLES = ("files", "sources", "rejects", "oddities", "checks", "build")
"""What no build fills again; the others may change their columns from version to version."""

_SQL_TYPES: dict[Any, str] = {
    pl.Int64: "bigint",
    pl.Int32: "integer",
    pl.Float64: "double",
    pl.String: "varchar",
    pl.Boolean: "boolean",
    pl.List(pl.String): "varchar[]",
    pl.Datetime("us", "UTC"): "timestamptz",
    pl.Datetime("ms", "UTC"): "timestamptz",
}
_SETTING_TYPES: dict[type, str] = {bool: "boolean", int: "bigint", float: "double", str: "varchar", list: "varchar[]"}


def create_tables(con: duckdb.DuckDBPyConnection) -> None:
    """Makes every schema, `meta` table and `raw` table that is not there; a raw table gains columns it lacks."""
    for schema in SCHEMA_NAMES:
        con.execute(f"create schema if not exists {schema}")
    for name, columns in _META_TABLES.items():
        how = "create table if not exists" if name in _KEPT_TABLES else "create or replace table"
        con.execute(f"{how} meta.{name} ({columns})")
    _create_settings(con)
    _create_raw_tables(con)
    create_store_tables(con)


def _create_raw_tables(con: duckdb.DuckDBPyConnection) -> None:
    rows = con.execute("select table_name, column_name from duckdb_columns() where schema_name = 'raw'").fetchall()
    for table, schema_of_table in SCHEMAS.items():
        columns = {name: f'"{name}" {_SQL_TYPES[dtype]}' for name, dtype in schema_of_table.items()}
        known = {column for of_table, column in rows if of_table == table}
        lacking = [column for name, column in columns.items() if name not in known]
        if not known:
            con.execute(f"create table raw.{table} ({', '.join(lacking)}, file_id varchar not null)")
        else:
            for column in lacking:
                con.execute(f"alter table raw.{table} add column {column}")


def record_config(con: duckdb.DuckDBPyConnection, config: Config) -> None:
    """Writes what SQL may ask of the config: `meta.settings` (one row) and the lists beside it."""
    _create_settings(con)
    settings = _settings_of(config)
    marks = ", ".join("?" for _ in settings)
    con.execute("delete from meta.settings")
    con.execute(f"insert into meta.settings values ({marks})", list(settings.values()))  # noqa: S608
    _fill(con, "inventory", [(node, position) for position, node in enumerate(config.cluster.inventory())])
    _fill(con, "maintenance", [(period.from_at, period.to_at, period.note) for period in config.maintenance])
    _fill(con, "stages", [(stage.name, stage.from_at, stage.to_at) for stage in config.stages])
    _fill(con, "node_periods", _node_periods(config))


def _node_periods(config: Config) -> list[tuple[str, datetime | None, datetime | None]]:
    return [(node, period.from_at, period.to_at) for period in config.nodes for node in expand(period.name)]


def _fill(con: duckdb.DuckDBPyConnection, table: str, rows: list[tuple[Any, ...]]) -> None:
    con.execute(f"delete from meta.{table}")  # noqa: S608
    if rows:
        marks = ", ".join("?" for _ in rows[0])
        con.executemany(f"insert into meta.{table} values ({marks})", rows)  # noqa: S608


def _create_settings(con: duckdb.DuckDBPyConnection) -> None:
    """One column a threshold, named section_key, so that a new key of the model reaches SQL by itself."""
    columns = ", ".join(f"{name} {_setting_type(annotation)}" for name, annotation in _setting_fields().items())
    con.execute(f"create or replace table meta.settings ({columns})")


def _setting_fields() -> dict[str, Any]:
    fields = {
        ("cluster_name" if name == "name" else name): field.annotation
        for name, field in Cluster.model_fields.items()
        if name != "nodes"
    }
    for section, field in Config.model_fields.items():
        model = field.annotation
        if section != "cluster" and isinstance(model, type) and issubclass(model, BaseModel):
            fields |= {f"{section}_{name}": inner.annotation for name, inner in model.model_fields.items()}
    return fields


def _setting_type(annotation: Any) -> str:
    text = str(annotation)
    if "list" in text:
        return "varchar[]"
    for python_type in (bool, float, int):
        if annotation is python_type or python_type.__name__ in text:
            return _SETTING_TYPES[python_type]
    return "varchar"


def _settings_of(config: Config) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in _setting_fields():
        section, _, key = name.partition("_")
        if name == "cluster_name":
            values[name] = config.cluster.name
        elif name in Cluster.model_fields:
            values[name] = getattr(config.cluster, name)
        elif name.startswith("end_class_"):
            values[name] = getattr(config.end_class, name.removeprefix("end_class_"))
        else:
            values[name] = getattr(getattr(config, section), key)
    return values


def set_build(con: duckdb.DuckDBPyConnection, **facts: object) -> None:
    """Writes facts of this build (versions, hashes) into `meta.build`."""
    for key, value in facts.items():
        text = value if isinstance(value, str) else json.dumps(value, default=str)
        con.execute("insert or replace into meta.build values (?, ?)", [key, text])


def get_build(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The facts of the build that this warehouse holds; empty where it holds none."""
    known = con.execute(
        "select 1 from information_schema.tables where table_schema = 'meta' and table_name = 'build'"
    ).fetchone()
    return dict(con.execute("select key, value from meta.build").fetchall()) if known else {}
