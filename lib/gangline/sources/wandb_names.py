"""What the names of W&B's files and folders say: which to read, and the run id of those that hold none."""

import os
import re
from pathlib import Path

LOG_NAME = re.compile(r"\.wandb(\.gz|\.zst)?$")
OLD_HISTORY_NAME = "wandb-history.jsonl"  # before 0.10 a run folder held its history as plain lines
SYNCED_MARK = ".wandb.synced"
RUN_ID_PATTERNS = (
    re.compile(r"^run-(?P<id>.+)\.wandb"),
    re.compile(r"^run-(?P<id>.+?)-history"),
    re.compile(r"^(?:offline-)?run-\d{8}_\d{6}-(?P<id>.+)$"),
)
ENDINGS = re.compile(r"(\.(gz|zst|csv|jsonl|ndjson|json|parquet|wandb))+$", re.IGNORECASE)


def files(path: Path) -> list[Path]:
    """The files to read where a source's path matches `path`: a wandb folder, a run folder, or a file.

    Links (`latest-run`) are resolved or left out, so that no run is found twice; `.wandb.synced` marks are left out.
    A folder gives its logs; an export in it must be named by the path itself.
    """
    if path.is_symlink():
        path = path.parent / path.readlink()
    elif path.parent.is_symlink():
        path = path.parent.parent / path.parent.readlink() / path.name
    if path.is_file():
        return [] if path.name.endswith(SYNCED_MARK) else [Path(os.path.normpath(path))]
    return sorted(found for found in _walked(path) if _is_read(found))


def _walked(folder: Path) -> list[Path]:
    """Every file under a folder, links left out."""
    found = [Path(parent) / name for parent, _, names in os.walk(os.path.normpath(folder)) for name in names]
    return [path for path in found if not path.is_symlink()]


def _is_read(path: Path) -> bool:
    return LOG_NAME.search(path.name) is not None or path.name == OLD_HISTORY_NAME


def run_id_in(path: Path) -> str:
    """The run id that a file's or its folder's name holds, else the file's name without endings.

    Examples
    --------
    >>> run_id_in(Path("wandb/offline-run-20260301_101500-k3x/run-k3x.wandb"))
    'k3x'
    >>> run_id_in(Path("exports/run-k3x-history:v0/0000.parquet")), run_id_in(Path("loss of k3x.csv.gz"))
    ('k3x', 'loss of k3x')
    """
    for name in (path.name, path.parent.name):
        for pattern in RUN_ID_PATTERNS:
            if match := pattern.search(name):
                return match["id"]
    return ENDINGS.sub("", path.name) or path.name
