"""What was drawn, written beside the exports: no analysis reads it, tests hold the marts to it."""

import dataclasses
import json
from collections.abc import Iterator
from itertools import groupby, zip_longest
from pathlib import Path

from gangline.simulate.plan import Plan, SessionPlan

SCHEMA = 1


def write_truth(path: Path, plan: Plan) -> None:
    """Writes the truth as JSON: a list a kind of thing, times in milliseconds since 1970."""
    path.write_text(json.dumps(truth_of(plan), indent=1) + "\n")


def truth_of(plan: Plan) -> dict[str, object]:
    """The plan row by row, with the chains and episodes that its sessions make."""
    return {
        "schema": SCHEMA,
        "seed": plan.seed,
        "cluster": dataclasses.asdict(plan.cluster),
        "sessions_span": dataclasses.asdict(plan.sessions_span),
        "telemetry": dataclasses.asdict(plan.telemetry),
        "sessions": [dataclasses.asdict(session) for session in plan.sessions],
        "chains": list(_chains(plan)),
        "episodes": list(_episodes(plan)),
        "saves": [dataclasses.asdict(save) | {"total_bytes": save.total_bytes} for save in plan.saves],
        "loads": [dataclasses.asdict(load) for load in plan.loads],
        "runs": [dataclasses.asdict(run) for run in plan.runs],
        "failures": [dataclasses.asdict(failure) for failure in plan.failures],
        "kernel_lines": [dataclasses.asdict(line) for line in plan.kernel_lines],
        "node_states": [dataclasses.asdict(state) for state in plan.node_states],
        "cases": [dataclasses.asdict(case) for case in plan.cases],
        "startups": [dataclasses.asdict(startup) for startup in plan.startups],
    }


def _chains(plan: Plan) -> Iterator[dict[str, object]]:
    members = sorted(
        (session for session in plan.sessions if session.chain is not None),
        key=lambda session: (session.chain or 0, session.attempt or 0),
    )
    for chain, group in groupby(members, key=lambda session: session.chain):
        sessions = list(group)
        yield {
            "chain": chain,
            "sessions": [session.session_id for session in sessions],
            "retries": len(sessions) - 1,
            "recovered": any(session.training_from_ms is not None for session in sessions[1:]),
            "ended_training": sessions[-1].training_from_ms is not None,
        }


def _episodes(plan: Plan) -> Iterator[dict[str, object]]:
    """From the end of a gang session that trained to the next one's training; the last one, if it ended, stays open."""
    trained = sorted(_trained(plan), key=lambda session: session.started_ms or 0)
    for failed, restoring in zip_longest(trained, trained[1:]):
        if failed.ended_ms is None:
            continue
        is_retry = restoring is not None and restoring.chain is not None and (restoring.attempt or 1) > 1
        yield {
            "failed_session_id": failed.session_id,
            "started_ms": failed.ended_ms,
            "restoring_session_id": restoring.session_id if restoring else None,
            "session_restored_ms": restoring.started_ms if restoring else None,
            "training_restored_ms": restoring.training_from_ms if restoring else None,
            "is_automatic": is_retry if restoring else None,
        }


def _trained(plan: Plan) -> Iterator[SessionPlan]:
    return (session for session in plan.sessions if session.kind == "gang" and session.training_from_ms is not None)
