"""The plan of a cluster of any size: launches told as sessions, runs, saves, loads and kernel lines."""

from collections.abc import Sequence

from gangline.simulate.calibration import DAY, SCRAPE, SECOND, SESSIONS_FROM
from gangline.simulate.draws import Draws
from gangline.simulate.free_launches import QUEUE_MS, Launch, Scale, launch_all
from gangline.simulate.identities import PRETRAINER, PRETRAINING, run_id, session_id
from gangline.simulate.kernel_texts import xid_messages
from gangline.simulate.loads import PAGE_CACHE_BYTES, READ
from gangline.simulate.plan import (
    ClusterPlan,
    FailurePlan,
    KernelLinePlan,
    Knot,
    LoadPlan,
    NodeBytes,
    Plan,
    RunPlan,
    SavePlan,
    SessionPlan,
    Span,
)
from gangline.simulate.saves import WRITE

STAGE, CONTEXT = "4K", 4_096
SAVE_STEPS, STALL_MS, STEP_MS, LOG_EVERY = 140, 20 * SECOND, 30 * SECOND, 10
SAVED_BYTES, STAGED_BYTES, READ_BYTES_PER_S = 20_000_000_000, 40_000_000_000, 2_500_000_000
WRITE_SHARE, READ_SHARE, BYTES_PER_NODE = 0.16, 0.21, 36_000_000_000_000


def draw_free(seed: int, scale: Scale) -> Plan:
    """Draws a cluster of this scale; equal seeds and scales give equal plans.

    Raises
    ------
    ScaleError
        Where the scale leaves no gang or no time, or is beyond what can be drawn.
    """
    scale.check()
    width = max(3, len(str(scale.nodes)))
    nodes = tuple(f"gpu{number:0{width}d}" for number in range(1, scale.nodes + 1))
    span = Span(SESSIONS_FROM, SESSIONS_FROM + scale.days * DAY)
    drawn = launch_all(Draws(seed, 0, "free"), scale, nodes, span)
    runs = _runs(seed, drawn.launches, span)
    failures = [_failure(number, launch) for number, launch in enumerate(drawn.launches) if launch.broken]
    return Plan(
        seed=seed,
        cluster=_cluster(scale, nodes),
        sessions_span=span,
        telemetry=span,
        node_states=drawn.repairs,
        sessions=tuple(_session(seed, number, launch, runs) for number, launch in enumerate(drawn.launches)),
        runs=tuple(runs.values()),
        saves=tuple(save for number in runs for save in _saves(number, drawn.launches[number], runs[number])),
        loads=tuple(_load(number, drawn.launches[number], run) for number, run in runs.items()),
        failures=tuple(failures),
        kernel_lines=tuple(line for failure in failures for line in _lines(failure)),
        cases=(),
        startups=(),
        outages=(),
    )


def _cluster(scale: Scale, nodes: tuple[str, ...]) -> ClusterPlan:
    """Storage as large as the gang's saves and loads ask for in the reference cluster."""
    written = scale.gang * SAVED_BYTES * SECOND // SCRAPE
    capacity = scale.nodes * BYTES_PER_NODE
    return ClusterPlan(
        name="simulated",
        time_zone="Asia/Seoul",
        nodes=nodes,
        gpus_per_node=8,
        gang_nodes=scale.gang,
        scrape_ms=SCRAPE,
        max_read_bytes_per_s=round(scale.gang * READ_BYTES_PER_S / READ_SHARE),
        max_write_bytes_per_s=round(written / WRITE_SHARE),
        capacity_bytes=capacity,
        filled_from_bytes=capacity // 5,
        filled_to_bytes=capacity * 2 // 5,
    )


def _session(seed: int, number: int, launch: Launch, runs: dict[int, RunPlan]) -> SessionPlan:
    run = runs.get(number)
    return SessionPlan(
        session_id=session_id(seed, "gang", number),
        name=PRETRAINING,
        access_key=PRETRAINER,
        kind="gang",
        purpose="training",
        nodes=launch.nodes,
        gpus_per_node=8,
        created_ms=launch.started_ms - QUEUE_MS,
        started_ms=launch.started_ms,
        ended_ms=launch.ended_ms,
        status="RUNNING" if launch.ended_ms is None else "TERMINATED",
        status_info="" if launch.ended_ms is None else "task-failed",
        result="UNDEFINED" if launch.ended_ms is None else "FAILURE",
        exit_code=None if launch.ended_ms is None else 1,
        chain=launch.chain,
        attempt=launch.attempt,
        training_from_ms=launch.first_step_ms if run and run.knots else None,
        run_id=run.run_id if run else None,
        failure_id=f"failure-{number:04d}" if launch.broken else None,
    )


def _runs(seed: int, launches: Sequence[Launch], span: Span) -> dict[int, RunPlan]:
    """A run for every launch that trained, each from the last save before it."""
    runs: dict[int, RunPlan] = {}
    saved = 0
    for number, launch in enumerate(launches):
        if launch.first_step_ms is not None and launch.first_step_ms < span.to_ms:
            runs[number] = _run(seed, number, launch, saved, span)
            saved += SAVE_STEPS * ((len(runs[number].knots) - 1) // 2)
    return runs


def _run(seed: int, number: int, launch: Launch, saved: int, span: Span) -> RunPlan:
    ended_ms = launch.broken.at_ms if launch.broken else span.to_ms
    knots = _knots(launch.first_step_ms or 0, ended_ms, saved)
    return RunPlan(
        run_id=run_id(seed, number),
        session_id=session_id(seed, "gang", number),
        name=f"{PRETRAINING}-{number:03d}",
        stage=STAGE,
        context_length=CONTEXT,
        started_ms=launch.started_ms + 30 * SECOND,
        ended_ms=ended_ms,
        state="crashed",
        resume_step=saved,
        first_step_ms=launch.first_step_ms,
        last_step=knots[-1].step,
        log_every=LOG_EVERY,
        knots=knots,
    )


def _knots(first_ms: int, ended_ms: int, saved: int) -> tuple[Knot, ...]:
    """The first step, the start and end of each save that was completed, and the last step."""
    knots = [Knot(first_ms, saved + 1)]
    while (at_ms := knots[-1].at_ms + SAVE_STEPS * STEP_MS) + SCRAPE < ended_ms:
        step = saved + SAVE_STEPS * (len(knots) // 2 + 1)
        knots += [Knot(at_ms, step), Knot(at_ms + STALL_MS, step)]
    steps = (ended_ms - knots[-1].at_ms) // STEP_MS
    return (*knots, Knot(knots[-1].at_ms + steps * STEP_MS, knots[-1].step + steps))


def _saves(number: int, launch: Launch, run: RunPlan) -> list[SavePlan]:
    starts = run.knots[1:-1:2]
    return [
        SavePlan(
            save_id=f"save-{number:03d}-{place:04d}",
            session_id=run.session_id,
            run_id=run.run_id,
            stage=run.stage,
            step=knot.step,
            started_ms=knot.at_ms,
            stall_ms=STALL_MS,
            steps=(((knot.at_ms - SESSIONS_FROM) // SCRAPE * SCRAPE + SESSIONS_FROM, 1.0),),
            groups=(NodeBytes(launch.nodes, SAVED_BYTES, STAGED_BYTES),),
            interval_ms=None if place == 0 else knot.at_ms - starts[place - 1].at_ms,
            requests=WRITE,
        )
        for place, knot in enumerate(starts)
    ]


def _load(number: int, launch: Launch, run: RunPlan) -> LoadPlan:
    rate = len(launch.nodes) * READ_BYTES_PER_S
    return LoadPlan(
        load_id=f"load-{number:03d}",
        session_id=run.session_id,
        started_ms=launch.load_from_ms,
        ended_ms=launch.load_from_ms + launch.load_steps * SCRAPE,
        rates_bytes_per_s=(rate,) * launch.load_steps,
        page_cache_bytes_per_node=PAGE_CACHE_BYTES,
        requests=READ,
    )


def _failure(number: int, launch: Launch) -> FailurePlan:
    broken = launch.broken
    assert broken is not None
    gpu = broken.gpu if broken.xids else None
    return FailurePlan(f"failure-{number:04d}", broken.kind, broken.node, gpu, broken.xids, broken.at_ms, None)


def _lines(failure: FailurePlan) -> list[KernelLinePlan]:
    lines = []
    for number, code in enumerate(failure.xids):
        at_ms = failure.at_ms + number * SECOND // 2
        for text in xid_messages(failure.node, failure.gpu or 0, code, at_ms, pid=4_000 + number):
            is_told = "Xid" in text
            gpu, xid = (failure.gpu, code) if is_told else (None, None)
            lines.append(KernelLinePlan(failure.node, at_ms, gpu, xid, text))
    return lines
