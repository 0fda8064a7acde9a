"""Workloads and pods turned into sessions and their parts."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from gangline.sources.batches import Records
from gangline.sources.kubernetes_objects import (
    Json,
    child,
    conditions,
    controller,
    count,
    gpu_model_of,
    gpus_of,
    instant,
    is_workload,
    pod_specs,
    queue_of,
    text,
)
from gangline.sources.kubernetes_owners import Directory, Launch, PodFacts
from gangline.sources.kubernetes_pods import (
    DEADLINE,
    FAILED,
    PENDING,
    RUNNING,
    SUCCEEDED,
    SUSPENDED,
    PodLife,
    Stretch,
    life_of,
)
from gangline.sources.records import SESSION_NODE_RECORDS, SESSION_RECORDS, ReadLog
from gangline.sources.table_rows import RowError

SECONDS_PER_MIN = 60
_SUCCESS = ("Complete", "Completed", "Succeeded")


def workload_records(workload: Json, line: int, directory: Directory, log: ReadLog) -> Records:
    """The session that a workload's present attempt is; nothing but a name for a job that another one controls."""
    if not text(workload, "metadata", "uid"):
        raise RowError("an object without metadata.uid: export with kubectl get -o json")
    owner = controller(workload)
    if owner and is_workload(owner.kind):
        return _child_records(workload, line, directory, log)
    launch = directory.own_launch(workload)
    created_at = instant(workload, "metadata", "creationTimestamp") if launch.attempt == 0 else None
    attempt = _attempt(workload, directory.facts(launch))
    log.saw(created_at, attempt["started_at"], attempt["ended_at"])
    row = {
        **_identity(workload, line, launch),
        "gpu_model": next(filter(None, (gpu_model_of(spec) for _, spec in pod_specs(workload))), None),
        "gpu_count": float(sum(pods * gpus_of(spec) for pods, spec in pod_specs(workload))),
        "created_at": created_at,
        "time_limit_min": _limit_min(workload),
        **attempt,
    }
    return [(SESSION_RECORDS, row)]


def _attempt(workload: Json, facts: PodFacts | None) -> dict[str, Any]:
    """When the attempt began and ended, and how; its nodes where it is sure that it had none."""
    key, ended_at = _state(workload)
    if key == FAILED and facts and facts.failure:
        key = facts.failure
    has_started = _has_started(workload, facts)
    return {
        "nodes": [] if has_started is False and ended_at else None,
        "started_at": instant(workload, "status", "startTime") if facts is None and has_started else None,
        "ended_at": ended_at,
        "has_started": has_started,
        "source_state": _state_text(workload),
        "state_key": key,
        "end_source": "session" if ended_at else None,
    }


def pod_records(pod: Json, line: int, directory: Directory, log: ReadLog) -> Records:
    """A pod as a part of its launch, or as a session of its own if it holds GPUs; else nothing."""
    if not text(pod, "metadata", "uid"):
        raise RowError("an object without metadata.uid: export with kubectl get -o json")
    life = life_of(pod)
    launch = directory.launch_of(pod)
    if launch is None and not gpus_of(child(pod, "spec")):
        return []
    log.saw(instant(pod, "metadata", "creationTimestamp"), life.now.started_at, life.now.ended_at)
    if launch is None:
        return [(SESSION_RECORDS, _pod_session(pod, line, life))]
    facts = directory.facts(launch)
    records = [_part(pod, line, launch, _within(life.now, life, facts))]
    if not directory.has(launch.workload):
        created_at = instant(pod, "metadata", "creationTimestamp") if launch.attempt == 0 else None
        records.append((SESSION_RECORDS, {**_identity(pod, line, launch), "created_at": created_at}))
    if facts and facts.restarts and launch.attempt == facts.restarts:
        records += _before(pod, line, launch, life, facts)
    return records


def _child_records(job: Json, line: int, directory: Directory, log: ReadLog) -> Records:
    """A job of a JobSet: when its attempt was launched, and its name where the JobSet itself is not in the export."""
    launch = directory.launch_of(job)
    if launch is None or (launch.attempt == 0 and directory.has(launch.workload)):
        return []
    created_at = instant(job, "metadata", "creationTimestamp")
    log.saw(created_at)
    return [(SESSION_RECORDS, {**_identity(job, line, launch), "created_at": created_at})]


def _identity(obj: Json, line: int, launch: Launch) -> dict[str, object]:
    namespace = text(obj, "metadata", "namespace")
    name = launch.workload.name or text(obj, "metadata", "name") or ""
    return {
        "line": line,
        "session_id": launch.session_id,
        "bare_id": "/".join(filter(None, (namespace, name))),
        "job_name": name,
        "owner": namespace,
        "partition": queue_of(obj),
        "attempt_key": launch.workload.uid,
        "attempt": launch.attempt,
    }


def _pod_session(pod: Json, line: int, life: PodLife) -> dict[str, object]:
    node = text(pod, "spec", "nodeName")
    ended_at = life.now.ended_at
    name, namespace = text(pod, "metadata", "name") or "", text(pod, "metadata", "namespace")
    started_at = life.before.started_at if life.before and life.before.started_at else life.now.started_at
    return {
        "line": line,
        "session_id": text(pod, "metadata", "uid"),
        "bare_id": "/".join(filter(None, (namespace, name))),
        "job_name": name,
        "owner": namespace,
        "partition": queue_of(pod),
        "gpu_model": gpu_model_of(child(pod, "spec")),
        "nodes": [node] if node and started_at else [] if ended_at else None,
        "gpu_count": gpus_of(child(pod, "spec")),
        "created_at": instant(pod, "metadata", "creationTimestamp"),
        "started_at": started_at,
        "ended_at": ended_at,
        "has_started": started_at is not None,
        "source_state": _pod_text(pod),
        "state_key": life.now.state_key,
        "end_source": "session" if ended_at else None,
    }


def _part(pod: Json, line: int, launch: Launch, stretch: Stretch) -> tuple[str, dict[str, object]]:
    row: dict[str, object] = {
        "line": line,
        "session_id": launch.session_id,
        "part_id": text(pod, "metadata", "uid"),
        "node": text(pod, "spec", "nodeName"),
        "gpu_count": gpus_of(child(pod, "spec")),
        "started_at": stretch.started_at,
        "ended_at": stretch.ended_at,
        "source_state": _pod_text(pod),
        "state_key": stretch.state_key or None,
    }
    return SESSION_NODE_RECORDS, row


def _within(stretch: Stretch, life: PodLife, facts: PodFacts | None) -> Stretch:
    """A pod's run within the present attempt, which begins when the last restarted pod came back."""
    if not facts or not facts.begun_at or life.restarts == facts.restarts or not stretch.started_at:
        return stretch
    return Stretch(max(stretch.started_at, facts.begun_at), stretch.ended_at, stretch.state_key)


def _before(pod: Json, line: int, launch: Launch, life: PodLife, facts: PodFacts) -> Records:
    """The attempt before, as far as pods still tell: of restarted ones, their last state; of others, that they ran."""
    earlier = Launch(launch.workload, launch.attempt - 1)
    if life.restarts < facts.restarts:
        return [_part(pod, line, earlier, Stretch(life.now.started_at, facts.before_ended_at, ""))]
    if life.before is None:
        return []
    row = {**_identity(pod, line, earlier), "has_started": True, "state_key": life.before.state_key}
    return [_part(pod, line, earlier, life.before), (SESSION_RECORDS, row)]


def _state(workload: Json) -> tuple[str, datetime | None]:
    """A workload's key and its end, by the conditions that hold."""
    held = conditions(workload)
    for name in _SUCCESS:
        if name in held:
            return SUCCEEDED, instant(workload, "status", "completionTime") or _turned(held[name])
    if "Failed" in held:
        is_late = text(held["Failed"], "reason") == "DeadlineExceeded"
        ended_at = _turned(held["Failed"]) or instant(workload, "status", "completionTime")
        return DEADLINE if is_late else FAILED, ended_at
    if "Suspended" in held:
        return SUSPENDED, None
    is_active = bool({"Running", "Restarting"} & held.keys()) or bool(count(workload, "status", "active"))
    return RUNNING if is_active else PENDING, None


def _turned(condition: Json) -> datetime | None:
    return instant(condition, "lastTransitionTime")


def _has_started(workload: Json, facts: PodFacts | None) -> bool | None:
    """Whether any pod ran; null where no pod is left and the workload does not count them."""
    if facts is not None:
        return facts.has_started
    counts: Sequence[int | None] = [count(workload, "status", name) for name in ("succeeded", "ready")]
    return True if any(counts) or set(_SUCCESS) & conditions(workload).keys() else None


def _state_text(workload: Json) -> str | None:
    named = [" ".join(filter(None, (name, text(item, "reason")))) for name, item in conditions(workload).items()]
    return "; ".join(named) or None


def _pod_text(pod: Json) -> str | None:
    disruption = text(conditions(pod).get("DisruptionTarget", {}), "reason")
    return " ".join(filter(None, (text(pod, "status", "phase"), text(pod, "status", "reason"), disruption))) or None


def _limit_min(workload: Json) -> float | None:
    for path in (("spec",), ("spec", "runPolicy")):
        limit_s = count(workload, *path, "activeDeadlineSeconds")
        if limit_s:
            return limit_s / SECONDS_PER_MIN
    return None
