"""Backend.AI sessions as GraphQL gives them: pages of `compute_session_nodes` with their kernels and status history.

The shape is that of Backend.AI 26.8 (formats 5): JSON inside strings, agents named `i-<host>`, empty occupied slots
once a session has ended.
"""

import base64
import json
import uuid
from collections.abc import Sequence
from pathlib import Path

from gangline.simulate.plan import Plan, SessionPlan
from gangline.sources.samples import instant_of_ms

PAGE_SESSIONS = 100
CPUS_PER_NODE, MEMORY_PER_NODE, GPUS_PER_NODE = 192, 2 << 40, 8
IMAGE = "cr.backend.ai/stable/ngc-pytorch:25.04-pytorch2.7-py312-cuda12.9"
# Milliseconds before RUNNING at which a session enters the steps before it; what is left before is the queue.
STEPS_BEFORE = (
    ("SCHEDULED", 27_400),
    ("PREPARING", 26_900),
    ("PULLING", 26_600),
    ("PREPARED", 2_900),
    ("CREATING", 2_500),
)
TERMINATING_MS = 2_000
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "backendai.simulate.gangline")


def write_pages(folder: Path, plan: Plan, page: int = PAGE_SESSIONS) -> list[Path]:
    """Writes the sessions as pages of the query's answer; gives the files."""
    folder.mkdir(parents=True, exist_ok=True)
    sessions = plan.sessions
    paths = []
    for number, first in enumerate(range(0, len(sessions), page), start=1):
        answer = _answer(sessions[first : first + page], first, has_next=first + page < len(sessions))
        paths.append(folder / f"compute_session_nodes_{number:03d}.json")
        paths[-1].write_text(json.dumps(answer, indent=1) + "\n")
    return paths


def session_node(session: SessionPlan) -> dict[str, object]:
    """One session with its kernels, as the query gives it."""
    is_multi = len(session.nodes) > 1
    history = {status: _instant(at_ms) for status, at_ms in status_history(session)}
    return {
        "id": _base64(f"ComputeSessionNode:{session.session_id}"),
        "row_id": session.session_id,
        "name": session.name,
        "type": "interactive" if session.purpose == "hold" else "batch",
        "priority": 10,
        "cluster_mode": "multi-node" if is_multi else "single-node",
        "cluster_size": len(session.nodes),
        "domain_name": "default",
        "project_id": str(uuid.uuid5(_NAMESPACE, "project")),
        "user_id": str(uuid.uuid5(_NAMESPACE, session.access_key)),
        "access_key": session.access_key,
        **_state(session, len(session.nodes)),
        "status_history": json.dumps(history),
        "scheduled_at": history.get("SCHEDULED"),
        "result": session.result,
        "agent_ids": [f"i-{node}" for node in session.nodes],
        "scaling_group": "b200",
        "image_references": [IMAGE],
        "kernel_nodes": _kernels(session),
    }


def status_history(session: SessionPlan) -> list[tuple[str, int]]:
    """When the session entered each status, in order; one that never ran goes from the queue to its end."""
    visits = [("PENDING", session.created_ms)]
    if session.started_ms is not None:
        waited = session.started_ms - session.created_ms
        scale = min(1.0, waited / (2 * STEPS_BEFORE[0][1]))
        visits += [(status, session.started_ms - round(before * scale)) for status, before in STEPS_BEFORE]
        visits.append(("RUNNING", session.started_ms))
    if session.ended_ms is not None:
        if session.started_ms is not None and session.status == "TERMINATED":
            visits.append(("TERMINATING", max(session.started_ms, session.ended_ms - TERMINATING_MS)))
        visits.append((session.status, session.ended_ms))
    return visits


def _answer(sessions: Sequence[SessionPlan], first: int, has_next: bool) -> dict[str, object]:
    edges = [
        {"cursor": _base64(f"cursor:{first + place}"), "node": session_node(session)}
        for place, session in enumerate(sessions)
    ]
    info = {"hasNextPage": has_next, "hasPreviousPage": first > 0}
    return {"data": {"compute_session_nodes": {"count": len(edges), "pageInfo": info, "edges": edges}}}


def _kernels(session: SessionPlan) -> dict[str, object]:
    ranks = range(len(session.nodes))
    return {"count": len(ranks), "edges": [{"node": _kernel(session, rank)} for rank in ranks]}


def _state(session: SessionPlan, node_count: int) -> dict[str, object]:
    """What a session and its kernels say alike."""
    is_over = session.ended_ms is not None
    asked = json.dumps(_slots(session.gpus_per_node, node_count))
    ended = {"kernel": {"exit_code": session.exit_code}, "session": {"status": session.status.lower()}}
    return {
        "status": session.status,
        "status_info": session.status_info or None,
        "status_data": json.dumps(ended) if is_over else None,
        "created_at": _instant(session.created_ms),
        "terminated_at": None if session.ended_ms is None else _instant(session.ended_ms),
        "starts_at": None if session.started_ms is None else _instant(session.started_ms),
        "occupied_slots": "{}" if is_over or session.started_ms is None else asked,
        "requested_slots": asked,
    }


def _kernel(session: SessionPlan, rank: int) -> dict[str, object]:
    kernel_id = str(uuid.uuid5(_NAMESPACE, f"{session.session_id}/{rank}"))
    return {
        "id": _base64(f"KernelNode:{kernel_id}"),
        "row_id": kernel_id,
        "cluster_idx": rank or 1,
        "local_rank": rank,
        "cluster_role": "sub" if rank else "main",
        "cluster_hostname": f"sub{rank}" if rank else "main1",
        "session_id": session.session_id,
        **_state(session, 1),
        "agent_id": f"i-{session.nodes[rank]}",
        "container_id": uuid.uuid5(_NAMESPACE, kernel_id).hex * 2,
        "resource_opts": json.dumps({"shmem": str(1 << 40)}),
    }


def _slots(gpus_per_node: int, node_count: int) -> dict[str, str]:
    """Decimal texts; a session that holds part of a node's GPUs asks for that part of its CPUs and memory."""
    gpus = gpus_per_node * node_count
    shares = {"cpu": CPUS_PER_NODE * gpus // GPUS_PER_NODE, "mem": MEMORY_PER_NODE * gpus // GPUS_PER_NODE}
    return {name: str(amount) for name, amount in {**shares, "cuda.device": gpus}.items()}


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _instant(at_ms: int) -> str:
    return instant_of_ms(at_ms).isoformat(timespec="microseconds")
