"""Kubernetes workloads to sessions: owners, restarts, what pods tell, what is gone."""

import csv
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gangline.sources import kubernetes
from gangline.sources.kubernetes_pods import STATE_KEYS
from gangline.sources.records import (
    NODE_STATE_RECORDS,
    SESSION_NODE_RECORDS,
    SESSION_RECORDS,
    SourceRefusedError,
)
from tests.sources.reading import Reading, reader_of

ReadObjects = Callable[..., Reading]
Object = dict[str, Any]
T0 = datetime(2026, 3, 2, 12, tzinfo=UTC)
UIDS = {"job": "aaaa", "set": "bbbb", "torch": "cccc"}


def iso(minutes: float) -> str:
    return (T0 + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def minutes_of(at: object) -> float | None:
    return (at - T0) / timedelta(minutes=1) if isinstance(at, datetime) else None


def pod_spec(gpus: int = 8, node: str | None = None) -> Object:
    limits = {"cpu": "96", "nvidia.com/gpu": str(gpus)} if gpus else {"cpu": "4"}
    return {
        "containers": [{"name": "main", "resources": {"limits": limits, "requests": limits}}],
        "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
        **({"nodeName": node} if node else {}),
    }


def meta(name: str, uid: str, owner: tuple[str, str] | None = None, created: float = 0, **labels: str) -> Object:
    owners = [{"kind": owner[0], "uid": owner[1], "name": "train", "controller": True}] if owner else []
    return {
        "name": name,
        "namespace": "team-a",
        "uid": uid,
        "creationTimestamp": iso(created),
        "labels": {key.replace("__", "/").replace("_", "-"): value for key, value in labels.items()},
        "ownerReferences": owners,
    }


def pod(
    uid: str,
    node: str | None,
    owner: tuple[str, str] | None = ("Job", "aaaa"),
    start: float | None = 2,
    end: float | None = None,
    phase: str = "Running",
    code: int = 0,
    exit_reason: str = "Completed",
    gpus: int = 8,
    restarts: int = 0,
    before: tuple[float, float, str] | None = None,
    labels: dict[str, str] | None = None,
    **status: Any,
) -> Object:
    state: Object = {}
    if start is not None and end is None:
        state = {"running": {"startedAt": iso(start)}}
    elif start is not None and end is not None:
        ended = {"startedAt": iso(start), "finishedAt": iso(end), "exitCode": code, "reason": exit_reason}
        state = {"terminated": ended}
    last: Object = {}
    if before:
        begun, over, why = before
        last = {"terminated": {"startedAt": iso(begun), "finishedAt": iso(over), "exitCode": 1, "reason": why}}
    container = {"name": "main", "restartCount": restarts, "state": state, "lastState": last}
    metadata = meta("train-" + uid, uid, owner)
    metadata["labels"] = labels or {}
    return {
        "kind": "Pod",
        "metadata": metadata,
        "spec": pod_spec(gpus, node),
        "status": {"phase": phase, "containerStatuses": [container] if start is not None else [], **status},
    }


def condition(name: str, at: float, reason: str = "", status: str = "True") -> Object:
    return {"type": name, "status": status, "reason": reason, "lastTransitionTime": iso(at)}


def job(uid: str = "aaaa", owner: tuple[str, str] | None = None, parallelism: int = 2, **status: Any) -> Object:
    spec = {"parallelism": parallelism, "completions": parallelism, "template": {"spec": pod_spec()}}
    return {"kind": "Job", "metadata": meta("train", uid, owner), "spec": spec, "status": status}


@pytest.fixture
def read_objects(tmp_path: Path) -> ReadObjects:
    read_text = reader_of(kubernetes, tmp_path, "kubectl.json")

    def read_list(*objects: Object) -> Reading:
        return read_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=4))

    return read_list


def parts(reading: Reading) -> list[tuple[object, ...]]:
    """(attempt, part, node, start, end, key) of every part."""
    return [
        (
            str(row["session_id"]),
            row["part_id"],
            row["node"],
            minutes_of(row["started_at"]),
            minutes_of(row["ended_at"]),
            row["state_key"],
        )
        for row in reading.rows(SESSION_NODE_RECORDS)
    ]


class TestJobs:
    def test_a_job_with_its_pods(self, read_objects: ReadObjects) -> None:
        done = condition("Complete", 31)
        reading = read_objects(
            pod("p1", "gpu1", start=2, end=30, phase="Succeeded"),
            job(startTime=iso(0), completionTime=iso(31), succeeded=2, conditions=[done]),
            pod("p2", "gpu2", start=3, end=29, phase="Succeeded"),
        )
        row = reading.row(SESSION_RECORDS)
        assert (row["session_id"], row["bare_id"], row["job_name"], row["owner"]) == (
            "aaaa:0",
            "team-a/train",
            "train",
            "team-a",
        )
        assert (row["gpu_count"], row["gpu_model"], row["nodes"]) == (16.0, "NVIDIA-H100-80GB-HBM3", None)
        assert (row["state_key"], row["source_state"], row["has_started"]) == ("succeeded", "Complete", True)
        assert (row["attempt_key"], row["attempt"]) == ("aaaa", 0)
        # The pods tell when it began: the job's startTime is when a controller saw it.
        assert [minutes_of(row[name]) for name in ("created_at", "started_at", "ended_at")] == [0, None, 31]
        assert parts(reading) == [
            ("aaaa:0", "p1", "gpu1", 2, 30, "succeeded"),
            ("aaaa:0", "p2", "gpu2", 3, 29, "succeeded"),
        ]
        assert (reading.log.records, reading.log.loaded) == (3, 3)

    def test_finished_pods_are_gone(self, read_objects: ReadObjects) -> None:
        done = condition("Complete", 31)
        row = read_objects(job(startTime=iso(1), completionTime=iso(31), succeeded=2, conditions=[done])).row(
            SESSION_RECORDS
        )
        assert [minutes_of(row[name]) for name in ("started_at", "ended_at")] == [1, 31]
        assert (row["nodes"], row["has_started"]) == (None, True)

    def test_a_job_that_is_gone_leaves_its_pods(self, read_objects: ReadObjects) -> None:
        reading = read_objects(pod("p1", "gpu1"), pod("p2", "gpu2"))
        rows = reading.rows(SESSION_RECORDS)
        assert {(row["session_id"], row["job_name"], row["state_key"]) for row in rows} == {("aaaa:0", "train", None)}
        assert [part[2] for part in parts(reading)] == ["gpu1", "gpu2"]

    def test_it_failed_without_a_pod_that_ran(self, read_objects: ReadObjects) -> None:
        failed = condition("Failed", 9, "BackoffLimitExceeded")
        reading = read_objects(job(conditions=[failed]), pod("p1", None, start=None, phase="Pending"))
        row = reading.row(SESSION_RECORDS)
        assert (row["state_key"], row["has_started"], row["nodes"]) == ("failed", False, [])
        gone = read_objects(job(conditions=[failed])).row(SESSION_RECORDS)
        assert (gone["has_started"], gone["nodes"]) == (None, None)

    @pytest.mark.parametrize(
        ("pod_status", "key"),
        [
            ({"reason": "NodeLost"}, "node-lost"),
            ({"conditions": [condition("DisruptionTarget", 8, "DeletionByTaintManager")]}, "node-lost"),
            ({"conditions": [condition("DisruptionTarget", 8, "PreemptionByScheduler")]}, "preempted"),
            ({"reason": "Evicted"}, "evicted"),
            ({}, "failed"),
        ],
    )
    def test_why_pods_failed(self, read_objects: ReadObjects, pod_status: Object, key: str) -> None:
        failed = condition("Failed", 9, "BackoffLimitExceeded")
        broken = pod("p1", "gpu1", end=8, phase="Failed", code=1, exit_reason="Error", **pod_status)
        reading = read_objects(
            job(conditions=[failed]), broken, pod("p2", "gpu2", end=9, phase="Failed", code=137, exit_reason="Error")
        )
        assert reading.row(SESSION_RECORDS)["state_key"] == key
        assert parts(reading)[0][-1] == key

    def test_out_of_memory_and_deadline(self, read_objects: ReadObjects) -> None:
        failed = job(conditions=[condition("Failed", 9, "BackoffLimitExceeded")])
        killed = pod("p1", "gpu1", end=8, phase="Failed", code=137, exit_reason="OOMKilled")
        assert read_objects(failed, killed).row(SESSION_RECORDS)["state_key"] == "oom-killed"
        late = job(conditions=[condition("Failed", 60, "DeadlineExceeded")])
        late["spec"]["activeDeadlineSeconds"] = 3600
        row = read_objects(late).row(SESSION_RECORDS)
        assert (row["state_key"], row["time_limit_min"]) == ("deadline-exceeded", 60.0)

    def test_open_states(self, read_objects: ReadObjects) -> None:
        assert read_objects(job(active=2)).row(SESSION_RECORDS)["state_key"] == "running"
        assert read_objects(job()).row(SESSION_RECORDS)["state_key"] == "pending"
        suspended = job(conditions=[condition("Suspended", 1), condition("Failed", 1, status="False")])
        assert read_objects(suspended).row(SESSION_RECORDS)["state_key"] == "suspended"

    def test_a_lost_node_tells_no_finish(self, read_objects: ReadObjects) -> None:
        marks = [condition("Ready", 7, status="False"), condition("DisruptionTarget", 8, "DeletionByPodGC")]
        lost = pod("p1", "gpu1", start=2, phase="Failed", conditions=marks)
        assert parts(read_objects(job(), lost)) == [("aaaa:0", "p1", "gpu1", 2, 8, "node-lost")]


class TestRestarts:
    def test_a_jobset_by_its_counter(self, read_objects: ReadObjects) -> None:
        """Attempt 0 is gone but for one pod; attempt 1 runs."""

        def labels(attempt: int) -> dict[str, str]:
            return {"jobset.sigs.k8s.io/jobset-uid": "bbbb", "jobset.sigs.k8s.io/restart-attempt": str(attempt)}

        jobs = [
            {"name": "w", "replicas": 2, "template": {"spec": {"parallelism": 3, "template": {"spec": pod_spec()}}}}
        ]
        jobset = {
            "kind": "JobSet",
            "metadata": meta("train", "bbbb"),
            "spec": {"replicatedJobs": jobs},
            "status": {"restarts": 1},
        }
        child = job("dddd", owner=("JobSet", "bbbb"), active=3)
        child["metadata"]["labels"] = labels(1)
        child["metadata"]["creationTimestamp"] = iso(40)
        reading = read_objects(
            pod("p1", "gpu1", ("Job", "eeee"), 2, 39, "Failed", 1, "Error", labels=labels(0)),
            pod("p2", "gpu2", ("Job", "dddd"), 41, labels=labels(1)),
            child,
            jobset,
        )
        rows = reading.rows(SESSION_RECORDS)
        assert [
            (row["session_id"], row["attempt"], minutes_of(row["created_at"]), row["gpu_count"]) for row in rows
        ] == [
            ("bbbb:1", 1, 40, None),
            ("bbbb:1", 1, None, 48.0),
        ]
        assert {row["attempt_key"] for row in rows} == {"bbbb"}
        assert parts(reading) == [
            ("bbbb:0", "p1", "gpu1", 2, 39, "failed"),
            ("bbbb:1", "p2", "gpu2", 41, None, "running"),
        ]

    def test_a_jobset_that_did_not_restart(self, read_objects: ReadObjects) -> None:
        jobset = {"kind": "JobSet", "metadata": meta("train", "bbbb"), "spec": {}, "status": {"restarts": 0}}
        reading = read_objects(jobset, job("dddd", owner=("JobSet", "bbbb")), pod("p1", "gpu1", ("Job", "dddd")))
        assert reading.row(SESSION_RECORDS)["session_id"] == "bbbb:0"
        assert parts(reading)[0][:3] == ("bbbb:0", "p1", "gpu1")
        assert reading.log.ignored == {"Job without a session or node state": 1}

    def test_a_pytorchjob_by_the_restarts_of_its_containers(self, read_objects: ReadObjects) -> None:
        """One worker was restarted in place at 30: both pods are in both attempts, on the nodes they never left."""
        replicas = {
            "Master": {"replicas": 1, "template": {"spec": pod_spec()}},
            "Worker": {"template": {"spec": pod_spec()}},
        }
        torch = {
            "kind": "PyTorchJob",
            "metadata": meta("train", "cccc"),
            "spec": {"pytorchReplicaSpecs": replicas, "runPolicy": {"activeDeadlineSeconds": 7200}},
            "status": {"startTime": iso(1), "conditions": [condition("Created", 0), condition("Running", 31)]},
        }
        owner = ("PyTorchJob", "cccc")
        reading = read_objects(
            pod("p1", "gpu1", owner, 31, restarts=1, before=(2, 30, "OOMKilled")), pod("p2", "gpu2", owner, 3), torch
        )
        assert parts(reading) == [
            ("cccc:1", "p1", "gpu1", 31, None, "running"),
            ("cccc:0", "p1", "gpu1", 2, 30, "oom-killed"),
            ("cccc:1", "p2", "gpu2", 31, None, "running"),
            ("cccc:0", "p2", "gpu2", 3, 30, None),
        ]
        rows = {row["session_id"]: row for row in reading.rows(SESSION_RECORDS)}
        now, before = rows["cccc:1"], rows["cccc:0"]
        assert (now["state_key"], now["attempt"], now["gpu_count"], now["time_limit_min"]) == (
            "running",
            1,
            16.0,
            120.0,
        )
        assert (before["state_key"], before["attempt"], before["has_started"]) == ("oom-killed", 0, True)
        assert now["created_at"] is None  # the job was created for attempt 0

    def test_success_of_a_pytorchjob(self, read_objects: ReadObjects) -> None:
        held = [condition("Created", 0), condition("Running", 2, status="False"), condition("Succeeded", 50)]
        torch = {"kind": "PyTorchJob", "metadata": meta("t", "cccc"), "spec": {}, "status": {"conditions": held}}
        row = read_objects(torch).row(SESSION_RECORDS)
        assert (row["state_key"], minutes_of(row["ended_at"]), row["has_started"]) == ("succeeded", 50, True)


class TestPods:
    def test_a_pod_of_its_own_that_holds_gpus(self, read_objects: ReadObjects) -> None:
        reading = read_objects(
            pod("p1", "gpu1", ("StatefulSet", "ffff"), gpus=1),
            pod("p2", "gpu2", None, gpus=0),
            pod("p3", None, None, None, phase="Pending"),
        )
        notebook, waiting = reading.rows(SESSION_RECORDS)
        assert (notebook["session_id"], notebook["nodes"], notebook["gpu_count"]) == ("p1", ["gpu1"], 1.0)
        assert (notebook["state_key"], minutes_of(notebook["started_at"])) == ("running", 2)
        assert (waiting["session_id"], waiting["nodes"], waiting["has_started"]) == ("p3", None, False)
        assert reading.log.ignored == {"Pod without a session or node state": 1}

    def test_gpus_of_all_makers(self, read_objects: ReadObjects) -> None:
        for name, amount in {
            "amd.com/gpu": 4,
            "nvidia.com/mig-1g.10gb": 2,
            "habana.ai/gaudi": 8,
            "nvidia.com/gpumem": 0,
        }.items():
            one = pod("p1", "gpu1", gpus=0)
            one["spec"]["containers"][0]["resources"] = {"requests": {name: "4" if name == "amd.com/gpu" else amount}}
            assert read_objects(one).row(SESSION_NODE_RECORDS)["gpu_count"] == amount


class TestNodes:
    def test_nodes_that_are_not_ready_or_cordoned(self, read_objects: ReadObjects) -> None:
        unready = {**condition("Ready", 5, status="Unknown"), "message": "Kubelet stopped posting node status."}
        taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": iso(3)}
        node = {
            "kind": "Node",
            "metadata": {"name": "gpu1"},
            "spec": {"taints": [taint]},
            "status": {"conditions": [unready]},
        }
        fine = {"kind": "Node", "metadata": {"name": "gpu2"}, "status": {"conditions": [condition("Ready", 0)]}}
        reading = read_objects(node, fine)
        states = [
            (row["node"], row["state"], minutes_of(row["started_at"]), row["reason"])
            for row in reading.rows(NODE_STATE_RECORDS)
        ]
        assert states == [
            ("gpu1", "NOT_READY", 5, "Kubelet stopped posting node status."),
            ("gpu1", "CORDONED", 3, None),
        ]
        assert reading.log.ignored == {"Node without a session or node state": 1}

    def test_events_about_nodes(self, read_objects: ReadObjects) -> None:
        def event(reason: str, at: float, node: str = "gpu1", kind: str = "Node") -> Object:
            about = {"kind": kind, "name": node}
            return {
                "kind": "Event",
                "metadata": {},
                "involvedObject": about,
                "reason": reason,
                "firstTimestamp": iso(at),
            }

        reading = read_objects(
            event("NodeReady", 9),
            event("NodeNotReady", 4),
            event("NodeNotSchedulable", 5, "gpu2"),
            event("Started", 1, kind="Pod"),
        )
        rows = reading.rows(NODE_STATE_RECORDS)
        assert [
            (row["node"], row["state"], minutes_of(row["started_at"]), minutes_of(row["ended_at"])) for row in rows
        ] == [
            ("gpu1", "NOT_READY", 4, 9),
            ("gpu2", "CORDONED", 5, None),
        ]
        assert (reading.log.loaded, reading.log.ignored) == (3, {"Event without a session or node state": 1})


class TestDamage:
    def test_a_cut_list_gives_every_whole_object(self, tmp_path: Path) -> None:
        text = json.dumps({"kind": "List", "items": [job(), pod("p1", "gpu1"), pod("p2", "gpu2")]}, indent=4)
        reading = reader_of(kubernetes, tmp_path, "cut.json")(text[: text.index('"train-p2"')])
        assert [part[1] for part in parts(reading)] == ["p1"]
        assert (reading.log.records, reading.log.loaded, reading.log.rejected) == (3, 2, 1)

    def test_objects_that_cannot_be_read(self, read_objects: ReadObjects) -> None:
        bad_time = pod("p1", "gpu1")
        bad_time["status"]["containerStatuses"][0]["state"] = {"running": {"startedAt": "soon"}}
        reading = read_objects(
            bad_time, {"kind": "Job", "metadata": {}}, {"metadata": {}}, {"kind": "Pod", "metadata": "x"}
        )
        assert [reject.line for reject in reading.log.rejects] == [1, 2, 3, 4]
        assert reading.log.rejects[0].reason.startswith("startedAt is 'soon'")

    @pytest.mark.parametrize("text", ["", "apiVersion: v1\nkind: List\n", "NAME READY\n"])
    def test_refused(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(SourceRefusedError, match=r":1: no JSON of kubectl: export with: kubectl get"):
            reader_of(kubernetes, tmp_path, "kubectl.json")(text)

    def test_lists_in_a_row_and_single_objects(self, tmp_path: Path) -> None:
        text = json.dumps({"kind": "PodList", "items": [pod("p1", "gpu1")]}) + "\n" + json.dumps(job(active=1))
        reading = reader_of(kubernetes, tmp_path, "kubectl.json")(text)
        assert reading.row(SESSION_RECORDS)["state_key"] == "running"
        assert reading.log.records == 2

    def test_owners_in_a_circle(self, read_objects: ReadObjects) -> None:
        one, two = job("aaaa", owner=("Job", "bbbb")), job("bbbb", owner=("Job", "aaaa"))
        reading = read_objects(one, two, pod("p1", "gpu1"))
        assert reading.log.records == 3


def test_the_seed_table_maps_every_key() -> None:
    with (Path(__file__).parents[2] / "sql" / "seeds" / "end_reasons.csv").open() as rows:
        mapped = {row["state_key"] for row in csv.DictReader(rows) if row["source"] == "kubernetes"}
    assert mapped == STATE_KEYS
