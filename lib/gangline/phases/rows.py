"""Findings as rows of the tables `meta.checkpoint_*`."""

from dataclasses import dataclass, field
from typing import Any

import polars as pl

from gangline.phases.bursts import Burst
from gangline.phases.findings import Findings
from gangline.phases.saves import Save
from gangline.phases.steps import SessionSteps
from gangline.sources.samples import instant_of_ms

_AT = pl.Datetime("ms", "UTC")
_BURST = {
    "session_key": pl.Int32,
    "started_at": _AT,
    "ended_at": _AT,
    "step_s": pl.Float64,
    "bytes": pl.Float64,
    "known_s": pl.Float64,
    "mean_bytes_per_s": pl.Float64,
    "peak_bytes_per_s": pl.Float64,
    "node_count": pl.Int32,
    "reporting_nodes": pl.Int32,
}
_SAVE_ONLY = {
    "writer_nodes": pl.Int32,
    "util_stall_s": pl.Float64,
    "is_completed": pl.Boolean,
    "is_span_seen": pl.Boolean,
}
SCHEMAS: dict[str, dict[str, Any]] = {
    "checkpoint_sessions": {
        "session_key": pl.Int32,
        "step_s": pl.Float64,
        "node_count": pl.Int32,
        "steps": pl.Int64,
        "known_steps": pl.Int64,
        "read_steps": pl.Int64,
        "util_steps": pl.Int64,
        "training_util_ratio": pl.Float64,
        "reason": pl.String,
        "known_from": _AT,
        "known_until": _AT,
    },
    "checkpoint_phases": {"session_key": pl.Int32, "phase": pl.String, "started_at": _AT, "ended_at": _AT},
    "checkpoint_saves": _BURST | _SAVE_ONLY,
    "checkpoint_loads": _BURST,
}


@dataclass
class Rows:
    """Rows by table, gathered session by session."""

    by_table: dict[str, list[tuple[Any, ...]]] = field(default_factory=lambda: {table: [] for table in SCHEMAS})

    def add(self, session_key: int, steps: SessionSteps, found: Findings) -> None:
        """Takes what was found in one session."""
        nodes = int(steps.members.max(initial=0))
        counts = found.known_steps, found.read_steps, found.util_steps
        known = (None, None) if found.known_span is None else map(instant_of_ms, found.known_span)
        row = session_key, steps.step_s, nodes, steps.count, *counts, found.training_util, None, *known
        self.by_table["checkpoint_sessions"].append(row)
        self.by_table["checkpoint_saves"] += [_save(session_key, save) for save in found.saves]
        self.by_table["checkpoint_loads"] += [_burst(session_key, load) for load in found.loads]
        self.by_table["checkpoint_phases"] += [
            (session_key, phase.word, instant_of_ms(start_ms), instant_of_ms(end_ms))
            for phase, start_ms, end_ms in found.spans
        ]

    def add_unread(self, session_key: int, node_count: int, reason: str) -> None:
        """Takes a session that nothing was read of."""
        self.by_table["checkpoint_sessions"].append(
            (session_key, None, node_count, 0, 0, 0, 0, None, reason, None, None)
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """A frame a table."""
        return {
            table: pl.DataFrame(self.by_table[table], schema=schema, orient="row") for table, schema in SCHEMAS.items()
        }


def _burst(session_key: int, burst: Burst) -> tuple[Any, ...]:
    return (
        session_key,
        instant_of_ms(burst.start_ms),
        instant_of_ms(burst.end_ms),
        burst.step_s,
        burst.bytes,
        burst.known_s,
        burst.mean_bytes_per_s,
        burst.peak_bytes_per_s,
        burst.node_count,
        burst.reporting_nodes,
    )


def _save(session_key: int, save: Save) -> tuple[Any, ...]:
    own = save.writer_nodes, save.util_stall_s, save.is_completed, save.is_span_seen
    return *_burst(session_key, save.burst), *own
