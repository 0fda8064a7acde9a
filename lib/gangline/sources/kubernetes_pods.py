"""The life of a pod: which run of its containers it is in, from when to when, and how it ended."""

from dataclasses import dataclass
from datetime import datetime

from gangline.sources.kubernetes_objects import Json, child, children, conditions, count, instant, text

SUCCEEDED, FAILED, RUNNING, PENDING, UNKNOWN = "succeeded", "failed", "running", "pending", "unknown"
NODE_LOST, PREEMPTED, EVICTED, OOM_KILLED, DEADLINE = (
    "node-lost",
    "preempted",
    "evicted",
    "oom-killed",
    "deadline-exceeded",
)
SUSPENDED = "suspended"
STATE_KEYS = frozenset(
    {SUCCEEDED, FAILED, RUNNING, PENDING, UNKNOWN, NODE_LOST, PREEMPTED, EVICTED, OOM_KILLED, DEADLINE, SUSPENDED}
)
# Which reason explains the end of a whole gang, when its pods name several.
PRECEDENCE = (NODE_LOST, OOM_KILLED, PREEMPTED, EVICTED, DEADLINE, FAILED)

_PHASES = {"Succeeded": SUCCEEDED, "Running": RUNNING, "Pending": PENDING}
_REASONS = {
    **dict.fromkeys(("NodeLost", "NodeShutdown", "Shutdown", "Terminated"), NODE_LOST),
    **dict.fromkeys(("DeletionByTaintManager", "DeletionByPodGC"), NODE_LOST),
    **dict.fromkeys(("Preempting", "PreemptionByScheduler", "PreemptionByKubeScheduler"), PREEMPTED),
    **dict.fromkeys(("Evicted", "EvictionByEvictionAPI", "TerminationByKubelet"), EVICTED),
    "DeadlineExceeded": DEADLINE,
}


@dataclass(frozen=True)
class Stretch:
    """One run of a pod's containers."""

    started_at: datetime | None
    ended_at: datetime | None
    state_key: str


@dataclass(frozen=True)
class PodLife:
    """A pod's present run, how often its containers were restarted in place, and the run before."""

    now: Stretch
    restarts: int
    before: Stretch | None


def life_of(pod: Json) -> PodLife:
    """What a pod's status says; raises `RowError` for a time that is none."""
    statuses = children(pod, "status", "containerStatuses")
    restarts = max((count(status, "restartCount") or 0 for status in statuses), default=0)
    key = _state_key(pod, statuses)
    started_at = _first(statuses, "state")
    ended_at = None if key in (RUNNING, PENDING, UNKNOWN) else _last(statuses, "state") or _gone_at(pod)
    return PodLife(Stretch(started_at, ended_at, key), restarts, _before(statuses) if restarts else None)


def _before(statuses: list[Json]) -> Stretch | None:
    ended_at = _last(statuses, "lastState")
    return Stretch(_first(statuses, "lastState"), ended_at, _exit_key(statuses, "lastState")) if ended_at else None


def _first(statuses: list[Json], state: str) -> datetime | None:
    found = (
        instant(child(status, state, how), "startedAt") for status in statuses for how in ("running", "terminated")
    )
    return min(filter(None, found), default=None)


def _last(statuses: list[Json], state: str) -> datetime | None:
    return max(filter(None, (instant(status, state, "terminated", "finishedAt") for status in statuses)), default=None)


def _gone_at(pod: Json) -> datetime | None:
    """When a pod whose containers tell no end stopped: its disruption, else when it was no longer ready."""
    marks = {text(item, "type"): item for item in children(pod, "status", "conditions")}
    for name in ("DisruptionTarget", "Ready"):
        if name in marks and (at := instant(marks[name], "lastTransitionTime")):
            return at
    return instant(pod, "metadata", "deletionTimestamp")


def _state_key(pod: Json, statuses: list[Json]) -> str:
    phase = text(pod, "status", "phase") or ""
    if phase != "Failed":
        return _PHASES.get(phase, UNKNOWN)
    reasons = (text(pod, "status", "reason"), text(conditions(pod).get("DisruptionTarget", {}), "reason"))
    named = [_REASONS[reason] for reason in reasons if reason in _REASONS]
    return named[0] if named else _exit_key(statuses, "state")


def _exit_key(statuses: list[Json], state: str) -> str:
    exits = [child(status, state, "terminated") for status in statuses]
    if any(text(one, "reason") == "OOMKilled" for one in exits):
        return OOM_KILLED
    return SUCCEEDED if exits and all(one.get("exitCode") == 0 for one in exits) else FAILED
