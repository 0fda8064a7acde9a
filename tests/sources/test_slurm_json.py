"""`sacct --json` of both generations."""

import json
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gangline.sources import slurm
from gangline.sources.records import SourceRefusedError
from tests.sources.reading import Reading, reader_of

ReadText = Callable[..., Reading]
UNSET = {"set": False, "infinite": False, "number": 0}
OLD: dict[str, Any] = {
    "job_id": 19, "array": {"job_id": 10, "task_id": 2, "task": None}, "het": {"job_id": 0, "job_offset": None},
    "cluster": "h100a", "name": "train", "user": "kim", "association": {"user": "kim"}, "partition": "gpu",
    "nodes": "gpu[001-002]", "state": {"current": "FAILED", "reason": "None"},
    "exit_code": {"status": "SUCCESS", "return_code": 0},
    "time": {"submission": 1772445600, "start": 1772445660, "end": 1772449200, "limit": 1440, "elapsed": 3540},
    "tres": {"allocated": [
        {"type": "cpu", "name": None, "count": 4}, {"type": "gres", "name": "gpu", "count": 16},
        {"type": "gres", "name": "gpu:h100", "count": 16}, {"type": "gres", "name": "shard", "count": 3},
    ]},
    "steps": [{"step": {"id": "batch"}, "state": "CANCELLED"}],
}  # fmt: skip
NEW: dict[str, Any] = {
    **deepcopy(OLD),
    "array": {"job_id": 10, "task_id": {"set": True, "infinite": False, "number": 2}, "task": ""},
    "het": {"job_id": 0, "job_offset": UNSET},
    "state": {"current": ["FAILED"], "reason": "None"},
    "exit_code": {"status": ["ERROR"], "return_code": {"set": True, "infinite": False, "number": 7}},
    "time": {**OLD["time"], "limit": {"set": True, "infinite": False, "number": 1440}},
    "restart_cnt": 0,
    "submit_line": "sbatch a.sh",
}


@pytest.fixture
def read_text(tmp_path: Path) -> ReadText:
    """Reads a text as an export."""
    return reader_of(slurm, tmp_path, "sacct.json")


def document(*jobs: object, indent: int | None = 2, **rest: object) -> str:
    """What sacct prints."""
    return json.dumps({"meta": {"Slurm": {"release": "22.05.8"}}, "errors": [], "jobs": jobs, **rest}, indent=indent)


def changed(base: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """A job with some members, or parts of them, changed."""
    job = deepcopy(base)
    for key, value in parts.items():
        job[key] = {**job[key], **value} if isinstance(value, dict) and isinstance(job.get(key), dict) else value
    return job


@pytest.mark.parametrize("job", [OLD, NEW])
def test_both_generations_tell_the_same(read_text: ReadText, job: dict[str, Any]) -> None:
    reading = read_text(document(job))
    row = reading.row("session_records")
    assert (row["session_id"], row["bare_id"], row["attempt_key"]) == ("h100a:19:1772445600", "10_2", "h100a:19")
    assert (row["source_state"], row["state_key"], row["time_limit_min"]) == ("FAILED", "FAILED", 1440.0)
    assert (row["nodes"], row["gpu_count"], row["gpu_model"]) == (["gpu001", "gpu002"], 16.0, "h100")
    assert (row["started_at"], row["ended_at"]) == (
        datetime(2026, 3, 2, 10, 1, tzinfo=UTC),
        datetime(2026, 3, 2, 11, tzinfo=UTC),
    )
    assert row["attempt"] == job.get("restart_cnt")
    assert reading.log.oddities == {}


def test_a_running_and_a_waiting_job(read_text: ReadText) -> None:
    running = changed(OLD, state={"current": "RUNNING"}, time={"end": 0, "limit": None})
    waiting = changed(
        NEW, state={"current": ["PENDING"]}, time={"start": 0, "end": 0, "limit": UNSET}, nodes="None assigned"
    )
    rows = read_text(document(running, waiting)).rows("session_records")
    assert [(row["started_at"] is None, row["ended_at"], row["time_limit_min"]) for row in rows] == [
        (False, None, None),
        (True, None, None),
    ]
    assert rows[1]["gpu_count"] == 0.0


def test_states_with_flags(read_text: ReadText) -> None:
    flagged = changed(NEW, state={"current": ["COMPLETED", "COMPLETING"]})
    row = read_text(document(flagged)).row("session_records")
    assert (row["source_state"], row["state_key"]) == ("COMPLETED,COMPLETING", "COMPLETED")


@pytest.mark.parametrize(
    ("parts", "bare_id"),
    [
        ({"array": {"job_id": 0, "task_id": None}}, "19"),
        ({"array": {"job_id": 10, "task_id": None, "task": "3-7%2"}}, "10_[3-7%2]"),
        ({"array": {"job_id": 0, "task_id": None}, "het": {"job_id": 11, "job_offset": 0}}, "11+0"),
        ({"array": {"job_id": 0, "task_id": None}, "het": {"job_id": 11, "job_offset": 1}}, "11+1"),
    ],
)
def test_ids_as_sacct_shows_them(read_text: ReadText, parts: dict[str, Any], bare_id: str) -> None:
    assert read_text(document(changed(OLD, **parts))).row("session_records")["bare_id"] == bare_id


def test_exclusions_and_restarts(read_text: ReadText) -> None:
    job = changed(NEW, submit_line="sbatch -x gpu[003-004] a.sh", restart_cnt=1)
    reading = read_text(document(job))
    row = reading.row("session_records")
    assert (row["excluded_nodes"], row["attempt"]) == (["gpu003", "gpu004"], 1)
    assert reading.log.oddities == {"requeued_without_duplicates": (1, 1)}


def test_only_one_clusters_jobs(read_text: ReadText) -> None:
    reading = read_text(document(OLD, changed(OLD, cluster="cpu")), source_cluster="h100a")
    assert (reading.log.loaded, reading.log.ignored) == (1, {"other_cluster": 1})


@pytest.mark.parametrize(
    ("job", "why"),
    [
        ("text", "no object"),
        (changed(OLD, job_id=None), "no job_id or no state"),
        (changed(OLD, state={"current": []}), "no job_id or no state"),
        (changed(OLD, nodes="gpu[1-"), "not a host list"),
        (changed(OLD, time={"end": 1772445601}), "End is before Start"),
        (changed(OLD, time={"submission": 86400}), "next to zero"),
        ({}, "no job_id or no state"),
    ],
)
def test_a_job_that_cannot_be_one_is_a_reject_with_its_ordinal(read_text: ReadText, job: object, why: str) -> None:
    reading = read_text(document(OLD, job, NEW))
    assert reading.log.loaded == 2
    (reject,) = reading.log.rejects
    assert reject.line == 2
    assert why in reject.reason


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_cut_short_keeps_the_jobs_before(read_text: ReadText, indent: int | None) -> None:
    whole = document(OLD, changed(OLD, job_id=20), changed(OLD, job_id=21), indent=indent)
    reading = read_text(whole[: whole.rindex('"gpu:h100"')])
    assert [row["attempt_key"] for row in reading.rows("session_records")] == ["h100a:19", "h100a:20"]
    (reject,) = reading.log.rejects
    assert "the file ends inside a value" in reject.reason


def test_many_jobs_stream_past_the_buffer(read_text: ReadText) -> None:
    jobs = [changed(OLD, job_id=number, name="가" * 300) for number in range(1, 800)]
    reading = read_text(document(*jobs))
    assert reading.log.loaded == 799
    assert [row["line"] for row in reading.rows("session_records")] == list(range(1, 800))


def test_errors_that_slurm_reports_are_noted(read_text: ReadText) -> None:
    assert read_text(document(OLD, errors=[{"error": "slurmdbd"}])).log.oddities == {"slurm_errors": (1, None)}


def test_no_jobs_at_all(read_text: ReadText) -> None:
    assert read_text(document()).log.records == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"nodes": []}', "no jobs in this JSON"),
        ("[1, 2]", "no jobs in this JSON"),
        ('{"jobs": oops', "no JSON"),
        (document({"job_id": 7, "job_state": ["RUNNING"]}), "squeue's or scontrol's JSON"),
    ],
)
def test_json_of_another_kind_is_refused_with_the_mend(read_text: ReadText, text: str, why: str) -> None:
    with pytest.raises(SourceRefusedError, match=f"{why}.*sacct -a --json"):
        read_text(text)
