"""Notebook 06 runs to its end: with telemetry, with runs alone, on nothing."""

import json
import re
from pathlib import Path

import pytest

from gangline.config import Config
from gangline.report import catalogue, exporter, history, outputs
from tests import saving
from tests.fleets import sample, written
from tests.test_notebook_runs import run, said

NAME = "06_checkpoints"


@pytest.fixture(autouse=True)
def no_pages_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(history.FOLDER, str(tmp_path))


@pytest.fixture(scope="module")
def norma(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return saving.cluster(tmp_path_factory.mktemp("norma"), saving.lines())


def test_telemetry_fills_the_page(norma: Config) -> None:
    notebook, left = run(NAME, norma)
    text = said(left)
    assert re.search(r"Stage no_stage saves every 0\.25 h, \d\.\d\d times Young's optimum", text)
    assert "No run is linked to a gang session of this window: each gang session that reached training (2) st" in text
    assert "No save is out of step" in text
    assert ": no rows" not in text
    assert "Figure 6" in exporter.page(notebook, NAME)


def test_every_figure_is_left_by_its_id(norma: Config) -> None:
    _, left = run(NAME, norma)
    figures = [figure for bundle in left for figure in bundle.get(outputs.FIGURES, {}).get("figures", [])]
    ids = {figure["id"].removesuffix(".no_stage") for figure in figures}
    assert ids == {name for name in catalogue.CATALOGUE if name.startswith("checkpoints.")}
    assert all((figure["value"] is None) == bool(figure["reason"]) for figure in figures)
    values = {figure["id"]: figure["value"] for figure in figures}
    assert values["checkpoints.saves"] == 6
    assert values["checkpoints.interval_median_h.no_stage"] == 0.25
    assert values["checkpoints.loads"] == 2
    assert values["checkpoints.abnormal_ends"] == 1
    assert values["checkpoints.lost_total_h"] == pytest.approx(4 / 60)


def test_runs_without_telemetry_still_tell_ends_and_losses() -> None:
    notebook, left = run(NAME, sample())
    text = said(left)
    assert "Saves cannot be told in this window; they are not measured: no [storage] max_write_gb_per_s" in text
    assert (
        "Training came to 15 ends neither completed nor planned in 435.4 h (12 of them failures): one in 29.0 h" in text
    )
    assert "Gang sessions in this window: 28; 28 of them tell nothing of their saves." in text
    assert "<title>" in exporter.page(notebook, NAME)


def test_a_window_and_an_export_without_data_are_said(norma: Config) -> None:
    assert "Saves cannot be told in this window" in said(run(NAME, norma, "2025-03-03", "2025-03-10")[1])
    text = said(run(NAME, written("nothing-saves", ""))[1])
    assert "Saves cannot be told in this window" in text
    assert "Training time between ends is not measured" in text


def test_one_save_has_an_optimum_but_no_interval(tmp_path: Path) -> None:
    """Its session ends before a second, so there is no interval to set against the optimum."""
    sessions = saving.SESSIONS.splitlines()[:2]
    config = saving.cluster(tmp_path, saving.lines(), sessions="\n".join(sessions).replace("00:55Z", "00:32Z"))
    text = said(run(NAME, config)[1])
    assert re.search(r"Saves that start in this window: 1; how often they should be made is \d", text)
    assert "Training came to 1 end neither completed nor planned in 0.53 h (1 of them failures): one in 0.53 h" in text


def test_coarse_telemetry_says_why_loads_have_no_length(tmp_path: Path) -> None:
    config = saving.cluster(tmp_path, [thinned(line) for line in saving.lines()])
    text = said(run(NAME, config)[1])
    assert "Loads: 2. Their median length: not measured: a scrape step of 120 s is over 60 s" in text
    assert "No save starts in this window, in which saves could be told of 2 of 2 gang sessions." in text


def test_without_what_nodes_write_loads_are_still_told(tmp_path: Path) -> None:
    config = saving.cluster(tmp_path, [line for line in saving.lines() if '"WRITE"' not in line])
    text = said(run(NAME, config)[1])
    assert "Saves cannot be told in this window; they are not measured: no metric tells what nodes write" in text
    assert "Loads: 2. Their median length: 5.0 min" in text
    assert "What an end loses is not measured: neither steps of the next run nor telemetry of saves" in text


def test_a_window_behind_the_telemetry_of_a_session_is_not_watched(tmp_path: Path) -> None:
    config = saving.cluster(
        tmp_path,
        saving.lines(),
        config=saving.CONFIG.replace("2026-03-01T02:00:00Z", "2026-03-09T00:00:00Z"),
    )
    _, left = run(NAME, config, "2026-03-03", "2026-03-05")
    reason = "no telemetry of its nodes from within the window"
    assert f"Saves cannot be told in this window; they are not measured: {reason}." in said(left)
    assert "Gang sessions in this window: 1; 1 of them tell nothing of their saves." in said(left)


def thinned(line: str) -> str:
    """Every other sample."""
    series = json.loads(line)
    return json.dumps(series | {name: series[name][::2] for name in ("values", "timestamps")})
