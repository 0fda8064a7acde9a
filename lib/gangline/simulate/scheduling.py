"""What is drawn, as the scheduler knows it: sessions with their nodes, instants and last words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gangline.simulate.bench import Tenure, benched
from gangline.simulate.calibration import NODES, SECOND
from gangline.simulate.draws import Draws
from gangline.simulate.faults import Fault
from gangline.simulate.gangs import FAILED, TRAINED, Gang
from gangline.simulate.holders import Hold
from gangline.simulate.identities import HOLDERS, PRETRAINER, PRETRAINING, TESTER, session_id
from gangline.simulate.layout import Course
from gangline.simulate.pauses import Side
from gangline.simulate.plan import SessionPlan

Words = tuple[str, str, str, int | None]
RUNNING: Words = ("RUNNING", "", "UNDEFINED", None)
CRASHED: Words = ("TERMINATED", "task-failed", "FAILURE", 1)
KILLED: Words = ("TERMINATED", "user-requested", "UNDEFINED", None)
NODE_LOST: Words = ("TERMINATED", "agent-termination", "FAILURE", None)
FINISHED: Words = ("TERMINATED", "task-finished", "SUCCESS", 0)
CANCELLED: Words = ("CANCELLED", "user-requested", "UNDEFINED", None)
"""status, status_info, result and exit code."""
KILLED_SHARE = 0.3
FINISHED_SHARE = 0.55
HOLD_QUEUE_S = (3, 25)


def gang_sessions(
    draws: Draws,
    seed: int,
    gangs: Sequence[Gang],
    found: Sequence[Tenure],
    courses: Mapping[int, Course],
    faults: Mapping[int, Fault],
    run_ids: Mapping[int, str],
) -> list[SessionPlan]:
    """The gang's sessions in order; each runs on all nodes but the three on the bench."""
    sessions = []
    for place, gang in enumerate(gangs):
        is_retried = place + 1 < len(gangs) and (gangs[place + 1].attempt or 1) > 1
        words = _gang_words(draws, gang, faults.get(place), is_retried)
        left_out, course = benched(found, place), courses.get(place)
        session = replace(
            _gang_session(gang_id(seed, place), gang, words),
            nodes=tuple(node for node in NODES if node not in left_out),
            training_from_ms=course.first_step_ms if course else None,
            run_id=run_ids.get(place),
            failure_id=failure_id(place) if place in faults else None,
        )
        sessions.append(session)
    return sessions


def _gang_session(session_id: str, gang: Gang, words: Words) -> SessionPlan:
    status, info, result, code = words
    return SessionPlan(
        session_id=session_id,
        name=PRETRAINING,
        access_key=PRETRAINER,
        kind="gang",
        purpose="training",
        nodes=NODES,
        gpus_per_node=8,
        created_ms=gang.created_ms,
        started_ms=gang.started_ms,
        ended_ms=gang.ended_ms,
        status=status,
        status_info=info,
        result=result,
        exit_code=code,
        chain=gang.chain,
        attempt=gang.attempt,
    )


def gang_id(seed: int, place: int) -> str:
    """The id of the gang session at this place."""
    return session_id(seed, "gang", place)


def failure_id(place: int) -> str:
    """The id of the fault that ended the gang session at this place."""
    return f"failure-{place:03d}"


def held_sessions(draws: Draws, seed: int, holds: Sequence[Hold], to_ms: int) -> list[SessionPlan]:
    """Single-node sessions by which people keep a node."""
    sessions = []
    for number, hold in enumerate(holds):
        owner = HOLDERS[2] if hold.is_work else draws.shuffled(HOLDERS[:2])[0]
        is_open = hold.span.to_ms >= to_ms
        status, info, result, code = RUNNING if is_open else KILLED
        sessions.append(
            SessionPlan(
                session_id=session_id(seed, "hold", number),
                name=f"{'eval' if hold.is_work else 'keep'}-{hold.node}",
                access_key=owner,
                kind="single",
                purpose="work" if hold.is_work else "hold",
                nodes=(hold.node,),
                gpus_per_node=4,
                created_ms=hold.span.from_ms - draws.whole(*HOLD_QUEUE_S) * SECOND // 5,
                started_ms=hold.span.from_ms,
                ended_ms=None if is_open else hold.span.to_ms,
                status=status,
                status_info=info,
                result=result,
                exit_code=code,
            )
        )
    return sessions


def side_sessions(draws: Draws, seed: int, sides: Sequence[Side]) -> list[SessionPlan]:
    """Tests on several nodes, single-node work, and launches that were cancelled in the queue."""
    sessions = []
    for number, side in enumerate(sides):
        has_started = bool(side.nodes)
        words = draws.shuffled((CRASHED, KILLED))[0] if draws.between(0, 1) > FINISHED_SHARE else FINISHED
        status, info, result, code = words if has_started else CANCELLED
        is_single = len(side.nodes) == 1
        sessions.append(
            SessionPlan(
                session_id=session_id(seed, "side", number),
                name="dev" if is_single else f"nccl-test-{len(side.nodes)}n" if has_started else PRETRAINING,
                access_key=HOLDERS[2] if is_single else TESTER if has_started else PRETRAINER,
                kind="single" if is_single else "multi",
                purpose="work" if is_single else "test",
                nodes=side.nodes,
                gpus_per_node=side.gpus_per_node,
                created_ms=side.span.from_ms - draws.whole(5, 40) * SECOND if has_started else side.span.from_ms,
                started_ms=side.span.from_ms if has_started else None,
                ended_ms=side.span.to_ms,
                status=status,
                status_info=info,
                result=result,
                exit_code=code,
            )
        )
    return sessions


def _gang_words(draws: Draws, gang: Gang, fault: Fault | None, is_retried: bool) -> Words:
    if gang.ended_ms is None:
        return RUNNING
    if fault is not None and fault.kind == "host":
        return NODE_LOST
    if fault is None and not is_retried and gang.role == TRAINED:
        return KILLED if draws.between(0, 1) < 0.5 else CRASHED
    is_killed = gang.role == FAILED and fault is None and not is_retried and draws.between(0, 1) < KILLED_SHARE
    return KILLED if is_killed else CRASHED
