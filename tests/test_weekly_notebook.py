"""Notebook 10 runs to its end: on a week, a week without data, nothing, hostile names; by hand as by the runner."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gangline.config import Config
from gangline.report import exporter, history
from gangline.report.notebooks import FOLDER
from gangline.report.runner import render
from tests.fleets import sample, written
from tests.test_notebook_runs import hostile, run, said  # noqa: F401 - hostile is a fixture
from tests.weekly.conftest import WEEK, vega  # noqa: F401 - a fixture

NAME = "10_weekly"
DAYS = ("2026-03-09", "2026-03-16")


@pytest.fixture(autouse=True)
def no_pages_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(history.FOLDER, str(tmp_path))


def test_a_week_is_told_in_two_sentences(vega: Config) -> None:  # noqa: F811
    _, left = run(NAME, vega, *DAYS)
    text = said(left)
    assert "Gang sessions ran 18.2 % of the time. 2 ends (2 of them failures)" in text
    assert "the largest part: left out and not held (204 GPU-hours). Nodes: " in text


def test_a_week_of_the_sample_has_its_week_before_beside_it() -> None:
    notebook, _ = run(NAME, sample(), "2026-03-16", "2026-03-23")
    page = exporter.page(notebook, NAME)
    assert page.count("vs 2026-W11, ") >= 6
    assert "no value for 2026-W11" in page


def test_a_week_without_data_says_so(vega: Config) -> None:  # noqa: F811
    _, left = run(NAME, vega, "2020-01-06", "2020-01-13")
    assert "No gang session ran in this window." in said(left)


def test_nothing_at_all_is_a_page_too() -> None:
    _, left = run(NAME, written("nothing-of-a-week", ""), *DAYS)
    assert "No gang session ran in this window." in said(left)


def test_hostile_names_are_text(hostile: Config) -> None:  # noqa: F811
    notebook, _ = run(NAME, hostile, "2026-03-02", "2026-03-09")
    page = exporter.page(notebook, NAME)
    assert "<script>alert(1)" not in page
    assert "onerror=alert(1)>" not in page


def test_papermill_by_hand_gives_the_same_notebook(vega: Config, tmp_path: Path) -> None:  # noqa: F811
    """Cell by cell, source and output, but for when it was made."""
    (ours,) = render(vega, WEEK, [NAME], out=tmp_path / "reports", now=datetime(2026, 3, 16, tzinfo=UTC))
    assert ours.is_complete, ours.problem
    by_hand = tmp_path / "by hand.ipynb"
    given = ["-r", "config", str(vega.path), "-r", "start", DAYS[0], "-r", "end", DAYS[1]]
    command = [sys.executable, "-m", "papermill", str(FOLDER / f"{NAME}.ipynb"), str(by_hand), "--no-progress-bar"]
    subprocess.run([*command, *given], check=True, capture_output=True)
    assert told(by_hand) == told(ours.page.with_suffix(".ipynb"))


def told(path: Path) -> list[tuple[str, list[Any]]]:
    """Source and plain text of a notebook's cells without the lines that say when and how it was made."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    kept = [cell for cell in cells if "provenance" not in "".join(cell["source"])]
    return [("".join(cell["source"]), [_text(output) for output in cell.get("outputs", [])]) for cell in kept]


def _text(output: dict[str, Any]) -> str:
    return "".join(output.get("data", {}).get("text/plain", output.get("text", "")))
