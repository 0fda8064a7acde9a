"""A cluster for the tests of pages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gangline.config import Config
from gangline.report import history, opening
from gangline.report.page import Page
from tests.report.making import collecting, make_cluster


@pytest.fixture(scope="session")
def orion(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return make_cluster(tmp_path_factory.mktemp("orion"))


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cluster's earlier pages, empty at first."""
    monkeypatch.setenv(history.FOLDER, str(tmp_path / "orion"))
    return tmp_path / "orion"


@pytest.fixture
def shown() -> Iterator[list[dict[str, Any]]]:
    """What the page of this test shows."""
    with collecting() as bundles:
        yield bundles


@pytest.fixture
def week(orion: Config, stored: Path, shown: list[dict[str, Any]]) -> Iterator[Page]:
    """A page of one week."""
    page = opening.open_page(str(orion.path), "2025-10-06", "2025-10-13", notebook="08_node_exclusions")
    shown.clear()
    yield page
    page.con.close()
