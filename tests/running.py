"""A small cluster with runs, for tests of runs, efforts and curves: in minutes of one day."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import duckdb

from gangline.build import build
from tests.recovering import HEAD, LATEST, MARTS, at, launch
from tests.sql.given import warehouse_of

RUN_HEAD = (
    "file, run_id, run_id_evidence, display_name, owner, started_at, first_at, latest_at, state, end_evidence, "
    "history_rows, is_sampled"
)
STEP_HEAD = "file, run_id, line, step, at, metric, value, value_kind"
RUN_MARTS = ("runs", "run_processes", "run_steps", "run_rework_steps")
SESSIONS = (launch("a", "kim", 0, 120), launch("b", "kim", 130, 170), launch("c", "kim", 400, 60))
# ra is lost from step 21 on; rb begins again inside at step 31; two of a sweep run side by side from step 1
HISTORY: dict[str, list[tuple[float, int, float]]] = {
    "ra": [(10, 1, 4.0), (20, 10, 3.9), (30, 20, 3.8), (40, 30, 3.7), (50, 40, 3.6)],
    "rb": [(140, 21, 3.8), (150, 30, 3.7), (160, 40, 3.6), (170, 31, 3.7), (180, 40, 3.5), (190, 50, float("nan"))],
    "s1": [(10, 1, 2.0), (20, 2, 1.9)],
    "s2": [(12, 1, 2.0), (22, 2, 1.8)],
}
RUNS: dict[str, tuple[str, float, float, str]] = {
    "ra": ("train", 5, 55, "crashed"),
    "rb": ("train-retry1", 135, 195, "failed"),
    "s1": ("sweep", 5, 25, "finished"),
    "s2": ("sweep", 7, 27, "finished"),
    "u": ("<b>nobody's</b>", 500, 510, "killed"),
}


def step_lines(history: dict[str, list[tuple[float, int, float]]], metrics: Sequence[str]) -> list[str]:
    """A line a point of each metric; NaN is no number."""
    return [
        f"export, {run}, {line}, {step}, {at(minute)}, {metric}, {', nan' if math.isnan(value) else f'{value}, number'}"
        for run, rows in history.items()
        for line, (minute, step, value) in enumerate(rows, 1)
        for metric in metrics
    ]


def run_lines(sampled: Sequence[str] = (), history: dict[str, list[tuple[float, int, float]]] = HISTORY) -> list[str]:
    """A line a run."""
    return [
        f'export, {run}, column, "{name}", kim, {at(begin)}, {at(begin)}, {at(end)}, {state}, source_state, '
        f"{len(history.get(run, ()))}, {str(run in sampled).lower()}"
        for run, (name, begin, end, state) in RUNS.items()
    ]


@contextmanager
def cluster_with_runs(
    *, has_runs: bool = True, has_sessions: bool = True, has_steps: bool = True, sampled: Sequence[str] = ()
) -> Iterator[duckdb.DuckDBPyConnection]:
    """The built warehouse of the story, or of some of it."""
    given = {
        "config": {"cluster": {"gang_min_nodes": 2, "run_name_strip": [r"-retry\d+$"]}},
        "files": [
            {"id": "jobs", "kind": "sessions_csv", "latest_at": LATEST},
            {"id": "export", "kind": "wandb", "latest_at": LATEST},
        ],
        "sessions": "\n".join([HEAD, *SESSIONS]) if has_sessions else "",
        "runs": "\n".join([RUN_HEAD, *run_lines(sampled)]) if has_runs else "",
        "run_steps": "\n".join([STEP_HEAD, *step_lines(HISTORY, ["train/loss"])]) if has_runs and has_steps else "",
    }
    with warehouse_of(given) as con:
        build(con, only=[*MARTS, *RUN_MARTS])
        yield con
