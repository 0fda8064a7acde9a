"""A plan's runs as W&B logs, read back by the reader of real ones."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from gangline.simulate.run_logs import Progress, logged_steps, write_runs
from tests.simulate.small_plan import PLAN, RUN, SAVES, at
from tests.sources.wandb_writer import only_run, read_path, rows, steps


def test_steps_that_are_logged() -> None:
    logged = logged_steps(replace(RUN, resume_step=1000, last_step=1034), ()).tolist()
    assert logged == [1001, 1010, 1020, 1030, 1034]
    assert 1705 in logged_steps(RUN, (replace(SAVES[0], step=1705),)).tolist()
    assert logged_steps(replace(RUN, knots=(), last_step=1000), ()).size == 0


def test_instants_between_knots_and_around_a_stall() -> None:
    wanted = {1000: at(39), 1160: at(39) + (at(200) - at(39)) // 2, 1320: at(200), 1321: at(201) + 8_940_000 // 590}
    assert Progress.of(RUN, np.array(list(wanted))).at_ms.tolist() == list(wanted.values())


def test_a_run_reads_back(tmp_path: Path) -> None:
    (path,) = write_runs(tmp_path, PLAN)
    batches, log = read_path(path)
    assert (log.rejected, log.oddities) == (0, {})
    run = only_run(batches)
    assert (run["starting_step"], run["state"], run["last_step"]) == (1000, "crashed", 1910)
    assert '"stage": "4K"' in str(run["config"])
    saved = [(step, value) for step, metric, value, _ in steps(batches) if metric == "checkpoint/save_time_s"]
    assert saved == [(1320, 18.0), (1700, 18.0)]
    logged = {row["step"]: row["at"].timestamp() * 1000 for row in rows(batches, "run_step_records")}  # type: ignore[attr-defined]
    assert logged[1700] == SAVES[1].started_ms + 18_000
    assert len(logged) == 92
    texts = [str(row["text"]) for row in rows(batches, "console_records")]
    assert texts[0] == "loading checkpoint of step 1000"
    assert texts[-1].startswith("[rank1] gpu063: RuntimeError")


def test_a_run_that_never_passed_its_resume_step_logs_no_row(tmp_path: Path) -> None:
    run = replace(RUN, knots=(), last_step=1000, first_step_ms=None, state="failed")
    (path,) = write_runs(tmp_path, replace(PLAN, runs=(run,), saves=()))
    batches, _ = read_path(path)
    assert steps(batches) == []
    assert only_run(batches)["exit_code"] == 1
