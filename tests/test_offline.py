"""After the install nothing needs a network: the whole way from exports to a page runs where there is none."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

NO_NETWORK = ["unshare", "--map-root-user", "--net"]


@pytest.fixture
def cut() -> list[str]:
    if shutil.which("unshare") is None:
        pytest.skip("no unshare on this machine: the network cannot be cut for a test")
    tried = subprocess.run([*NO_NETWORK, "true"], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"this machine lets nobody cut the network for a test: {tried.stderr.strip()}")
    return NO_NETWORK


def test_ingest_and_report_without_a_network(cut: list[str], tmp_path: Path) -> None:
    cluster = tmp_path / "cluster"
    cluster.mkdir()
    for path in (ROOT / "data" / "sample").iterdir():
        if path.suffix in (".toml", ".txt", ".csv"):
            shutil.copy(path, cluster)
    command = ["report", "-c", cluster / "cluster.toml", "--only", "incidents", "--out", tmp_path / "out"]
    ran = subprocess.run(
        [*cut, sys.executable, "-m", "gangline", *map(str, command)],
        capture_output=True,
        text=True,
        env=os.environ | {"HOME": str(tmp_path)},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (page,) = (tmp_path / "out" / "sample").glob("*/04_incidents.html")
    assert page.stat().st_size > 100_000
