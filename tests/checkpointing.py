"""A small cluster with runs and checkpoints, for tests of page 06: in minutes of one day, its marts filled by hand.

Session a fails at 10:00, b is stopped at 16:40, c fails without having trained, d is open when the export is made.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cache

import duckdb
import yaml

from gangline.build import build
from tests.conftest import ROOT
from tests.recovering import DAY, HEAD, LATEST, MARTS, at, launch
from tests.running import RUN_HEAD, RUN_MARTS, STEP_HEAD, step_lines
from tests.sql.given import warehouse_of

CHECKPOINT_MARTS = ("checkpoint_saves", "checkpoint_loads", "phases", "checkpoint_sessions", "checkpoint_rules")
INSTANTS = (
    "started_at",
    "ended_at",
    "until_at",
    "session_started_at",
    "first_step_at",
    "training_from",
    "known_from",
    "known_until",
)
SESSIONS = (
    launch("a", "kim", 0, 600),
    launch("b", "kim", 610, 390, "killed"),
    launch("c", "kim", 1010, 20),
    launch("d", "kim", 1100, None, "running"),
)
RUNS: dict[str, tuple[float, float, str]] = {
    "ra": (5, 600, "crashed"),
    "rb": (620, 980, "killed"),
    "rd": (1105, 1400, "running"),
}
# A step is a minute: a reaches 580 and b resumes at 510; b reaches 800 and d resumes at 540.
HISTORY: dict[str, list[tuple[float, int, float]]] = {
    "ra": [(minute, minute - 10, 2.0) for minute in range(20, 591, 10)],
    "rb": [(minute, minute - 130, 2.0) for minute in range(640, 931, 10)],
    "rd": [(minute, minute - 580, 2.0) for minute in range(1120, 1391, 10)],
}
# Session, start, length (s), stall (s), stage; a's third comes after twice the time, b's third soon after its second.
SAVES: tuple[tuple[str, float, float, float | None, str | None], ...] = (
    ("a", 60, 60, 20, "4K"),
    ("a", 160, 60, 30, "4K"),
    ("a", 360, 60, 40, "4K"),
    ("a", 460, 60, 30, "4K"),
    ("b", 700, 60, 30, "4K"),
    ("b", 800, 60, 30, "4K"),
    ("b", 840, 60, 30, "4K"),
    ("b", 940, 60, 30, "4K"),
    ("d", 1150, 30, None, "32K"),
    ("d", 1300, 30, None, "32K"),
)
# Session, start and length in minutes, first step.
LOADS: tuple[tuple[str, float, float, float], ...] = (("a", 2, 10, 20), ("b", 614, 20, 640), ("d", 1102, 12, 1120))
TOO_COARSE = "a scrape step of 120 s is over 60 s: too coarse to measure it"
NO_NODES = "no telemetry of its nodes from its time"
CONFIG: dict[str, object] = {
    "cluster": {"gang_min_nodes": 2, "gpus_per_node": 8},
    "storage": {"max_read_gb_per_s": 100, "max_write_gb_per_s": 50},
}
Row = Mapping[str, object]


@contextmanager
def cluster_with_checkpoints(
    *, has_runs: bool = True, saves: Sequence[Row] | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """The warehouse of the story, built once; what is changed in it is taken back at the end.

    `saves` stand in for its own, in rows of `save`.
    """
    con = _built(has_runs=has_runs).cursor()
    con.execute("set TimeZone = 'UTC'")
    con.execute("begin")
    if saves is not None:
        fill(con, "checkpoint_saves", saves)
    yield con
    con.execute("rollback")
    con.close()


@cache
def _built(*, has_runs: bool) -> duckdb.DuckDBPyConnection:
    given = {
        "config": CONFIG,
        "files": [
            {"id": "jobs", "kind": "sessions_csv", "latest_at": LATEST},
            {"id": "export", "kind": "wandb", "latest_at": LATEST},
        ],
        "sessions": "\n".join([HEAD, *SESSIONS]),
        "runs": "\n".join([RUN_HEAD, *_run_lines()]) if has_runs else "",
        "run_steps": "\n".join([STEP_HEAD, *step_lines(HISTORY, ["loss"])]) if has_runs else "",
    }
    con = warehouse_of(given)
    build(con, only=[*MARTS, *RUN_MARTS, "downtimes_within"])
    fill(con, "checkpoint_saves", [save(*row) for row in SAVES])
    fill(con, "checkpoint_loads", [load(*row) for row in LOADS])
    fill(con, "phases", [phase("a", 0, 2, "unknown"), phase("a", 2, 12, "load"), phase("a", 12, 600, "training")])
    fill(con, "checkpoint_sessions", [*COVERED, covered("c", 1010, 1030, NO_NODES)])
    fill(con, "checkpoint_rules", [{"max_read_bytes_per_s": 100e9, "max_write_bytes_per_s": 50e9}])
    return con


def fill(con: duckdb.DuckDBPyConnection, mart: str, rows: Sequence[Row]) -> None:
    """Make a mart of its contract's columns and put rows into it; a column that a row lacks is null."""
    contract = yaml.safe_load((ROOT / "sql" / "marts" / f"{mart}.yml").read_text("utf-8"))
    columns = ", ".join(f'"{name}" {column["type"]}' for name, column in contract["columns"].items())
    con.execute(f"create or replace table marts.{mart} ({columns})")
    for row in rows:
        names, marks = ", ".join(f'"{name}"' for name in row), ", ".join("?" for _ in row)
        values = [_instant(name, value) for name, value in row.items()]
        con.execute(f"insert into marts.{mart} ({names}) values ({marks})", values)


def save(session: str, start: float, length_s: float, stall_s: float | None, stage: str | None) -> dict[str, object]:
    """A save, of 40 GB/s where the first of the story wrote 10."""
    before = [row[1] for row in SAVES if row[0] == session and row[1] < start]
    return {
        "save_id": f"save:{session}:{start:g}",
        "session_id": session,
        "started_at": start,
        "ended_at": start + length_s / 60,
        "duration_s": length_s,
        "stall_s": stall_s,
        "stall_reason": TOO_COARSE if stall_s is None else None,
        "stage": stage,
        "interval_s": (start - before[-1]) * 60 if before else None,
        "save_evidence": "telemetry",
        "is_completed": True,
        "mean_bytes_per_s": 10e9 if start == 60 else 40e9,
        "save_number": len(before) + 1,
    }


def load(session: str, start: float, length_min: float, first_step: float) -> dict[str, object]:
    """A load at 20 GB/s, 40 at its peak."""
    begun = {"a": 0.0, "b": 610.0, "d": 1100.0}[session]
    return {
        "load_id": f"load:{session}",
        "session_id": session,
        "started_at": start,
        "ended_at": start + length_min,
        "duration_s": length_min * 60,
        "bytes": length_min * 60 * 20e9,
        "mean_bytes_per_s": 20e9,
        "peak_bytes_per_s": 40e9,
        "node_count": 2,
        "session_started_at": begun,
        "first_step_at": first_step,
        "start_to_load_s": (start - begun) * 60,
    }


def phase(session: str, start: float, end: float, name: str) -> dict[str, object]:
    """A stretch of a session."""
    return {"session_id": session, "phase": name, "started_at": start, "ended_at": end}


def covered(session: str, start: float, until: float, reason: str | None = None) -> dict[str, object]:
    """A session that telemetry covers, or the reason why it does not."""
    known = None if reason else 1.0
    return {
        "session_id": session,
        "started_at": start,
        "until_at": until,
        "node_count": 2,
        "known_ratio": known,
        "known_from": None if reason else start,
        "known_until": None if reason else until,
        "read_known_ratio": known,
        "util_known_ratio": known,
        "saves": sum(row[0] == session for row in SAVES),
        "save_evidence": None if reason else "telemetry",
        "has_load": reason is None,
        "telemetry_reason": reason,
        "load_reason": reason,
    }


COVERED = (covered("a", 0, 600), covered("b", 610, 1000), covered("d", 1100, 12960))


def _run_lines() -> list[str]:
    return [
        f'export, {run}, column, "train", kim, {at(begin)}, {at(begin)}, {at(end)}, {state}, source_state, '
        f"{len(HISTORY[run])}, false"
        for run, (begin, end, state) in RUNS.items()
    ]


def _instant(name: str, value: object) -> object:
    return DAY + timedelta(minutes=value) if name in INSTANTS and isinstance(value, int | float) else value
