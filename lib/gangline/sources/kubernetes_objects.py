"""Kubernetes objects as `kubectl get -o json` prints them: what they are called, belong to, hold, and say."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from gangline.sources.instants import instant_of

Json = Mapping[str, object]

UTC_ZONE = ZoneInfo("UTC")
ATTEMPT_LABEL = "jobset.sigs.k8s.io/restart-attempt"
JOBSET_UID_LABEL = "jobset.sigs.k8s.io/jobset-uid"
JOBSET_NAME_LABEL = "jobset.sigs.k8s.io/jobset-name"
QUEUE_LABELS = ("kueue.x-k8s.io/queue-name", "scheduling.volcano.sh/queue-name", "runai/queue")
GPU_MODEL_LABEL = "nvidia.com/gpu.product"
MAX_COUNT = 1 << 31

# What launches pods as one effort. A CronJob makes Jobs that are launches of their own; a TrainJob acts by a JobSet.
_WORKLOAD = re.compile(r"(?!CronJob$|TrainJob$)\w*Job(Set)?|RayCluster")
_GPU = re.compile(r"(?:[\w.-]+/)?(?:gpu(?:\.shared)?|gaudi\d*|mig-[\w.-]+|i915|xe|tpu)")


@dataclass(frozen=True)
class Ref:
    """The controller of an object."""

    kind: str
    uid: str
    name: str


def child(parent: Json, *path: str) -> Json:
    """The object at a path, empty where there is none."""
    for key in path:
        value = parent.get(key)
        parent = value if isinstance(value, dict) else {}
    return parent


def children(parent: Json, *path: str) -> list[Json]:
    """The objects of the list at a path."""
    value = child(parent, *path[:-1]).get(path[-1])
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(parent: Json, *path: str) -> str | None:
    """The text at a path."""
    value = child(parent, *path[:-1]).get(path[-1])
    return value if isinstance(value, str) and value else None


def count(parent: Json, *path: str) -> int | None:
    """The number of things at a path, which labels hold as text."""
    value = child(parent, *path[:-1]).get(path[-1])
    if isinstance(value, str) and value.isdecimal() and len(value) < len(str(MAX_COUNT)):
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_COUNT else None


def instant(parent: Json, *path: str) -> datetime | None:
    """The instant at a path; raises `RowError` where there is something else."""
    return instant_of(child(parent, *path[:-1]).get(path[-1]), ".".join(path), UTC_ZONE)


def label(obj: Json, name: str) -> str | None:
    """A label, or an annotation of that name."""
    return text(obj, "metadata", "labels", name) or text(obj, "metadata", "annotations", name)


def is_workload(kind: str) -> bool:
    """Whether this kind of object launches pods as one effort.

    Examples
    --------
    >>> [is_workload(kind) for kind in ("Job", "JobSet", "PyTorchJob", "CronJob", "StatefulSet")]
    [True, True, True, False, False]
    """
    return _WORKLOAD.fullmatch(kind) is not None


def controller(obj: Json) -> Ref | None:
    """The owner that controls an object."""
    owners = [owner for owner in children(obj, "metadata", "ownerReferences") if text(owner, "uid")]
    owners.sort(key=lambda owner: owner.get("controller") is not True)
    for owner in owners[:1]:
        return Ref(text(owner, "kind") or "", text(owner, "uid") or "", text(owner, "name") or "")
    return None


def conditions(obj: Json) -> dict[str, Json]:
    """The conditions of an object that hold, by type."""
    held = [item for item in children(obj, "status", "conditions") if item.get("status") == "True"]
    return {text(item, "type") or "": item for item in held}


def queue_of(obj: Json) -> str | None:
    """The queue that an object waits in, where a queueing controller is used."""
    return next(filter(None, (label(obj, name) for name in QUEUE_LABELS)), None)


def gpu_model_of(pod_spec: Json) -> str | None:
    """The GPU model that a pod asks for."""
    return text(pod_spec, "nodeSelector", GPU_MODEL_LABEL)


def gpus_of(pod_spec: Json) -> float:
    """GPUs of one pod: the sum over its containers of what they are limited to, else request.

    Examples
    --------
    >>> gpus_of({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "96"}}}, {}]})
    8.0
    """
    return sum(_container_gpus(container) for container in children(pod_spec, "containers"))


def _container_gpus(container: Json) -> float:
    for which in ("limits", "requests"):
        amounts = child(container, "resources", which)
        gpus = [count(amounts, name) or 0 for name in amounts if _GPU.fullmatch(name)]
        if gpus:
            return float(sum(gpus))
    return 0.0


def pod_specs(workload: Json) -> Iterator[tuple[int, Json]]:
    """How many pods of each kind a workload runs at a time, with their spec."""
    spec = child(workload, "spec")
    if "template" in spec:
        yield (
            min(_pods(spec, "parallelism"), _pods(spec, "completions", "parallelism")),
            child(spec, "template", "spec"),
        )
    for job in children(spec, "replicatedJobs"):
        job_spec = child(job, "template", "spec")
        yield _pods(job, "replicas") * _pods(job_spec, "parallelism"), child(job_spec, "template", "spec")
    for name, replicas in spec.items():
        if name.endswith("ReplicaSpecs") and isinstance(replicas, dict):
            for role in replicas:
                yield _pods(child(replicas, role), "replicas"), child(replicas, role, "template", "spec")


def _pods(spec: Json, *names: str) -> int:
    """A number of pods, 1 where the object leaves it to the default."""
    return next((found for found in (count(spec, name) for name in names) if found is not None), 1)
