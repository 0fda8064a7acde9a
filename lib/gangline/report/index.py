"""Index pages, made anew from what lies in the folders: one per window, and one per cluster over its windows."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from gangline.estimates.wording import counted, number
from gangline.report import assets, cards
from gangline.report.history import FIGURES_FILE
from gangline.report.leftovers import PageFacts, facts_of
from gangline.report.publishing import write_whole
from gangline.report.wording import instant
from gangline.windows import WEEK

COLUMNS = {
    "weekly.abnormal_ends": "Ends of gangs",
    "weekly.lost_gpu_h": "Lost GPU-hours",
    "weekly.mtbf_4w_h": "Hours between ends",
    "fleet.sessions": "Sessions",
    "fleet.gang_gpu_hours_share": "GPU-hours in gangs",
    "exclusions.gang_time_share": "Time with a gang",
    "retries.chain_success": "Chains that recovered",
    "incidents.count": "Node incidents",
    "failures.job_per_1000_node_days": "Interruptions per 1,000 node-days",
}
MOST_COLUMNS = 4
POSTMORTEMS = "postmortems"
WINDOWS_IN_COURSE = 8


@dataclass(frozen=True, slots=True)
class WindowFacts:
    """A window's folder as its cluster's index needs it."""

    folder: str
    label: str
    start: datetime
    end: datetime
    figures: dict[str, dict[str, Any]]
    pages: list[PageFacts]

    @property
    def days(self) -> str:
        """First and last day, where the label does not say them."""
        told = next((page.days for page in self.pages if page.days), "")
        return "" if told == self.label else told

    @property
    def is_week(self) -> bool:
        """Whether it is an ISO week."""
        return bool(WEEK.fullmatch(self.folder))


def write(place: Path, folder: str, cluster: str, now: datetime) -> None:
    """Write the index of a window and that of its cluster."""
    window = read_window(place / folder)
    if window is not None:
        write_whole(place / folder / "index.html", window_page(window, cluster, now))
    write_cluster(place, cluster, now)


def write_cluster(place: Path, cluster: str, now: datetime) -> None:
    """Write the index of a cluster, with a way to its postmortems where there are any."""
    beside = [POSTMORTEMS] if (place / POSTMORTEMS / "index.html").is_file() else []
    write_whole(place / "index.html", cluster_page(read_windows(place), cluster, now, beside))


def read_windows(place: Path) -> list[WindowFacts]:
    """Read every window's folder of a cluster, newest first."""
    found = [read_window(path.parent) for path in sorted(place.glob(f"*/{FIGURES_FILE}"))]
    windows = [window for window in found if window is not None]
    return sorted(windows, key=lambda window: (window.end, window.start), reverse=True)


def read_window(folder: Path) -> WindowFacts | None:
    """Read what a window's folder holds; None where no run has ended there."""
    path = folder / FIGURES_FILE
    if not path.is_file():
        return None
    written = json.loads(path.read_text("utf-8"))
    start, end = (datetime.fromisoformat(written["window"][edge]) for edge in ("start", "end"))
    figures = {figure["id"]: figure for figure in written["figures"]}
    pages = facts_of(folder)
    label = next((page.window for page in pages if page.window), folder.name)
    return WindowFacts(folder.name, label, start, end, figures, pages)


def window_page(window: WindowFacts, cluster: str, now: datetime) -> str:
    """Write the index of a window: a card for each page with its question and its answer."""
    span = f"{instant(window.start)} to {instant(window.end)}" if window.start != window.end else "no data"
    return _environment().get_template("window.html.j2").render(
        _shared() | {
            "title": f"{cluster}, {window.label}",
            "crumbs": cluster,
            "place": window.label,
            "meta": [span, *_meta(now)],
            "banners": _shared_banners(window.pages),
            "pages": window.pages,
        }
    )  # fmt: skip


def cluster_page(windows: Sequence[WindowFacts], cluster: str, now: datetime, beside: Sequence[str] = ()) -> str:
    """Write the index of a cluster: a row for each window with a few figures and their course.

    `beside` names folders in it that have an index of their own.
    """
    columns = [key for key in COLUMNS if any(key in window.figures for window in windows)][:MOST_COLUMNS]
    rows = [_row(window, windows, columns) for window in windows]
    return _environment().get_template("cluster.html.j2").render(
        _shared() | {
            "title": f"Reports of {cluster}",
            "meta": [counted(len(windows), "windows"), *_meta(now)],
            "banners": _shared_banners([page for window in windows for page in window.pages]),
            "columns": [{"label": COLUMNS[key]} for key in columns],
            "rows": rows,
            "beside": beside,
        }
    )  # fmt: skip


def _shared_banners(pages: Sequence[PageFacts]) -> list[Markup]:
    """List the warnings that every one of the pages gives; they were escaped when they were written."""
    said = [page.banners for page in pages]
    everywhere = [text for text in said[0] if all(text in others for others in said)] if said else []
    return [Markup(text) for text in everywhere]  # noqa: S704


def _row(window: WindowFacts, windows: Sequence[WindowFacts], columns: Sequence[str]) -> dict[str, Any]:
    return {
        "folder": window.folder,
        "label": window.label,
        "days": window.days if window.is_week else "",
        "failed": sum(page.has_failed for page in window.pages),
        "complete": sum(page.is_whole and not page.has_failed for page in window.pages),
        "cells": [{"value": _value(window, key), "course": _course(window, windows, key)} for key in columns],
    }


def _value(window: WindowFacts, key: str) -> str:
    figure = window.figures.get(key)
    if figure is None or figure["value"] is None:
        return "–"
    shown = number(figure["value"], figure["unit"])
    return f"{shown} %" if figure["unit"] == "ratio" else shown


def _course(window: WindowFacts, windows: Sequence[WindowFacts], key: str) -> Markup:
    if not window.is_week:
        return Markup("")
    earlier = sorted((each for each in windows if each.is_week and each.end <= window.end), key=lambda each: each.end)
    values = [each.figures.get(key, {}).get("value") for each in earlier[-WINDOWS_IN_COURSE:]]
    return cards.course(values, f"{COLUMNS[key]}: {counted(len(values), 'weeks')} up to {window.label}")


def _meta(now: datetime) -> list[str]:
    return ["times are UTC", f"generated {instant(now.astimezone(UTC).replace(microsecond=0))}"]


def _shared() -> dict[str, Any]:
    return {"policy": assets.policy(), "style": assets.style(), "script": assets.script(), "banners": []}


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(loader=jinja2.FileSystemLoader(assets.PAGES), autoescape=True, trim_blocks=True)
