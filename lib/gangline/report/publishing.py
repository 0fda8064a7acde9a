"""Files of a window's folder: each replaced whole, a failed page never in the place of a good one."""

import csv
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gangline.report import outputs
from gangline.report.figures import KEYS
from gangline.windows import Window

LOG = "run.log"
WORK_PREFIX = ".work-"
SCHEMA = 1
MISSING_PAGE = (
    "<!DOCTYPE html><meta charset='utf-8'><title>failed</title><p>This page broke before it could be written."
)


@dataclass(frozen=True, slots=True)
class Publisher:
    """Puts pages into a window's folder."""

    folder: Path
    now: datetime

    @contextmanager
    def work_folder(self) -> Iterator[Path]:
        """Give a folder on the same disk for pages in the making; those of runs that are gone are removed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for left in self.folder.glob(f"{WORK_PREFIX}*"):
            if not _is_alive(left.name.removeprefix(WORK_PREFIX).partition("-")[0]):
                shutil.rmtree(left, ignore_errors=True)
        work = Path(tempfile.mkdtemp(prefix=f"{WORK_PREFIX}{os.getpid()}-", dir=self.folder))
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def publish(self, name: str, work: Path, problem: str) -> Path:
        """Put a finished page and its notebook in their place; a complete one removes a failed one and a PDF."""
        ending = ".failed" if problem else ""
        page = self.folder / f"{name}{ending}.html"
        if not (work / "page.html").is_file():
            (work / "page.html").write_text(MISSING_PAGE, "utf-8")
        for made, suffix in (("page.ipynb", ".ipynb"), ("page.html", ".html")):
            if (work / made).is_file():
                (work / made).replace(self.folder / f"{name}{ending}{suffix}")
        if not problem:
            for suffix in (".failed.html", ".failed.ipynb", ".pdf"):
                (self.folder / f"{name}{suffix}").unlink(missing_ok=True)
        self._keep_messages(name, work)
        return page

    def log(self, line: str) -> None:
        """Add a line to the window's log."""
        with (self.folder / LOG).open("a", encoding="utf-8") as log:
            log.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}\n")

    def _keep_messages(self, name: str, work: Path) -> None:
        with suppress(FileNotFoundError):
            for line in (work / "kernel.log").read_text("utf-8", errors="replace").splitlines()[-40:]:
                self.log(f"{name}: kernel: {line}")


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader finds the old one or the new one, never a part."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=".new-", delete=False) as new:
        new.write(text)
    Path(new.name).chmod(0o644)
    Path(new.name).replace(path)


def publish_figures(folder: Path, cluster: str, window: Window) -> None:
    """Write `figures.json` and `figures.csv` from all the complete pages that lie in a window's folder."""
    figures = [figure for path in sorted(folder.glob("*.ipynb")) for figure in _figures(path)]
    edges = {"start": window.start.isoformat(), "end": window.end.isoformat()}
    content = {"schema": SCHEMA, "cluster": cluster, "window": edges, "figures": figures}
    write_whole(folder / "figures.json", json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    written = io.StringIO(newline="")
    table = csv.DictWriter(written, KEYS, lineterminator="\n")
    table.writeheader()
    table.writerows(figures)
    write_whole(folder / "figures.csv", written.getvalue())


def _figures(path: Path) -> list[dict[str, Any]]:
    if path.stem.endswith(".failed"):
        return []
    cells = json.loads(path.read_text("utf-8"))["cells"]
    left = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    return [figure for data in left for figure in data.get(outputs.FIGURES, {}).get("figures", [])]


def _is_alive(pid: str) -> bool:
    return pid.isdecimal() and Path(f"/proc/{pid}").exists() if Path("/proc/self").exists() else True
