"""The cluster's one DuckDB file: opened read-only by many, replaced whole by one writer at a time."""

from gangline.warehouse.opening import WarehouseError, connect, connect_file, samples_of, telemetry_of
from gangline.warehouse.spans import export_span, reaches_into
from gangline.warehouse.tables import SCHEMA_VERSION, create_tables, record_config
from gangline.warehouse.writing import writing

__all__ = [
    "SCHEMA_VERSION",
    "WarehouseError",
    "connect",
    "connect_file",
    "create_tables",
    "export_span",
    "reaches_into",
    "record_config",
    "samples_of",
    "telemetry_of",
    "writing",
]
