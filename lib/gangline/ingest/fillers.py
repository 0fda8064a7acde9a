"""What Python computes while the models are built, into tables of `meta`: each before the model that reads it."""

from collections.abc import Callable

import duckdb

from gangline.build import Filler
from gangline.config.model import Config
from gangline.ingest.checkpoint_nodes import fill_checkpoint_nodes
from gangline.ingest.checkpoint_phases import fill_checkpoint_phases
from gangline.ingest.checkpoint_requests import fill_checkpoint_requests
from gangline.ingest.console_signatures import fill_console_signatures
from gangline.ingest.gpu_training import fill_gpu_training
from gangline.ingest.storage_levels import fill_storage_levels
from gangline.ingest.xid_edges import fill_xid_edges

FILLERS: dict[str, Callable[[duckdb.DuckDBPyConnection, Config], None]] = {
    "intermediate.int_gpu_training_found": fill_gpu_training,
    "intermediate.int_xid_edges_found": fill_xid_edges,
    "intermediate.int_console_lines_signed": fill_console_signatures,
    "intermediate.int_checkpoint_sessions_measured": fill_checkpoint_phases,
    "intermediate.int_checkpoint_windows_measured": fill_checkpoint_nodes,
    "marts.checkpoint_requests": fill_checkpoint_requests,
    "marts.storage_levels": fill_storage_levels,
}
"""By the full name of the model."""


def fillers_of(config: Config) -> dict[str, Filler]:
    """The fillers of a cluster, as `build` takes them."""
    return {model: _filler(fill, config) for model, fill in FILLERS.items()}


def _filler(fill: Callable[[duckdb.DuckDBPyConnection, Config], None], config: Config) -> Filler:
    return lambda con: fill(con, config)
