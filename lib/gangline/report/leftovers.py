"""What earlier runs left in a window's folder: which pages stand, which failed, what each asks and answers."""

import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gangline.report import outputs
from gangline.report.wording import instant

FAILED = ".failed"
FIRST = "10_"


@dataclass(frozen=True, slots=True)
class PageFacts:
    """One notebook's pages in a folder.

    Attributes
    ----------
    is_whole : bool
        A complete page stands, of this run or an earlier one.
    has_failed : bool
        The last run failed; its page stands beside.
    """

    name: str
    question: str
    answer: str
    window: str
    made: str
    banners: tuple[str, ...]
    is_whole: bool
    has_failed: bool
    problem: str
    is_printed: bool = False
    days: str = ""


def facts_of(folder: Path) -> list[PageFacts]:
    """Read the facts of every page in a window's folder, by name."""
    stems = {path.name.removesuffix(".html").removesuffix(FAILED) for path in folder.glob("[0-9][0-9]_*.html")}
    return [_facts(folder, name) for name in sorted(stems, key=_place)]


def _place(name: str) -> tuple[bool, str]:
    """A week's own page stands first."""
    return not name.startswith(FIRST), name


def _facts(folder: Path, name: str) -> PageFacts:
    is_whole, has_failed = (folder / f"{name}.html").is_file(), (folder / f"{name}{FAILED}.html").is_file()
    failed = _read(folder / f"{name}{FAILED}.ipynb") if has_failed else {"cells": []}
    whole = _read(folder / f"{name}.ipynb") if is_whole else failed
    told: dict[str, Any] = next(iter(_data(whole, outputs.PAGE)), {})
    made = told.get("generated_at")
    return PageFacts(
        name=name,
        question=_question(whole) or _question(failed) or name,
        answer=_answer(whole) if is_whole else "",
        window=told.get("window", ""),
        made=instant(datetime.fromisoformat(made)) if made else "an earlier run",
        banners=tuple(str(banner["text"]) for banner in _data(whole, outputs.BANNER)),
        is_whole=is_whole,
        has_failed=has_failed,
        problem=failed.get("metadata", {}).get("gangline", {}).get("problem", "it says no more."),
        days=told.get("days", ""),
        is_printed=is_whole and (folder / f"{name}.pdf").is_file(),
    )


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {"cells": []}
    notebook: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return notebook


def _data(notebook: dict[str, Any], media_type: str) -> list[Any]:
    left = [output.get("data", {}) for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return [data[media_type] for data in left if media_type in data]


def _question(notebook: dict[str, Any]) -> str:
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and (found := re.search(r"^# +(.+?)\s*$", text, re.MULTILINE)):
            return found[1]
    return ""


def _answer(notebook: dict[str, Any]) -> str:
    tagged = [cell for cell in notebook["cells"] if "answer" in cell.get("metadata", {}).get("tags", [])]
    said = ["".join(data) for data in _data({"cells": tagged}, "text/plain")]
    return " ".join(text for text in said if text)
