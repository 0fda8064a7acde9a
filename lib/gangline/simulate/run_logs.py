"""The plan's runs as W&B logs: config, a history row a few steps, the save's time in the row of its step, output."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from gangline.simulate.plan import FailurePlan, Plan, RunPlan, SavePlan, SessionPlan
from gangline.simulate.wandb_files import ConsoleLine, HistoryRow, RunLog, write_run
from gangline.sources.samples import instant_of_ms

SAVE_TIME_KEY, STAGE_KEY = "checkpoint/save_time_s", "stage"
EXIT_CODES = {"failed": 1}  # of other states there is no exit record
TOKENS_PER_S_AND_GPU = 4_267  # of 60 nodes in the report
LAST_WORDS = {
    "nvlink": "RuntimeError: CUDA error: unspecified launch failure (NVLink)",
    "bus": "RuntimeError: CUDA error: the GPU is lost",
    "ecc": "RuntimeError: CUDA error: uncorrectable ECC error encountered",
    "gsp": "RuntimeError: CUDA error: unknown error",
    "host": "torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error",
    "network": "ncclSystemError: Connection closed by remote peer",
    "storage": "OSError: [Errno 5] Input/output error",
    "software": "RuntimeError: Watchdog caught collective timeout: ran for 600000 milliseconds",
}


def write_runs(folder: Path, plan: Plan) -> list[Path]:
    """Writes a log for every run."""
    sessions = {session.session_id: session for session in plan.sessions}
    failures = {failure.failure_id: failure for failure in plan.failures}
    zone = ZoneInfo(plan.cluster.time_zone)
    paths = []
    for run in plan.runs:
        session = sessions[run.session_id]
        saves = [save for save in plan.saves if save.run_id == run.run_id]
        log = run_log(plan, run, session, saves, failures.get(session.failure_id or ""))
        paths.append(write_run(folder, log, zone))
    return paths


def run_log(
    plan: Plan, run: RunPlan, session: SessionPlan, saves: Sequence[SavePlan], failure: FailurePlan | None
) -> RunLog:
    """What one run's log holds, up to the export where it goes on."""
    gpu_count = len(session.nodes) * session.gpus_per_node
    return RunLog(
        run_id=run.run_id,
        display_name=run.name,
        entity="llm",
        project="pretrain",
        group=session.name,
        host=session.nodes[0],
        username=session.access_key,
        started_at=instant_of_ms(run.started_ms),
        ended_at=instant_of_ms(run.ended_ms),
        config={
            "backendai_session_id": run.session_id,
            STAGE_KEY: run.stage,
            "context_length": run.context_length,
            "resume_step": run.resume_step,
            "world_size": gpu_count,
            "save_dir": "/data/checkpoints/pretrain",
        },
        starting_step=run.resume_step,
        exit_code=EXIT_CODES.get(run.state),
        history=list(history(plan.seed, run, saves)),
        console=[*_console(run, saves), *_last_words(run, failure)],
    )


def history(seed: int, run: RunPlan, saves: Sequence[SavePlan]) -> Iterator[HistoryRow]:
    """The run's rows in order; the row of a save's step is logged once the save is done."""
    steps = logged_steps(run, saves)
    if steps.size == 0:
        return
    progress = Progress.of(run, steps)
    at_ms, step_s = progress.at_ms, progress.step_s
    noise = np.random.default_rng([seed, run.started_ms]).integers(-9, 10, (2, steps.size))
    ended = {save.step: save for save in saves}
    for place, step in enumerate(steps.tolist()):
        metrics = {
            "train/loss": round(1.9 + 4000 / (step + 2000) + noise[0, place].item() / 1000, 4),
            "train/step_time_s": round(step_s[place].item(), 3),
            "train/tokens_per_s_per_gpu": TOKENS_PER_S_AND_GPU + noise[1, place].item(),
        }
        logged_ms = at_ms[place].item()
        if step in ended:
            metrics[SAVE_TIME_KEY] = ended[step].stall_ms / 1000
            logged_ms = ended[step].started_ms + ended[step].stall_ms
        yield HistoryRow(step, logged_ms / 1000, metrics)


def logged_steps(run: RunPlan, saves: Sequence[SavePlan]) -> NDArray[np.int64]:
    """Multiples of `log_every`, the first step beyond the one it resumed from, those of its saves, and the last."""
    if not run.knots or run.last_step <= run.resume_step:
        return np.empty(0, np.int64)
    first = run.resume_step + 1
    regular = np.arange(-(-first // run.log_every) * run.log_every, run.last_step + 1, run.log_every)
    return np.unique([first, *regular, *(save.step for save in saves), run.last_step]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Progress:
    """A run's way between its knots, for steps asked about."""

    steps: NDArray[np.int64]
    from_step: NDArray[np.int64]
    from_ms: NDArray[np.int64]
    width: NDArray[np.int64]
    lasted_ms: NDArray[np.int64]

    @classmethod
    def of(cls, run: RunPlan, steps: NDArray[np.int64]) -> "Progress":
        """The stretch between knots in which each step was reached first."""
        knot_steps = np.array([knot.step for knot in run.knots], np.int64)
        knot_ms = np.array([knot.at_ms for knot in run.knots], np.int64)
        after = np.clip(np.searchsorted(knot_steps, steps, "left"), 1, len(knot_steps) - 1)
        before = after - 1
        width = np.maximum(knot_steps[after] - knot_steps[before], 1)
        return cls(steps, knot_steps[before], knot_ms[before], width, knot_ms[after] - knot_ms[before])

    @property
    def at_ms(self) -> NDArray[np.int64]:
        """When each step was reached."""
        passed = np.clip(self.steps - self.from_step, 0, self.width)
        return np.asarray(self.from_ms + passed * self.lasted_ms // self.width, np.int64)

    @property
    def step_s(self) -> NDArray[np.float64]:
        """How long a step takes there."""
        return np.asarray(self.lasted_ms / self.width / 1000, np.float64)


def _console(run: RunPlan, saves: Sequence[SavePlan]) -> Iterator[ConsoleLine]:
    yield ConsoleLine(run.started_ms / 1000, f"loading checkpoint of step {run.resume_step}")
    if run.first_step_ms is not None:
        yield ConsoleLine(run.first_step_ms / 1000, f"training from step {run.resume_step + 1}")
    for save in saves:
        yield ConsoleLine(save.started_ms / 1000, f"saving checkpoint of step {save.step}")
        ended_s = (save.started_ms + save.stall_ms) / 1000
        yield ConsoleLine(ended_s, f"saved checkpoint of step {save.step} in {save.stall_ms / 1000:.1f} s")


def _last_words(run: RunPlan, failure: FailurePlan | None) -> Iterator[ConsoleLine]:
    """What the program said of the failure, if it lived to say it."""
    if failure is not None and run.started_ms <= failure.at_ms <= run.ended_ms:
        text = LAST_WORDS.get(failure.kind, "RuntimeError: unknown error")
        yield ConsoleLine(failure.at_ms / 1000, f"[rank{(failure.gpu or 0)}] {failure.node}: {text}", "stderr")
