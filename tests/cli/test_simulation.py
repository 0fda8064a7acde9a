"""`gangline simulate`: what it writes, what it says, what it refuses."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gangline.cli import main, simulation
from gangline.config import load
from gangline.simulate import history, telemetry_files
from gangline.simulate.cluster_config import config_text
from gangline.simulate.history import NoFitError
from tests.simulate.reference import SEED
from tests.simulate.small_plan import PLAN
from tests.simulate.tiny_plan import TINY


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def _run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["gangline", "simulate", *map(str, arguments)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as exit_:
            code = exit_.code if isinstance(exit_.code, int) else 1
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return _run


@pytest.fixture
def seeds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds that were drawn with; every draw is the small plan, written by one process: in order."""
    asked: list[int] = []
    monkeypatch.setattr(telemetry_files, "_cores", lambda: 1)
    monkeypatch.setattr(history, "draw", lambda seed: [PLAN, asked.append(seed)][0])
    return asked


def test_a_cluster_is_written_once(run, seeds: list[int], tmp_path: Path) -> None:
    code, out, _ = run("reference", "--out", tmp_path / "new", "--seed", 4)
    assert (code, seeds) == (0, [4])
    assert "simulating 2 of 2: export_2025-09-05.jsonl.zst" in out
    assert "3 sessions, 0 days of telemetry of 4 nodes, seed 4" in out
    assert (tmp_path / "new" / "SIMULATED").exists()
    code, out, _ = run("reference", "--out", tmp_path / "new")
    assert (code, out) == (0, f"{tmp_path / 'new'}: is there already, seed {SEED}\n")


def test_the_reference_cluster_is_made_where_it_is_not_there(
    seeds: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "cluster.toml"
    config.write_text(config_text(PLAN))
    simulation.simulate_where_absent(load(config))
    assert seeds == []
    monkeypatch.setattr(simulation, "REFERENCE_CONFIG", config)
    for _ in range(2):
        simulation.simulate_where_absent(load(config))
    assert seeds == [SEED]
    (tmp_path / "SIMULATED").unlink()
    (tmp_path / "warehouse.duckdb").touch()
    simulation.simulate_where_absent(load(config))
    assert seeds == [SEED]


def test_an_unknown_cluster(run, tmp_path: Path) -> None:
    code, _, err = run("referense", "--out", tmp_path)
    assert (code, err) == (2, "gangline: referense: there is no such cluster to simulate; known: reference, free\n")


def test_other_people_s_exports_are_left_alone(run, seeds: list[int], tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    code, _, err = run("reference", "--out", tmp_path)
    assert code == 2
    assert err.endswith("holds files that no simulation wrote: choose another --out, or move them away\n")


def test_a_seed_that_fits_nothing(run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def draw(seed: int) -> object:
        raise NoFitError(f"seed {seed}: none fits")

    monkeypatch.setattr(history, "draw", draw)
    assert run("reference", "--out", tmp_path, "--seed", 9) == (2, "", "gangline: seed 9: none fits\n")


def _written(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_all_metrics_come_beside_files_that_stay_the_same(run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(history, "draw", lambda seed: TINY)
    monkeypatch.setattr(telemetry_files, "_cores", lambda: 1)
    default, full = tmp_path / "default", tmp_path / "full"
    run("reference", "--out", default)
    code, out, _ = run("reference", "--out", full, "--full")
    size = "all other metrics: 722 metrics, 6,692 series a node, 0.000161 G samples, about 0.00012 GB in 2 files\n"
    assert code == 0
    assert out.startswith(size + "simulating 1 of 2: export_2025-09-04.jsonl.zst\n")
    assert "simulating 2 of 2: full_2025-09-05_gpu062.jsonl.zst" in out
    names = {f"raw/telemetry/full_2025-09-0{day}_gpu062.jsonl.zst" for day in (4, 5)}
    assert {name: content for name, content in _written(full).items() if name not in names} == _written(default)
    assert run("reference", "--out", full, "--full")[1] == f"{size}{full}: is there already, seed {SEED}\n"
    assert run("reference", "--out", full)[1] == f"{full}: is there already, seed {SEED}\n"
    run("reference", "--out", default, "--full")
    assert _written(default) == _written(full)


def test_all_metrics_where_there_is_no_room(run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(history, "draw", lambda seed: TINY)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=0))
    code, _, err = run("reference", "--out", tmp_path / "new", "--full")
    assert (code, err.count("\n"), (tmp_path / "new").exists()) == (2, 1, False)
    assert err.endswith("make room, choose another --out, or simulate free with fewer --nodes or --days\n")
