"""A disk that is really full (a small tmpfs): one clear line, and the warehouse and its samples as they were."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gangline.config import Config, load
from gangline.ingest import ingest
from tests.ingest.test_telemetry import FILES, cluster, lines, told

APART = ["unshare", "--map-root-user", "--mount"]
SCRIPT = """
mount -t tmpfs -o size={bytes} tmpfs {disk} || exit 77
cp -r {cluster}/. {disk}/
"{python}" -m gangline ingest -c {disk}/cluster.toml
code=$?
ls {disk} > {disk}.left
cp {disk}/warehouse.duckdb {disk}.after
exit $code
"""


@pytest.fixture
def apart() -> list[str]:
    tried = shutil.which("unshare") and subprocess.run([*APART, "true"], capture_output=True)
    if not tried or tried.returncode:
        pytest.skip("this machine lets nobody mount a small disk for a test (unshare --mount)")
    return APART


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """A warehouse, and a file beside it that is not yet in it."""
    made = cluster(tmp_path_factory.mktemp("full") / "c", {"a": FILES["a"]})
    ingest(made)
    (made.folder / "raw/b").write_text(lines(50, 2800, metrics=3))
    return made


@pytest.mark.parametrize("is_copied", [False, True], ids=["before_the_copy", "behind_the_copy"])
def test_a_full_disk_is_one_line_and_nothing_changed(
    apart: list[str], config: Config, tmp_path: Path, is_copied: bool
) -> None:
    before, warehouse = told(config), config.folder / "warehouse.duckdb"
    used = sum(path.stat().st_size for path in config.folder.rglob("*") if path.is_file())
    room = warehouse.stat().st_size * is_copied + (3 << 20)
    disk = tmp_path / "disk"
    disk.mkdir()
    script = SCRIPT.format(bytes=used + room, disk=disk, cluster=config.folder, python=sys.executable)
    ran = subprocess.run([*apart, "sh", "-c", script], capture_output=True, text=True)
    if ran.returncode == 77:
        pytest.skip(f"this machine lets nobody mount a small disk for a test: {ran.stderr.strip()}")
    said = ran.stderr.strip().splitlines()
    assert (ran.returncode, len(said)) == (1, 1), ran.stdout + ran.stderr
    assert said[0].startswith("gangline: ")
    assert "No space left on device" in said[0]
    assert said[0].endswith("; make room there and run it again: the warehouse is as it was")
    assert "copying" not in (tmp_path / "disk.left").read_text()
    assert _hash(tmp_path / "disk.after") == _hash(warehouse)
    assert told(load(config.path)) == before


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
