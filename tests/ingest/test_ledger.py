"""Files are hashed once, and only where their length does not tell that they are new."""

import os
from pathlib import Path

import pytest

from gangline.config import load
from gangline.ingest import ingest
from gangline.sources.files import InputFile
from tests.configs import cluster_head, source_entry

CONFIG = cluster_head("t", "n[1-4]") + source_entry("incidents", "*.csv")
INCIDENTS = "incident_id,node,started_at,ended_at,kind\n{},n1,2026-01-01T00:00Z,2026-01-01T01:00Z,gpu\n"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "cluster.toml").write_text(CONFIG, encoding="utf-8")
    put(tmp_path, "a")
    put(tmp_path, "b")
    ingest(load(tmp_path / "cluster.toml"))
    return tmp_path / "cluster.toml"


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files whose content is hashed."""
    names: list[str] = []
    digest = InputFile.digest

    def noted(self: InputFile) -> str:
        names.append(self.path.name)
        return digest(self)

    monkeypatch.setattr(InputFile, "digest", noted)
    return names


def put(folder: Path, incident: str) -> Path:
    path = folder / f"{incident}.csv"
    path.write_text(INCIDENTS.format(incident), encoding="utf-8")
    return path


def test_what_may_be_known_is_hashed_once(config: Path, hashed: list[str]) -> None:
    report = ingest(load(config))
    assert (report.known, report.is_built, hashed) == (2, False, [])
    os.utime(config.parent / "a.csv")
    put(config.parent, "c")  # as long as the two that are known
    put(config.parent, "of-another-length")
    report = ingest(load(config))
    assert (report.known, [outcome.log.loaded for outcome in report.outcomes]) == (2, [1, 1])
    assert sorted(hashed) == ["a.csv", "c.csv", "of-another-length.csv"]
    hashed.clear()
    assert (ingest(load(config)).known, hashed) == (4, [])
