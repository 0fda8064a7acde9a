"""The committed export: its generator makes the same bytes, and the story in it can be seen."""

import csv
import itertools
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[1] / "data" / "sample"
MAX_BYTES = 200_000


@pytest.fixture(scope="module")
def job_lines() -> list[str]:
    """Lines of allocations (no steps) whose names do not break the line."""
    return re.findall(r"^\d+\|.*", (SAMPLE / "sacct.txt").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_generator_reproduces_the_committed_files(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-B", SAMPLE / "make_sample.py", tmp_path], check=True, timeout=60)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert sorted(made) == ["annotations.csv", "events.txt", "history.csv", "incidents.csv", "runs.csv", "sacct.txt"]
    assert all(content == (SAMPLE / name).read_bytes() for name, content in made.items())


def test_the_sample_stays_small() -> None:
    committed = [path for path in SAMPLE.iterdir() if path.is_file() and not path.name.startswith("warehouse")]
    assert sum(path.stat().st_size for path in committed) < MAX_BYTES


def test_every_source_of_the_config_is_there() -> None:
    config = tomllib.loads((SAMPLE / "cluster.toml").read_text(encoding="utf-8"))
    assert [source["path"] for source in config["sources"]] == [
        "sacct.txt",
        "incidents.csv",
        "runs.csv",
        "history.csv",
        "events.txt",
        "annotations.csv",
    ]
    assert all((SAMPLE / source["path"]).is_file() for source in config["sources"])


def test_sessions_end_in_many_ways_and_belong_to_many(job_lines: list[str]) -> None:
    text = "\n".join(job_lines)
    states = {"COMPLETED", "FAILED", "CANCELLED by 1001", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED"}
    assert all(f"|{state}|" in text for state in states | {"REQUEUED", "RUNNING", "PENDING"})
    assert {line.split("|")[3] for line in job_lines} == {"ana", "bo", "cy", "dana", "eli"}


def test_awkward_names_are_in_it() -> None:
    text = (SAMPLE / "sacct.txt").read_text(encoding="utf-8")
    for name in ("probe|nccl-allreduce", "two\nlines", "<script>alert(1)</script>", "데이터-점검 🐕"):
        assert f"|{name}|" in text


def test_incidents_are_some_open_some_hostile_and_one_impossible() -> None:
    with (SAMPLE / "incidents.csv").open(encoding="utf-8", newline="") as stream:
        incidents = list(csv.DictReader(stream))
    assert len(incidents) == 32
    assert sum(not row["ended_at"] for row in incidents) == 3
    assert sum("" < row["ended_at"] < row["started_at"] for row in incidents) == 1
    assert len({row["kind"] for row in incidents}) == 7


def test_runs_train_or_do_not_and_do_steps_again_after_a_failure() -> None:
    with (SAMPLE / "runs.csv").open(encoding="utf-8", newline="") as stream:
        runs = list(csv.DictReader(stream))
    assert {run["State"] for run in runs} == {"finished", "failed", "crashed", "killed", "running"}
    assert sum(not run["slurm_job_id"] for run in runs) == 3
    assert sum(not run["_step"] for run in runs) == 2
    with (SAMPLE / "history.csv").open(encoding="utf-8", newline="") as stream:
        history = list(csv.DictReader(stream))
    assert {row["run_id"] for row in history} == {run["ID"] for run in runs if run["_step"]}
    assert sum(row["train/loss"] == "NaN" for row in history) == 2
    (restarted,) = [run["ID"] for run in runs if "restarted" in run["Notes"]]
    steps = [int(row["_step"]) for row in history if row["run_id"] == restarted]
    assert any(after < before for before, after in itertools.pairwise(steps))


def test_nodes_go_down_and_a_reason_holds_the_delimiter() -> None:
    events = (SAMPLE / "events.txt").read_text(encoding="utf-8").splitlines()
    assert len(events) == 8
    assert [line.split("|")[1] for line in events if "|Unknown|" in line] == ["", "gpu011"]
    assert [line.split("|")[1] for line in events if line.count("|") == 7] == ["gpu009"]
    assert sum("|DOWN|leaf 3 dead|" in line for line in events) == 3


def test_people_remark_on_a_session_nodes_and_a_ticket() -> None:
    with (SAMPLE / "annotations.csv").open(encoding="utf-8", newline="") as stream:
        notes = list(csv.DictReader(stream))
    assert [row["target"] for row in notes] == ["4127", "gpu007", "OPS-1050", "gpu003"]
    assert {row["planned"] for row in notes} == {"no"}
