"""What node_exporter's mountstats count per node: bytes, requests and their times, from saves and loads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gangline.simulate.meters import Counts, Meter
from gangline.simulate.node_shares import Means, factors
from gangline.simulate.plan import Plan, RequestPlan
from gangline.simulate.scrape_grid import ScrapeGrid

TIMES = ("request_ms", "queue_ms", "response_ms")
TIMES_OF_PLAN = ("queue_ms", "response_ms", "total_ms")
METADATA_SHARES = {"GETATTR": 0.6, "LOOKUP": 0.4}
OPERATIONS = ("WRITE", "READ", *METADATA_SHARES)
IDLE_GETATTR_PER_STEP = 4
METADATA_TIMES_MS = {"request_ms": 0.75, "queue_ms": 0.25, "response_ms": 0.5}
CALL_BYTES, REPLY_BYTES = 160, 112  # of a request and an answer, without what they carry


@dataclass(frozen=True, eq=False)
class Transfers:
    """Bytes that nodes move with one operation: an event a save or load and scrape step.

    Attributes
    ----------
    steps
        The scrape step of each event.
    node_bytes
        `[event, node]`.
    is_member
        `[event, node]`: whether the node is one of the session whose save or load it is; others write beside it.
    requests
        How the requests of each event went: means over the session's nodes.
    is_timed
        Whether the exporter told their times: only these are held to the nodes' percentile.
    """

    operation: str
    steps: Counts
    node_bytes: Counts
    is_member: NDArray[np.bool_]
    requests: Sequence[RequestPlan]
    is_timed: Sequence[bool]


@dataclass(eq=False)
class NfsMeters:
    """Every counter of the mount.

    `sent`, `received`, `requests`: by operation, `program`: by WRITE and READ, `times`: by (operation, which) in
    milliseconds. What a WRITE sends and a READ receives is counted without the frame around it.
    """

    node_count: int
    resets: Sequence[tuple[int, int]]
    sent: dict[str, Meter] = field(default_factory=dict)
    received: dict[str, Meter] = field(default_factory=dict)
    program: dict[str, Meter] = field(default_factory=dict)
    requests: dict[str, Meter] = field(default_factory=dict)
    times: dict[tuple[str, str], Meter] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for operation in OPERATIONS:
            self.sent[operation], self.received[operation] = self._meter(), self._meter()
            self.requests[operation] = self._meter()
        self.program = {operation: self._meter() for operation in ("WRITE", "READ")}
        self.times = {(operation, which): self._meter() for operation in OPERATIONS for which in TIMES}
        self.backlog, self.sends = self._meter(), self._meter()

    def _meter(self) -> Meter:
        return Meter(self.node_count, self.resets)


def nfs_meters(plan: Plan, grid: ScrapeGrid, resets: Sequence[tuple[int, int]]) -> NfsMeters:
    """All that the plan's saves and loads leave in the counters, on top of an idle mount's few requests."""
    meters = NfsMeters(len(plan.cluster.nodes), resets)
    everywhere = np.arange(meters.node_count)
    idle = (everywhere, 0, grid.count)
    meters.requests["GETATTR"].add(*idle, IDLE_GETATTR_PER_STEP)
    meters.sent["GETATTR"].add(*idle, IDLE_GETATTR_PER_STEP * CALL_BYTES)
    meters.received["GETATTR"].add(*idle, IDLE_GETATTR_PER_STEP * REPLY_BYTES)
    meters.sends.add(*idle, IDLE_GETATTR_PER_STEP)
    for which, spent_ms in METADATA_TIMES_MS.items():
        meters.times["GETATTR", which].add(*idle, round(IDLE_GETATTR_PER_STEP * spent_ms))
    for transfers in (_saved(plan, grid), _loaded(plan, grid)):
        if transfers.steps.size:
            _count(meters, transfers, plan.seed, grid.step_ms)
    _reuse_pages(meters, plan, grid)
    return meters


def _saved(plan: Plan, grid: ScrapeGrid) -> Transfers:
    usual = next((save.requests for save in plan.saves if save.requests is not None), None)
    events = _Events(plan)
    for save in plan.saves:
        requests = save.requests or usual
        if requests is None:
            raise ValueError(f"no save of the plan says how its requests went, {save.save_id} neither")
        left = whole = events.by_node({node: group.bytes_per_node for group in save.groups for node in group.nodes})
        for number, (at_ms, share) in enumerate(save.steps, start=1):
            part = left if number == len(save.steps) else np.round(whole * share).astype(np.int64)
            left = left - part
            events.add(grid.step_of(at_ms), part, save.session_id, requests, save.requests is not None)
    return events.transfers("WRITE")


def _loaded(plan: Plan, grid: ScrapeGrid) -> Transfers:
    events = _Events(plan)
    for load in plan.loads:
        nodes, first = events.nodes[load.session_id], grid.step_of(load.started_ms)
        for number, rate in enumerate(load.rates_bytes_per_s):
            part = events.by_node(dict.fromkeys(nodes, rate * grid.step_ms // 1000 // len(nodes)))
            events.add(first + number, part, load.session_id, load.requests, is_timed=True)
    return events.transfers("READ")


class _Events:
    """Gathers a plan's transfers."""

    def __init__(self, plan: Plan) -> None:
        self.places = {node: place for place, node in enumerate(plan.cluster.nodes)}
        self.nodes = {session.session_id: session.nodes for session in plan.sessions}
        self._steps: list[int] = []
        self._bytes: list[Counts] = []
        self._members: list[Counts] = []
        self._requests: list[RequestPlan] = []
        self._is_timed: list[bool] = []

    def by_node(self, amounts: Mapping[str, int]) -> Counts:
        """Amounts in the nodes' places."""
        row = np.zeros(len(self.places), np.int64)
        row[[self.places[node] for node in amounts]] = list(amounts.values())
        return row

    def add(self, step: int, node_bytes: Counts, session_id: str, requests: RequestPlan, is_timed: bool) -> None:
        """One event."""
        self._steps.append(step)
        self._bytes.append(node_bytes)
        self._members.append(self.by_node(dict.fromkeys(self.nodes[session_id], 1)))
        self._requests.append(requests)
        self._is_timed.append(is_timed)

    def transfers(self, operation: str) -> Transfers:
        """All events."""
        steps, width = np.array(self._steps, np.int64), len(self.places)
        members = _stacked(self._members, width) > 0
        return Transfers(operation, steps, _stacked(self._bytes, width), members, self._requests, self._is_timed)


def _stacked(rows: Sequence[Counts], width: int) -> Counts:
    return np.stack(rows) if rows else np.empty((0, width), np.int64)


def _count(meters: NfsMeters, transfers: Transfers, seed: int, step_ms: int) -> None:
    """Counts the bytes, their requests, the time these spent, and the metadata operations that went with them."""
    told, operation = transfers.requests, transfers.operation
    sizes = np.array([request.bytes_per_request for request in told])[:, None]
    counts = np.round(transfers.node_bytes / sizes).astype(np.int64)
    is_write = operation == "WRITE"
    _add(meters.sent[operation], transfers, transfers.node_bytes if is_write else counts * CALL_BYTES)
    _add(meters.received[operation], transfers, counts * REPLY_BYTES if is_write else transfers.node_bytes)
    _add(meters.program[operation], transfers, transfers.node_bytes)
    _add(meters.requests[operation], transfers, counts)
    _add(meters.sends, transfers, counts)
    spent = _spent(counts, transfers, seed)
    for which in TIMES:
        _add(meters.times[operation, which], transfers, spent[which])
    # At each send the transport adds the length of its queue: arrivals a second times the time they wait.
    waiting = spent["queue_ms"] // step_ms
    _add(meters.backlog, transfers, counts * waiting)
    _count_metadata(meters, transfers, _metadata(counts, told))


def _count_metadata(meters: NfsMeters, transfers: Transfers, metadata: NDArray[np.float64]) -> None:
    """Counts the metadata operations of the transfers, less those that an idle mount makes anyhow."""
    for name, share in METADATA_SHARES.items():
        idle = IDLE_GETATTR_PER_STEP if name == "GETATTR" else 0
        extra = np.maximum(np.round(metadata * share).astype(np.int64) - idle, 0)
        _add(meters.requests[name], transfers, extra)
        _add(meters.sends, transfers, extra)
        _add(meters.sent[name], transfers, extra * CALL_BYTES)
        _add(meters.received[name], transfers, extra * REPLY_BYTES)
        for which, spent_ms in METADATA_TIMES_MS.items():
            _add(meters.times[name, which], transfers, np.round(extra * spent_ms).astype(np.int64))


def _spent(counts: Counts, transfers: Transfers, seed: int) -> dict[str, Counts]:
    """Milliseconds of all requests of a node and step: in the queue, until the answer, in all."""
    told, order = transfers.requests, np.random.default_rng([seed, 7]).permutation(counts.shape[1])
    weights = counts.astype(np.float64)
    mean = {name: np.array([getattr(request, name) for request in told]) for name in TIMES_OF_PLAN}
    own = weights * transfers.is_member
    queue_means = _means(own, transfers, "queue_ms", "node_queue_ms_p95")
    response_means = _means(own, transfers, "response_ms", "node_response_ms_p95")
    queue_ms = factors(queue_means, order) * mean["queue_ms"][:, None]
    response_ms = factors(response_means, order[::-1]) * mean["response_ms"][:, None]
    queue = np.round(weights * queue_ms).astype(np.int64)
    response = np.round(weights * response_ms).astype(np.int64)
    rest_ms = mean["total_ms"] - mean["queue_ms"] - mean["response_ms"]
    rest = np.round(weights * rest_ms[:, None]).astype(np.int64)
    return {"queue_ms": queue, "response_ms": response, "request_ms": queue + response + rest}


def _means(weights: NDArray[np.float64], transfers: Transfers, mean: str, p95: str) -> Means:
    """What is held: each event's own mean, and the nodes' percentile over those that are timed."""
    is_held = np.array(transfers.is_timed)
    wanted = [getattr(request, p95) for request, is_timed in zip(transfers.requests, is_held, strict=True) if is_timed]
    of_event = np.array([getattr(request, mean) for request in transfers.requests])
    return Means(weights, of_event, sum(wanted) / max(len(wanted), 1), is_held)


def _metadata(counts: Counts, told: Sequence[RequestPlan]) -> NDArray[np.float64]:
    shares = np.array([request.metadata_share for request in told])[:, None]
    return np.asarray(counts * shares / (1 - shares))


def _add(meter: Meter, transfers: Transfers, amounts: Counts) -> None:
    nodes = np.arange(amounts.shape[1])[None, :]
    steps = transfers.steps[:, None]
    meter.add(nodes, steps, steps + 1, amounts)


def _reuse_pages(meters: NfsMeters, plan: Plan, grid: ScrapeGrid) -> None:
    """What a load left in the page cache is read once more from there, by the node's other processes."""
    places = {node: place for place, node in enumerate(plan.cluster.nodes)}
    nodes = {session.session_id: session.nodes for session in plan.sessions}
    for load in plan.loads:
        first, stop = grid.step_of(load.started_ms), grid.step_of(load.ended_ms)
        per_step = load.page_cache_bytes_per_node // max(stop - first, 1)
        meters.program["READ"].add([places[node] for node in nodes[load.session_id]], first, stop, per_step)
