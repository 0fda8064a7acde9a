"""The parts of an executed notebook in the order of its page: title, banners, answer, contents, cells."""

import copy
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
from markupsafe import Markup
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from gangline.report import outputs
from gangline.report.sanitiser import clean
from gangline.report.wording import clock

HIDDEN_TAGS = {"parameters", "injected-parameters", "remove-cell", "papermill-error-cell-tag", "answer"}
UNSEEN_TYPES = {outputs.PAGE, outputs.BANNER, outputs.FIGURES, outputs.DONE}
SHOWN_TYPES = [
    outputs.TRUSTED,
    "text/html",
    "text/markdown",
    "image/svg+xml",
    "image/png",
    "image/jpeg",
    "text/plain",
]
HEADING = re.compile(r"<h([123])>(.*?)</h\1>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
ALERT = Markup("<b>This page is not complete.</b> {}")
WAY = Markup(' <a href="#broken">Where it broke</a>')
CHART_MARK = 'data-chart="'


@dataclass(frozen=True, slots=True)
class Banner:
    """A warning at the top of a page; an alert where the page is not complete."""

    text: Markup
    is_alert: bool


@dataclass(frozen=True, slots=True)
class Head:
    """A heading that the contents list."""

    anchor: str
    text: str


@dataclass(slots=True)
class Arrangement:
    """What the template writes."""

    notebook: nbformat.NotebookNode
    name: str
    title: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    banners: list[Banner] = field(default_factory=list)
    contents: list[Head] = field(default_factory=list)
    answer: Markup = field(default_factory=Markup)
    has_charts: bool = False

    @property
    def cluster(self) -> str:
        """The cluster's name, where the notebook came as far as to say it."""
        return str(self.facts.get("cluster", "reports"))

    @property
    def window(self) -> str:
        """The window's label."""
        return str(self.facts.get("window", "window"))

    def meta(self) -> list[str]:
        """Give the line under the title: cluster, window, zone, when it was made."""
        if not self.facts:
            return []
        zone, window, days = (str(self.facts[key]) for key in ("time_zone", "window", "days"))
        span = days if days == window else f"{window}, {days}"
        cut, clocks = "", "times are UTC"
        if zone != "UTC":
            cut, clocks = f" (days of {zone})", f"times are UTC, in pictures {zone}"
        return [self.cluster, span + cut, clocks, f"generated {self._generated()}"]

    def _generated(self) -> str:
        return f"{clock(datetime.fromisoformat(self.facts['generated_at']))} UTC"


def arrange(notebook: nbformat.NotebookNode, name: str, problem: Markup | None = None) -> Arrangement:
    """Sort the parts of an executed notebook for its page; the notebook itself stays as it is."""
    arranged = Arrangement(copy.deepcopy(notebook), name)
    if problem is not None:
        arranged.banners.append(Banner(problem, is_alert=True))
    anchors: set[str] = set()
    for cell in arranged.notebook.cells:
        _mark(cell)
        if cell.cell_type == "markdown":
            _place_text(cell, arranged, anchors)
        elif cell.cell_type == "code":
            _place_outputs(cell, arranged)
    arranged.title = arranged.title or name
    return arranged


def rendered(markdown: str) -> str:
    """Turn Markdown into HTML that is not yet clean."""
    return str(MarkdownWithMath(renderer=IPythonRenderer(escape=False, exclude_anchor_links=True)).render(markdown))


def read_notebook(path: Path) -> nbformat.NotebookNode:
    """Read a notebook file."""
    notebook: nbformat.NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return notebook


def _mark(cell: nbformat.NotebookNode) -> None:
    tags = set(cell.metadata.get("tags", []))
    cell.metadata["gangline"] = {"is_hidden": bool(tags & HIDDEN_TAGS), "html": ""}


def _place_text(cell: nbformat.NotebookNode, arranged: Arrangement, anchors: set[str]) -> None:
    if cell.metadata["gangline"]["is_hidden"]:
        return
    cell.metadata["gangline"]["html"] = HEADING.sub(
        lambda match: _heading(match, arranged, anchors), clean(rendered(cell.source))
    )


def _heading(match: re.Match[str], arranged: Arrangement, anchors: set[str]) -> str:
    level, inner = match[1], match[2]
    text = Markup(TAG.sub("", inner)).unescape()  # noqa: S704 - cleaned, and only to be unescaped
    if level == "1" and not arranged.title:
        arranged.title = text
        return ""
    anchor = _anchor(text, anchors)
    if level == "2":
        arranged.contents.append(Head(anchor, text))
    return f'<h{level} id="{anchor}">{inner}</h{level}>'


def _anchor(text: str, taken: set[str]) -> str:
    words = re.sub(r"[^\w]+", "-", unicodedata.normalize("NFKC", text).lower()).strip("-")[:60] or "section"
    anchor, ordinal = words, 1
    while anchor in taken:
        ordinal += 1
        anchor = f"{words}-{ordinal}"
    taken.add(anchor)
    return anchor


def _place_outputs(cell: nbformat.NotebookNode, arranged: Arrangement) -> None:
    shown = []
    for output in cell.outputs:
        data = output.get("data", {})
        arranged.facts |= data.get(outputs.PAGE, {})
        if outputs.BANNER in data:
            text = Markup(data[outputs.BANNER]["text"])  # noqa: S704 - written by outputs.leave, already escaped
            arranged.banners.append(Banner(text, is_alert=False))
        if not UNSEEN_TYPES & set(data):
            shown.append(_showable(output))
    _settle(cell, shown, arranged)


def _showable(output: Any) -> Any:
    """Put a note in the place of an output whose types no page shows."""
    types = output.get("data")
    if types and not set(types) & set(SHOWN_TYPES):
        output["data"] = {"text/plain": f"(pages show no output of type {', '.join(types)})"}
    return output


def _settle(cell: nbformat.NotebookNode, shown: list[Any], arranged: Arrangement) -> None:
    trusted = [str(output["data"].get(outputs.TRUSTED, "")) for output in shown if "data" in output]
    arranged.has_charts |= any(CHART_MARK in markup for markup in trusted)
    if "answer" in cell.metadata.get("tags", []):
        arranged.answer += Markup("").join(Markup(markup) for markup in trusted)  # noqa: S704 - the trusted type
        broken = [output for output in shown if output["output_type"] == "error"]
        cell.metadata["gangline"]["is_hidden"] = not broken
        shown = broken
    cell.outputs = shown


def alert(problem: str, notebook: nbformat.NotebookNode) -> Markup:
    """Write the alert of a page that is not complete, with a way to the traceback where there is one."""
    outputs_left = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    has_traceback = any(output["output_type"] == "error" for output in outputs_left)
    return ALERT.format(problem) + (WAY if has_traceback else "")
