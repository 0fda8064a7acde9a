"""W&B logs, read back by the reader of real ones."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from gangline.simulate.wandb_files import ConsoleLine, HistoryRow, RunLog, framed, write_run
from tests.sources import wandb_writer
from tests.sources.wandb_writer import only_run, read_path, rows, steps

START = datetime(2025, 9, 1, 3, 0, tzinfo=UTC)
START_S = START.timestamp()


def _log(exit_code: int | None = 1, row_count: int = 2, starting_step: int | None = 100) -> RunLog:
    history = [
        HistoryRow(100 + place, START_S + 30.25 * place, {"train/loss": 2.5, "save_time_s": 18.0})
        for place in range(row_count)
    ]
    return RunLog(
        run_id="k3x",
        display_name="pretrain-4k",
        entity="lab",
        project="llm",
        group="pretrain",
        host="gpu062",
        username="minji",
        started_at=START,
        ended_at=START + timedelta(seconds=90),
        config={"stage": "4K", "resume_step": 100, "nothing": None},
        starting_step=starting_step,
        exit_code=exit_code,
        history=history,
        console=[ConsoleLine(START_S + 31.5, "NCCL timeout", "stderr"), ConsoleLine(START_S, "hello")],
    )


def test_a_run_reads_back(tmp_path: Path) -> None:
    path = write_run(tmp_path, _log(), ZoneInfo("Asia/Seoul"))
    assert path.relative_to(tmp_path).as_posix() == "offline-run-20250901_120000-k3x/run-k3x.wandb"
    batches, log = read_path(path)
    run = only_run(batches)
    told = {name: run[name] for name in ("run_id", "display_name", "owner", "host", "started_at", "ended_at")}
    assert told == {
        "run_id": "k3x",
        "display_name": "pretrain-4k",
        "owner": "minji",
        "host": "gpu062",
        "started_at": START,
        "ended_at": START + timedelta(seconds=90),
    }
    assert (run["starting_step"], run["is_resumed"], run["exit_code"], run["state"]) == (100, True, 1, "failed")
    assert run["config"] == '{"stage": "4K", "resume_step": 100, "nothing": null}'
    assert steps(batches) == [
        (100, "train/loss", 2.5, "number"),
        (100, "save_time_s", 18.0, "number"),
        (101, "train/loss", 2.5, "number"),
        (101, "save_time_s", 18.0, "number"),
    ]
    console = [(row["at"], row["stream"], row["text"]) for row in rows(batches, "console_records")]
    assert console == [
        (START, "stdout", "hello"),
        (START + timedelta(seconds=31.5), "stderr", "NCCL timeout"),
    ]
    assert (log.rejected, log.oddities) == (0, {})


@pytest.mark.parametrize(("code", "state"), [(0, "finished"), (255, "failed"), (None, "crashed")])
def test_ends(tmp_path: Path, code: int | None, state: str) -> None:
    batches, _ = read_path(write_run(tmp_path, _log(exit_code=code), ZoneInfo("UTC")))
    assert only_run(batches)["state"] == state


def test_a_run_from_scratch_was_not_resumed(tmp_path: Path) -> None:
    run = only_run(read_path(write_run(tmp_path, _log(starting_step=None), ZoneInfo("UTC")))[0])
    assert "starting_step" not in run or not run["is_resumed"]


def test_rows_across_many_blocks(tmp_path: Path) -> None:
    path = write_run(tmp_path, _log(row_count=2000), ZoneInfo("UTC"))
    assert path.stat().st_size > 5 * 32_768
    batches, log = read_path(path)
    assert [step for step, metric, _, _ in steps(batches) if metric == "train/loss"] == list(range(100, 2100))
    assert log.rejected == 0


@pytest.mark.parametrize("size", [0, 1, 32_747, 32_748, 32_753, 32_754, 32_755, 70_000])
def test_framing_is_that_of_the_tests_own_writer(size: int) -> None:
    payloads = [bytes(size), b"next", bytes(9)]
    assert framed(payloads) == wandb_writer.framed(payloads)
