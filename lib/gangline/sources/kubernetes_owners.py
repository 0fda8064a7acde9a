"""Who belongs to whom in an export: gathered in a first pass, because pods may stand before the jobs that own them."""

from dataclasses import dataclass, replace
from datetime import datetime

from gangline.sources.kubernetes_objects import (
    ATTEMPT_LABEL,
    JOBSET_NAME_LABEL,
    JOBSET_UID_LABEL,
    Json,
    Ref,
    child,
    controller,
    count,
    is_workload,
    label,
    text,
)
from gangline.sources.kubernetes_pods import PRECEDENCE, PodLife, life_of

MAX_DEPTH = 5


@dataclass(frozen=True)
class Launch:
    """One attempt of a workload: a session."""

    workload: Ref
    attempt: int

    @property
    def session_id(self) -> str:
        """Unique in a cluster: the workload's uid and its restart count."""
        return f"{self.workload.uid}:{self.attempt}"


@dataclass(frozen=True)
class PodFacts:
    """What the pods of one workload (of one attempt, where they are labelled) say together."""

    has_started: bool = False
    failure: str | None = None
    restarts: int = 0
    begun_at: datetime | None = None  # the present run, where containers were restarted in place
    before_ended_at: datetime | None = None

    def with_pod(self, life: PodLife) -> "PodFacts":
        """The facts with one more pod."""
        failures = {self.failure, life.now.state_key} & set(PRECEDENCE)
        facts = replace(
            self,
            has_started=self.has_started or life.now.started_at is not None or life.before is not None,
            failure=min(failures, key=lambda key: PRECEDENCE.index(str(key)), default=None),
        )
        if life.restarts < facts.restarts or not life.restarts:
            return facts
        known = facts if life.restarts == facts.restarts else replace(facts, begun_at=None, before_ended_at=None)
        before = life.before.ended_at if life.before else None
        return replace(
            known,
            restarts=life.restarts,
            begun_at=min(filter(None, (known.begun_at, life.now.started_at)), default=None),
            before_ended_at=max(filter(None, (known.before_ended_at, before)), default=None),
        )


class Directory:
    """The owners in an export, and what their pods say together. Holds a few words per workload, none per pod."""

    def __init__(self) -> None:
        self._parents: dict[str, Ref] = {}
        self._facts: dict[tuple[str, int | None], PodFacts] = {}
        self._workloads: set[str] = set()

    def note(self, obj: Json) -> None:
        """Takes in one object; raises `RowError` where its times are none."""
        kind, uid = text(obj, "kind") or "", text(obj, "metadata", "uid")
        owner = controller(obj)
        if kind == "Pod":
            workload = _labelled_jobset(obj) or owner
            if workload and is_workload(workload.kind):
                key = (workload.uid, _labelled_attempt(obj))
                self._facts[key] = self._facts.get(key, PodFacts()).with_pod(life_of(obj))
        elif is_workload(kind) and uid:
            self._workloads.add(uid)
            if owner and is_workload(owner.kind):
                self._parents[uid] = owner

    def has(self, workload: Ref) -> bool:
        """Whether the workload itself stands in the export."""
        return workload.uid in self._workloads

    def facts(self, launch: Launch) -> PodFacts | None:
        """What the pods of a launch say; null where none is left."""
        found = self._facts.get((launch.workload.uid, launch.attempt))
        return found or self._facts.get((launch.workload.uid, None))

    def launch_of(self, obj: Json) -> Launch | None:
        """The launch that a pod or a child job belongs to; null where it is launched by no workload."""
        workload = _labelled_jobset(obj) or controller(obj)
        if workload is None or not is_workload(workload.kind):
            return None
        for _ in range(MAX_DEPTH):
            workload = self._parents.get(workload.uid, workload)
        return self._launch(workload, _labelled_attempt(obj))

    def own_launch(self, workload: Json) -> Launch:
        """The present launch of a workload that no other one controls."""
        ref = Ref(*(text(workload, *path) or "" for path in (("kind",), ("metadata", "uid"), ("metadata", "name"))))
        attempt = count(workload, "status", "restarts")
        return self._launch(ref, (attempt or 0) if ref.kind == "JobSet" else None)

    def _launch(self, workload: Ref, attempt: int | None) -> Launch:
        if attempt is None:
            attempt = self._facts.get((workload.uid, None), PodFacts()).restarts
        return Launch(workload, attempt)


def _labelled_jobset(obj: Json) -> Ref | None:
    uid = label(obj, JOBSET_UID_LABEL)
    return Ref("JobSet", uid, label(obj, JOBSET_NAME_LABEL) or "") if uid else None


def _labelled_attempt(obj: Json) -> int | None:
    found = count(child(obj, "metadata", "labels"), ATTEMPT_LABEL)
    return count(child(obj, "metadata", "annotations"), ATTEMPT_LABEL) if found is None else found
