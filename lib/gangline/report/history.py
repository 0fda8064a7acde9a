"""Figures that earlier runs left in `figures.json`, for the course of a card and of the index."""

import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from gangline.report.figures import WINDOWS_BEFORE, Figure
from gangline.windows import Window

FOLDER = "GANGLINE_REPORTS"
ROOT = Path(__file__).resolve().parents[3]
FIGURES_FILE = "figures.json"


def cluster_folder(cluster: str) -> Path:
    """Give the folder that holds a cluster's pages: where the runner writes, else `reports/<cluster>` of the clone."""
    given = os.environ.get(FOLDER)
    return Path(given) if given else ROOT / "reports" / cluster


def stored(folder: Path) -> dict[str, float | None]:
    """Read the figures that a window's folder holds, value by id; empty where there are none."""
    path = folder / FIGURES_FILE
    if not path.is_file():
        return {}
    return {figure["id"]: figure["value"] for figure in json.loads(path.read_text("utf-8"))["figures"]}


def with_history(figures: Iterable[Figure], window: Window, folder: Path) -> list[Figure]:
    """Fill the history of figures that bring none from the pages of up to eight windows before.

    The window just before is today's `previous`, not what its page printed.
    """
    before = window.before(WINDOWS_BEFORE)
    pages = [stored(folder / earlier.folder) for earlier in reversed(before[1:])]
    return [_filled(figure, pages) if before and not figure.history else figure for figure in figures]


def changed_since(figures: Iterable[Figure], window: Window, folder: Path) -> list[tuple[Figure, float]]:
    """List the figures whose window before prints another value on its stored page than today's data gives."""
    earlier = window.previous()
    printed = stored(folder / earlier.folder) if earlier else {}
    pairs = [(figure, printed.get(figure.id)) for figure in figures]
    return [(figure, value) for figure, value in pairs if value is not None and _differ(figure.previous, value)]


def _filled(figure: Figure, pages: list[dict[str, float | None]]) -> Figure:
    values = [page.get(figure.id) for page in pages]
    return replace(figure, history=(*values, figure.previous)) if any(v is not None for v in values) else figure


def _differ(today: float | None, printed: float) -> bool:
    return today is None or abs(today - printed) > 1e-9 * max(abs(today), abs(printed), 1.0)
