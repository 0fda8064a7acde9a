"""Draws the plan of a whole cluster: attempt after attempt, until one fits all the figures that it is held to.

The process comes first (hazards, answers of people, retries, holders), the figures condition it: counts are drawn
exactly, measures are stretched with their ranks kept, and what still does not fit is drawn again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gangline.simulate import bench, faults, holders, pauses, progress, scheduling
from gangline.simulate.bench import Tenure, benched
from gangline.simulate.calibration import HOUR, MINUTE, NODES, SCRAPE, SECOND, Calibration
from gangline.simulate.cases import cases
from gangline.simulate.conditions import meets
from gangline.simulate.draws import Draws
from gangline.simulate.faults import CASE_FAULTS, Fault
from gangline.simulate.gangs import Gang
from gangline.simulate.kernel_texts import xid_messages
from gangline.simulate.layout import Course, Layout
from gangline.simulate.loads import loads
from gangline.simulate.plan import (
    ClusterPlan,
    FailurePlan,
    KernelLinePlan,
    LoadPlan,
    NodeStatePlan,
    Plan,
    RunPlan,
    SavePlan,
    SessionPlan,
    StartupPlan,
)
from gangline.simulate.production import produced
from gangline.simulate.saves import SeenSave, saves

MOST_ATTEMPTS = 2_000
BENCH_ATTEMPTS = 60
CLUSTER = ClusterPlan(
    name="reference",
    time_zone="Asia/Seoul",
    nodes=NODES,
    gpus_per_node=8,
    gang_nodes=60,
    scrape_ms=SCRAPE,
    max_read_bytes_per_s=700_000_000_000,
    max_write_bytes_per_s=250_000_000_000,
    capacity_bytes=2_252_000_000_000_000,
    filled_from_bytes=450_000_000_000_000,
    filled_to_bytes=963_000_000_000_000,
)
STARTUPS = (
    StartupPlan(node_count=16, start_up_min=95.0, is_sharded=False, tokens_per_s=5_500),
    StartupPlan(node_count=60, start_up_min=480.0, is_sharded=False, tokens_per_s=None),
    StartupPlan(node_count=60, start_up_min=7.8, is_sharded=True, tokens_per_s=4_267),
)
REBOOT_AFTER, REBOOT_LASTS = 12 * MINUTE, 9 * MINUTE
UNLICENSED_WAIT, REPLACED_AFTER, LICENSED_BEFORE = 90 * MINUTE, 4 * MINUTE, 2 * MINUTE


class NoFitError(ValueError):
    """No draw of the seed fits the figures that it is held to."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A draw that fits, before it is told as sessions, runs, saves and loads."""

    gangs: Sequence[Gang]
    courses: Sequence[Course]
    tenures: Sequence[Tenure]
    faults: Sequence[Fault]
    attempt: int


def draw(seed: int, calibration: Calibration | None = None) -> Plan:
    """Draws a cluster; the same seed and calibration give the same plan on every machine.

    Raises
    ------
    NoFitError
        Where no draw fits the calibration.
    """
    wanted = calibration or Calibration()
    for attempt in range(MOST_ATTEMPTS):
        draft = _draft(seed, attempt, wanted)
        if draft is not None:
            return _plan(seed, wanted, draft)
    raise NoFitError(f"seed {seed}: none of {MOST_ATTEMPTS} draws fits the calibration; change what was moved less")


def _draft(seed: int, attempt: int, calibration: Calibration) -> Draft | None:
    production = produced(Draws(seed, attempt, "production"), calibration)
    if production is None:
        return None
    layout = Layout(Draws(seed, attempt, "layout"), calibration, production)
    if not layout.lay_out() or not meets(calibration, layout.timeline.gangs, layout.courses):
        return None
    return _benched(seed, attempt, calibration, layout)


def _benched(seed: int, attempt: int, calibration: Calibration, layout: Layout) -> Draft | None:
    gangs = layout.timeline.gangs
    for again in range(BENCH_ATTEMPTS):
        found = bench.tenures(Draws(seed, attempt, f"bench {again}"), calibration, gangs)
        broken = found and faults.faults(Draws(seed, attempt, f"faults {again}"), calibration, found, gangs)
        if found and broken:
            return Draft(gangs, layout.courses, found, broken, attempt)
    return None


def _plan(seed: int, calibration: Calibration, draft: Draft) -> Plan:
    runs = progress.runs(seed, draft.gangs, draft.courses, calibration.sessions.to_ms)
    failures = _failures(draft)
    returned = _returned(calibration, draft)
    return Plan(
        seed=seed,
        cluster=CLUSTER,
        sessions_span=calibration.sessions,
        telemetry=calibration.telemetry,
        node_states=(*_states(failures), *_unlicensed(draft, failures)),
        sessions=tuple(_sessions(seed, calibration, draft, runs)),
        runs=tuple(runs),
        saves=tuple(_saves(seed, calibration, draft, runs)),
        loads=tuple(_loads(seed, calibration, draft, runs)),
        failures=tuple(failures),
        kernel_lines=tuple(_kernel_lines(failures)),
        cases=tuple(cases(calibration, {it.node: it for it in failures if it.node in CASE_FAULTS}, returned)),
        startups=STARTUPS,
        outages=(),
    )


def _sessions(seed: int, calibration: Calibration, draft: Draft, runs: Sequence[RunPlan]) -> list[SessionPlan]:
    courses = {course.gang: course for course in draft.courses}
    by_session = {run.session_id: run.run_id for run in runs}
    run_ids = {place: by_session[scheduling.gang_id(seed, place)] for place, it in enumerate(draft.gangs) if it.has_run}
    broken = {fault.gang: fault for fault in draft.faults}
    words = Draws(seed, draft.attempt, "words")
    held = holders.holds(Draws(seed, draft.attempt, "holds"), calibration, draft.tenures, draft.gangs)
    beside = pauses.sides(Draws(seed, draft.attempt, "sides"), calibration, draft.tenures, draft.gangs)
    sessions = [
        *scheduling.gang_sessions(words, seed, draft.gangs, draft.tenures, courses, broken, run_ids),
        *scheduling.held_sessions(words, seed, held, calibration.sessions.to_ms),
        *scheduling.side_sessions(words, seed, beside),
    ]
    return sorted(sessions, key=lambda session: (session.created_ms, session.session_id))


def _saves(seed: int, calibration: Calibration, draft: Draft, runs: Sequence[RunPlan]) -> list[SavePlan]:
    by_session = {run.session_id: run for run in runs}
    telemetry = calibration.telemetry
    seen = [
        SeenSave(course, by_session[scheduling.gang_id(seed, course.gang)], number, *_writers(draft, course.gang))
        for course in draft.courses
        for number, at_ms in enumerate(course.saves)
        if telemetry.from_ms <= at_ms < telemetry.to_ms
    ]
    return saves(Draws(seed, draft.attempt, "saves"), calibration, seen)


def _writers(draft: Draft, place: int) -> tuple[frozenset[str], tuple[str, ...]]:
    """Nodes on the bench that are there at all, and the gang's own."""
    left_out, own = _sides(draft, place)
    gone = {fault.node for fault in draft.faults if fault.node in CASE_FAULTS and not fault.xids and fault.gang < place}
    return left_out - gone, own


def _sides(draft: Draft, place: int) -> tuple[frozenset[str], tuple[str, ...]]:
    left_out = benched(draft.tenures, place)
    return left_out, tuple(node for node in NODES if node not in left_out)


def _loads(seed: int, calibration: Calibration, draft: Draft, runs: Sequence[RunPlan]) -> list[LoadPlan]:
    by_session = {run.session_id: run for run in runs}
    telemetry = calibration.telemetry
    seen = [course for course in draft.courses if telemetry.from_ms <= course.load_from_ms < telemetry.to_ms]
    own = [by_session[scheduling.gang_id(seed, course.gang)] for course in seen]
    counted = [course.run_ended_ms - draft.gangs[course.gang].started_ms >= HOUR for course in seen]
    return loads(Draws(seed, draft.attempt, "loads"), calibration, seen, own, counted)


def _failures(draft: Draft) -> list[FailurePlan]:
    found = []
    for fault in draft.faults:
        gang = draft.gangs[fault.gang]
        ended_ms = gang.ended_ms or 0
        found.append(
            FailurePlan(
                failure_id=scheduling.failure_id(fault.gang),
                kind=fault.kind,
                node=fault.node,
                gpu=fault.gpu,
                xids=fault.xids,
                at_ms=ended_ms - fault.before_end_ms,
                session_id=None,
            )
        )
    return found


def _kernel_lines(failures: Sequence[FailurePlan]) -> list[KernelLinePlan]:
    """A second between the codes of one fault; the first line of a code's messages carries it."""
    lines = []
    for failure in failures:
        for number, code in enumerate(failure.xids):
            at_ms = failure.at_ms + number * SECOND // 2
            for text in xid_messages(failure.node, failure.gpu or 0, code, at_ms, pid=4_000 + number):
                is_told = "Xid" in text
                lines.append(
                    KernelLinePlan(
                        failure.node, at_ms, failure.gpu if is_told else None, code if is_told else None, text
                    )
                )
    return lines


def _states(failures: Sequence[FailurePlan]) -> list[NodeStatePlan]:
    """Nodes whose GPU fell off the bus come up again after a while; the one that is gone does not."""
    states = []
    for failure in failures:
        if 79 in failure.xids:
            from_ms = failure.at_ms + REBOOT_AFTER
            states.append(NodeStatePlan(failure.node, "down", from_ms, from_ms + REBOOT_LASTS, "reboot after XID 79"))
        elif failure.node in CASE_FAULTS and not failure.xids:
            states.append(
                NodeStatePlan(failure.node, "down", failure.at_ms, None, "a GPU with 254 remapped rows is gone")
            )
    return states


def _unlicensed(draft: Draft, failures: Sequence[FailurePlan]) -> list[NodeStatePlan]:
    """A GPU was replaced and its licence was missing: the pool is a node short until a retry can start, hours later."""
    broken = {failure.failure_id: failure.node for failure in failures}
    states = []
    for place, gang in enumerate(draft.gangs):
        waited_ms = gang.started_ms - gang.created_ms
        if waited_ms < UNLICENSED_WAIT:
            continue
        from_ms = (draft.gangs[place - 1].ended_ms or 0) + REPLACED_AFTER
        node = broken.get(scheduling.failure_id(place - 1)) or _sides(draft, place)[1][place % 60]
        reason = "GPU replaced: licence missing"
        states.append(NodeStatePlan(node, "drained", from_ms, gang.started_ms - LICENSED_BEFORE, reason))
    return states


def _returned(calibration: Calibration, draft: Draft) -> dict[str, int]:
    """When each case's node is back in the gang."""
    stops = {tenure.node: tenure.stop for tenure in draft.tenures}
    found = {}
    for node in CASE_FAULTS:
        stop = stops.get(node, len(draft.gangs))
        found[node] = draft.gangs[stop].started_ms if stop < len(draft.gangs) else calibration.telemetry.to_ms
    return found
