"""A plan's exports in a folder: whole or to be continued, and never over files that no simulation wrote."""

import hashlib
import json
import shutil
from pathlib import Path

from gangline import __version__
from gangline.simulate.backendai_nodes import write_pages
from gangline.simulate.cluster_config import config_text
from gangline.simulate.kernel_logs import write_logs
from gangline.simulate.node_events import write_events
from gangline.simulate.plan import Plan
from gangline.simulate.run_logs import write_runs
from gangline.simulate.telemetry_files import Listener, write_telemetry
from gangline.simulate.truth import write_truth

RAW, MARK, UNDER_WAY = "raw", "SIMULATED", "SIMULATED.part"
FOLDERS = ("sessions", "telemetry", "wandb", "kernel")
EXPORTS_VERSION = 1  # of what the exporters write of a plan
WORDS = """\
Everything under raw/ was written by `gangline simulate`, version {version}, seed {seed}: no cluster ever ran any of it.
truth.json says what was drawn. The exports may be deleted once they are ingested.
plan {digest}
"""


class ForeignFilesError(ValueError):
    """The folder holds exports that no simulation wrote."""


def digest_of(plan: Plan) -> str:
    """What tells one plan's exports from another's."""
    told = json.dumps([EXPORTS_VERSION, repr(plan)])
    return hashlib.sha256(told.encode()).hexdigest()


def is_written(folder: Path, plan: Plan) -> bool:
    """Whether the folder holds this plan's exports, and none of their folders was deleted since."""
    mark = folder / MARK
    is_own = mark.is_file() and f"plan {digest_of(plan)}\n" in mark.read_text()
    return is_own and all((folder / RAW / name).is_dir() for name in FOLDERS)


def telemetry_of(folder: Path) -> Path:
    """Where a cluster's folder holds its telemetry."""
    return folder / RAW / FOLDERS[1]


def write_exports(folder: Path, plan: Plan, listener: Listener, workers: int | None = None) -> None:
    """Writes all exports of a plan; one that was broken off goes on, one of another plan is replaced.

    Parameters
    ----------
    listener
        Told the file at work, how many are done and how many there are.

    Raises
    ------
    ForeignFilesError
        If the folder holds exports of another origin, with what to do.
    """
    _make_room(folder, plan)
    raw = folder / RAW
    write_pages(raw / "sessions", plan)
    write_logs(raw / "kernel", plan)
    write_events(raw / "node_events.txt", plan)
    write_runs(raw / "wandb", plan)
    write_telemetry(telemetry_of(folder), plan, listener, workers)
    write_truth(folder / "truth.json", plan)
    if not (folder / "cluster.toml").exists():
        (folder / "cluster.toml").write_text(config_text(plan))
    (folder / UNDER_WAY).replace(folder / MARK)


def _make_room(folder: Path, plan: Plan) -> None:
    """Leaves what this plan's export had finished; removes what was written for another."""
    folder.mkdir(parents=True, exist_ok=True)
    words = WORDS.format(version=__version__, seed=plan.seed, digest=digest_of(plan))
    part = folder / UNDER_WAY
    is_own = part.is_file() or (folder / MARK).is_file()
    if (folder / RAW).exists() and not is_own:
        raise ForeignFilesError(
            f"{folder / RAW}: holds files that no simulation wrote: choose another --out, or move them away"
        )
    if (folder / RAW).exists() and not (part.is_file() and part.read_text() == words):
        shutil.rmtree(folder / RAW)
    (folder / MARK).unlink(missing_ok=True)
    part.write_text(words)
