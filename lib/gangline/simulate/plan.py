"""The whole drawn history of a simulated cluster: what happened, before any export tells of it.

Every instant is an integer of milliseconds since 1970 UTC (`_ms`), every length says its unit. Exporters read a plan
and invent nothing that an analysis counts; whatever noise they add comes from `plan.seed` and is of no consequence.
An instant that is null lies behind the export's end. Telemetry is scraped at the instants `telemetry.from_ms + k *
scrape_ms`, on all nodes at once; a rate of the step [k, k+1) shows in the sample k+1.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch [from_ms, to_ms)."""

    from_ms: int
    to_ms: int


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """The cluster that was drawn, as its config tells of it."""

    name: str
    time_zone: str
    nodes: tuple[str, ...]
    gpus_per_node: int
    gang_nodes: int
    scrape_ms: int
    max_read_bytes_per_s: int
    max_write_bytes_per_s: int
    capacity_bytes: int
    filled_from_bytes: int
    filled_to_bytes: int


@dataclass(frozen=True, slots=True)
class NodeStatePlan:
    """A stretch in which a node was in no state to be used ('down', 'drained'); `to_ms` null: until the end."""

    node: str
    state: str
    from_ms: int
    to_ms: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """One session: one kernel a node, all of it from start to end.

    `kind`: 'gang' (60 nodes), 'multi' (2 to 47) or 'single'. `purpose`: 'training', 'test', 'hold' (a person keeps a
    bad node from the next gang; its GPUs idle) or 'work' (evaluation and conversion; its GPUs are busy now and then).
    `status`, `status_info` and `result` are Backend.AI's own words; `exit_code` is null where the main program did not
    end by itself. A session that never started has a null start. `chain` and `attempt` (from 1) tell of the automatic
    retries it belongs to; `training_from_ms` is the first step that its run logged beyond the step it resumed from.
    """

    session_id: str
    name: str
    access_key: str
    kind: str
    purpose: str
    nodes: tuple[str, ...]
    gpus_per_node: int
    created_ms: int
    started_ms: int | None
    ended_ms: int | None
    status: str
    status_info: str
    result: str
    exit_code: int | None
    chain: int | None = None
    attempt: int | None = None
    training_from_ms: int | None = None
    run_id: str | None = None
    failure_id: str | None = None


@dataclass(frozen=True, slots=True)
class Knot:
    """A run's progress at an instant. Between knots steps are linear in time; two of one step are a stall."""

    at_ms: int
    step: int


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One W&B run of one session (written by its first node): config, and history rows from `knots`.

    The config names `session_id`, `stage` and `resume_step`; starting_step is `resume_step`. Rows are logged at the
    steps that are multiples of `log_every`, and at the first step beyond `resume_step`, and at `last_step`. `knots`
    is empty and `last_step` equals `resume_step` where it never passed its resume step: then no row is logged.
    `state` is 'crashed' (no exit record), 'failed' (exit code 1) or 'running'.
    """

    run_id: str
    session_id: str
    name: str
    stage: str
    context_length: int
    started_ms: int
    ended_ms: int
    state: str
    resume_step: int
    first_step_ms: int | None
    last_step: int
    log_every: int
    knots: tuple[Knot, ...]


@dataclass(frozen=True, slots=True)
class NodeBytes:
    """Bytes that each of these nodes moves."""

    nodes: tuple[str, ...]
    bytes_per_node: int
    staged_bytes_per_node: int = 0


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """How NFS requests of one operation went: per request, and what stood beside them.

    Per node: requests = bytes / `bytes_per_request`; queue, response and total seconds are sums over requests.
    `metadata_share` is that of GETATTR, LOOKUP and ACCESS among all operations. Node to node the times vary;
    `node_queue_ms_p95` and `node_response_ms_p95` are the 95th percentile over nodes of their own mean, the means are
    of sums over all.
    """

    bytes_per_request: int
    queue_ms: float
    response_ms: float
    total_ms: float
    metadata_share: float
    node_queue_ms_p95: float
    node_response_ms_p95: float


@dataclass(frozen=True, slots=True)
class SavePlan:
    """One checkpoint save.

    All GPUs wait from `started_ms` for `stall_ms`. Bytes arrive at the server over `steps`: pairs of a scrape step's
    start and the share of the bytes that it takes (one step, or two). `groups`: the writers; a node of the cluster in
    no group writes nothing. `staged_bytes_per_node` stands in /dev/shm from `started_ms` until the last step's end.
    `requests` is null where the exporter did not tell of NFS times yet.
    """

    save_id: str
    session_id: str
    run_id: str
    stage: str
    step: int
    started_ms: int
    stall_ms: int
    steps: tuple[tuple[int, float], ...]
    groups: tuple[NodeBytes, ...]
    interval_ms: int | None
    requests: RequestPlan | None

    @property
    def total_bytes(self) -> int:
        """Bytes that all writers of the session wrote."""
        return sum(len(group.nodes) * group.bytes_per_node for group in self.groups)


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """One load of weights and data at a session's start: reads from `started_ms` until `ended_ms`, both on the grid.

    `rates_bytes_per_s` holds one fleet rate a scrape step (an equal part a node of the session);
    `page_cache_bytes_per_node` is what stays in the page cache: the rest is read again. GPUs idle meanwhile.
    """

    load_id: str
    session_id: str
    started_ms: int
    ended_ms: int
    rates_bytes_per_s: tuple[int, ...]
    page_cache_bytes_per_node: int
    requests: RequestPlan


@dataclass(frozen=True, slots=True)
class KernelLinePlan:
    """One line that a node's kernel wrote, without its time and host."""

    node: str
    at_ms: int
    gpu: int | None
    xid: int | None
    text: str


@dataclass(frozen=True, slots=True)
class FailurePlan:
    """Why a session ended.

    `kind` is the report's class: 'nvlink', 'ecc', 'bus', 'gsp', 'host', 'network', 'storage' or 'software'. `gpu` and
    `xids` are null and empty where no XID told of it. `at_ms` is the fault, a little before the session's end.
    """

    failure_id: str
    kind: str
    node: str
    gpu: int | None
    xids: tuple[int, ...]
    at_ms: int
    session_id: str | None


@dataclass(frozen=True, slots=True)
class CoursePlan:
    """A value that goes its own way on one node (one GPU) over a stretch: linear, or by steps, between points.

    `measure` is one of: interrupts_per_s, runnable, getattr_response_ms, page_outs_per_s, correctable_remaps,
    uncorrectable_remaps, remap_failure, nvlink_errors_per_s, xid, gpu_util. Outside its stretch the node is as any
    other.
    """

    measure: str
    node: str
    gpu: int | None
    points: tuple[tuple[int, float], ...]
    by_steps: bool


@dataclass(frozen=True, slots=True)
class CasePlan:
    """One of the report's node cases: what to look at on page 09."""

    name: str
    node: str
    gpu: int
    at_ms: int
    span: Span
    courses: tuple[CoursePlan, ...]


@dataclass(frozen=True, slots=True)
class StartupPlan:
    """Start-up by node count, before and after sharding and read-ahead; tokens a second at a node count."""

    node_count: int
    start_up_min: float
    is_sharded: bool
    tokens_per_s: int | None


@dataclass(frozen=True, slots=True)
class OutagePlan:
    """A stretch in which a node's exporters (all, or one of them) were not scraped."""

    node: str
    job: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that was drawn. `sessions` are in order of their creation, `saves`, `loads` and `failures` of time."""

    seed: int
    cluster: ClusterPlan
    sessions_span: Span
    telemetry: Span
    node_states: tuple[NodeStatePlan, ...]
    sessions: tuple[SessionPlan, ...]
    runs: tuple[RunPlan, ...]
    saves: tuple[SavePlan, ...]
    loads: tuple[LoadPlan, ...]
    failures: tuple[FailurePlan, ...]
    kernel_lines: tuple[KernelLinePlan, ...]
    cases: tuple[CasePlan, ...]
    startups: tuple[StartupPlan, ...]
    outages: tuple[OutagePlan, ...]

    @property
    def exported_ms(self) -> int:
        """When the exports were taken."""
        return self.sessions_span.to_ms
