"""03_telemetry, and what 00 and 08 say of telemetry: with samples, without a role, without any."""

from pathlib import Path

import pytest

from gangline.config import Config
from gangline.report import exporter, history
from tests import telemetries
from tests.test_notebook_runs import run, said


@pytest.fixture(scope="module")
def lyra(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return telemetries.cluster(tmp_path_factory.mktemp("lyra"), telemetries.usual_lines())


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return telemetries.cluster(tmp_path_factory.mktemp("bare"), [])


@pytest.fixture(autouse=True)
def no_pages_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(history.FOLDER, str(tmp_path))


def test_a_role_is_shown_with_its_source(lyra: Config) -> None:
    notebook, left = run("03_telemetry", lyra)
    assert "Over 4 nodes the median of gpu_util (ratio) lies at" in said(left)
    assert "for 1 of the 2 that started in this window beside telemetry of GPUs (1 without power: weak)" in said(left)
    assert "On them, GPUs seen: 8 of 8 held" in said(left)
    assert "The role is played by DCGM_FI_DEV_GPU_UTIL (dcgm-exporter)" in said(left)
    assert ": no rows" not in said(left)
    assert "Figure 3" in exporter.page(notebook, "03_telemetry")


def test_a_window_without_the_role_is_said(lyra: Config) -> None:
    _, left = run("03_telemetry", lyra, "2026-04-01", "2026-04-02")
    assert "Nothing in this window plays the role gpu_util" in said(left)


def test_no_telemetry_is_said(bare: Config) -> None:
    _, left = run("03_telemetry", bare)
    assert "No telemetry: no source of this cluster gives samples" in said(left)
    _, left = run("00_capture_quality", bare)
    assert "No telemetry: no source of this cluster gives samples" in said(left)
    _, left = run("08_node_exclusions", bare)
    assert "held a left-out node: not known (no GPU use is exported)" in said(left)


def test_quality_and_exclusions_tell_of_telemetry(lyra: Config) -> None:
    _, left = run("00_capture_quality", lyra)
    assert "What samples cover of each node and day" in said(left)
    _, left = run("08_node_exclusions", lyra)
    assert "held a left-out node: 60.0 %" in said(left)
