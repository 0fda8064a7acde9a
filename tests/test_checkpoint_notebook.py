"""Notebook 06 runs to its end: with telemetry, with runs alone, on nothing."""

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
    assert "No run is linked to a gang session of this window: the 2 gang sessions" in text
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
    assert re.search(r"Training ended 15 times in 435 h, once in 29\.0 h|Training ended 15 times in 435\.4 h", text)
    assert "Of 28 gang sessions in this window, 28 tell nothing of their saves." in text
    assert "<title>" in exporter.page(notebook, NAME)


def test_a_window_and_an_export_without_data_are_said(norma: Config) -> None:
    assert "Saves cannot be told in this window" in said(run(NAME, norma, "2025-03-03", "2025-03-10")[1])
    text = said(run(NAME, written("nothing-saves", ""))[1])
    assert "Saves cannot be told in this window" in text
    assert "Training time between ends is not measured" in text
