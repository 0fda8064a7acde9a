"""07_storage_path: with everything, without requests, without any telemetry; hostile names are text."""

from pathlib import Path

import pytest

from gangline.config import Config
from gangline.report import exporter, history
from tests import mountstats, telemetries
from tests.test_notebook_runs import run, said

NAME = "07_storage_path"


@pytest.fixture(autouse=True)
def no_pages_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(history.FOLDER, str(tmp_path))


@pytest.fixture(scope="module")
def norma(tmp_path_factory: pytest.TempPathFactory) -> Config:
    lines = [line.replace("nas:/data", "<script>alert(1)</script>") for line in mountstats.story().lines]
    return mountstats.ingested(tmp_path_factory.mktemp("norma"), lines)


def test_the_whole_path_is_told(norma: Config) -> None:
    notebook, left = run(NAME, norma)
    text = said(left)
    assert "A WRITE takes 2.0 s in a save, most of it before it leaves the node: 93.3 % is queue" in text
    assert "A READ takes 78.2 ms in a load, most of it before it leaves the node: 69.3 % is queue" in text
    assert "Measured: 2 of 2 saves and 1 of 1 load that begin in this window" in text
    assert "In order of their peaks: shared memory, then" in text
    assert "How fast the storage fills is not measured: the size of no shared file system is exported" in text
    assert "Figure 8. Room on the storage: no rows" in text
    page = exporter.page(notebook, NAME)
    assert "alert(1)</script>" not in page


def test_a_window_without_saves_is_said(norma: Config) -> None:
    _, left = run(NAME, norma, "2026-04-01", "2026-04-02")
    assert (
        "Nothing is known of requests to the storage. In saves they are not measured: no save begins in the window"
        in said(left)
    )


def test_no_telemetry_is_said(tmp_path: Path) -> None:
    notebook, left = run(NAME, telemetries.cluster(tmp_path, []))
    assert "Nothing is known of requests to the storage. In saves they are not measured: " in said(left)
    assert "<title>" in exporter.page(notebook, NAME)
