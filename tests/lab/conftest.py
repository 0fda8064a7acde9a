"""A small cluster, opened as an analyst opens it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gangline.config import Config
from gangline.lab import Lab, open_lab
from tests import telemetries


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return telemetries.cluster(tmp_path_factory.mktemp("lab"), telemetries.usual_lines())


@pytest.fixture
def config(built: Config) -> Config:
    return built


@pytest.fixture
def here(config: Config) -> Iterator[Lab]:
    lab = open_lab(str(config.path))
    yield lab
    lab.con.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path
