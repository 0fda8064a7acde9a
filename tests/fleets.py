"""Small clusters for tests of sessions, exclusions, incidents and their pages: gangs and others, in hours of March."""

import atexit
import csv
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import duckdb

from gangline import config as configs
from gangline.build import build
from gangline.config import Config
from gangline.ingest import ingest
from gangline.windows import Window
from tests.conftest import ROOT
from tests.sql.given import warehouse_of

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
SESSION_HEAD = "session_id, job_name, owner, nodes, gpu_count, created_at, started_at, ended_at, state_key"
INCIDENT_HEAD = "file, incident_id, node, started_at, ended_at, kind"
LATEST_H = 240
MODELS = ("sessions", "nodes", "node_states", "node_incidents", "events", "gang_candidates", "session_nodes")
MACROS = ("gang_composition", "sessions_within", "node_exclusions", "gang_exclusions", "capacity", "exclusion_holders")


def at(hour: float) -> str:
    """An instant of the story."""
    return (MARCH + timedelta(hours=hour)).isoformat()


def session(
    name: str, nodes: str, start: float, length: float | None, state: str = "completed", gpus: float = 8
) -> str:
    """A line of an export: `length` hours on the nodes, still running where it is None."""
    end = "" if length is None else at(start + length)
    word = "running" if length is None else state
    return f'{name}, train, ana, "{nodes}", {gpus}, {at(start)}, {at(start)}, {end}, {word}'


def incident(name: str, node: str, start: float, length: float | None, kind: str = "GPU") -> str:
    """A line of an incident file, still open where `length` is None."""
    return f"incidents, {name}, {node}, {at(start)}, {'' if length is None else at(start + length)}, {kind}"


@contextmanager
def fleet_of(
    sessions: Sequence[str] = (), incidents: Sequence[str] | None = None, **sections: object
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A built warehouse of these lines; no incident file where `incidents` is None; `sections`: config."""
    kinds = ["sessions_csv"] * bool(sessions) + ["incidents"] * (incidents is not None)
    given = {
        "config": sections,
        "files": [{"id": kind.removesuffix("_csv"), "kind": kind, "latest_at": at(LATEST_H)} for kind in kinds],
        "sessions": "\n".join([SESSION_HEAD, *sessions]) if sessions else "",
        "incidents": "\n".join([INCIDENT_HEAD, *incidents]) if incidents else "",
    }
    with warehouse_of(given) as con:
        build(con, only=[*MODELS, *MACROS])
        yield con


def days(first: int, after: int) -> Window:
    """A window of whole days of March."""
    return Window.between(f"2026-03-{first:02d}", f"2026-03-{after:02d}", "UTC")


@cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="gangline-fleets-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def sample() -> Config:
    """The committed export, ingested."""
    return ingested(ROOT / "data" / "sample", "sample")


@cache
def ingested(source: Path, name: str) -> Config:
    """A copy of a folder with its cluster.toml, ingested; made once a test run."""
    folder = _folder() / name
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("warehouse*", "telemetry", "__pycache__"))
    return _ingested(folder)


def written(name: str, toml: str, **tables: Sequence[Sequence[str]]) -> Config:
    """A cluster of the given CSV tables (`sessions`, `incidents`; the first row names the columns), ingested."""
    folder = _folder() / name
    folder.mkdir()
    (folder / "cluster.toml").write_text(f'[cluster]\nname = "{name}"\ntime_zone = "UTC"\n{toml}', "utf-8")
    for table, rows in tables.items():
        with (folder / f"{table}.csv").open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows(rows)
    return _ingested(folder)


def _ingested(folder: Path) -> Config:
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    config = configs.load(folder / "cluster.toml")
    ingest(config)
    return config
