"""What node_exporter's mountstats count per node: bytes, requests and their times, from saves and loads."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gangline.simulate.meters import Counts, Meter
from gangline.simulate.node_shares import factors
from gangline.simulate.plan import Plan, RequestPlan
from gangline.simulate.scrape_grid import ScrapeGrid

TIMES = ("request_ms", "queue_ms", "response_ms")
METADATA_SHARES = {"GETATTR": 0.5, "LOOKUP": 0.3, "ACCESS": 0.2}
IDLE_GETATTR_PER_STEP = 4
GETATTR_TIMES_MS = {"request_ms": 0.75, "queue_ms": 0.25, "response_ms": 0.5}


@dataclass(frozen=True, eq=False)
class Transfers:
    """Bytes that nodes move with one operation: an event a save or load and scrape step.

    Attributes
    ----------
    steps
        The scrape step of each event.
    node_bytes
        `[event, node]`.
    requests
        How the requests of each event went.
    is_timed
        Whether the exporter told their times: only these are held to the nodes' percentile.
    """

    operation: str
    steps: Counts
    node_bytes: Counts
    requests: Sequence[RequestPlan]
    is_timed: Sequence[bool]


@dataclass(eq=False)
class NfsMeters:
    """Every counter of the mount.

    `bytes`, `program`: by operation; `requests`: by operation; `times`: by (operation, which), in milliseconds.
    """

    node_count: int
    resets: Sequence[tuple[int, int]]
    bytes: dict[str, Meter] = field(default_factory=dict)
    program: dict[str, Meter] = field(default_factory=dict)
    requests: dict[str, Meter] = field(default_factory=dict)
    times: dict[tuple[str, str], Meter] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for operation in ("WRITE", "READ"):
            self.bytes[operation], self.program[operation] = self._meter(), self._meter()
        for operation in ("WRITE", "READ", *METADATA_SHARES):
            self.requests[operation] = self._meter()
        self.times = {
            (operation, which): self._meter() for operation in ("WRITE", "READ", "GETATTR") for which in TIMES
        }
        self.backlog, self.sends = self._meter(), self._meter()

    def _meter(self) -> Meter:
        return Meter(self.node_count, self.resets)


def nfs_meters(plan: Plan, grid: ScrapeGrid, resets: Sequence[tuple[int, int]]) -> NfsMeters:
    """All that the plan's saves and loads leave in the counters, on top of an idle mount's few requests."""
    meters = NfsMeters(len(plan.cluster.nodes), resets)
    everywhere = np.arange(meters.node_count)
    meters.requests["GETATTR"].add(everywhere, 0, grid.count, IDLE_GETATTR_PER_STEP)
    meters.sends.add(everywhere, 0, grid.count, IDLE_GETATTR_PER_STEP)
    for which, spent_ms in GETATTR_TIMES_MS.items():
        spent = round(IDLE_GETATTR_PER_STEP * spent_ms)
        meters.times["GETATTR", which].add(everywhere, 0, grid.count, spent)
    for transfers in (_saved(plan, grid), _loaded(plan, grid)):
        if transfers.steps.size:
            _count(meters, transfers, plan.seed, grid.step_ms)
    _reuse_pages(meters, plan, grid)
    return meters


def _saved(plan: Plan, grid: ScrapeGrid) -> Transfers:
    places = {node: place for place, node in enumerate(plan.cluster.nodes)}
    usual = next((save.requests for save in plan.saves if save.requests is not None), None)
    steps, rows, requests, is_timed = [], [], [], []
    for save in plan.saves:
        whole = np.zeros(len(places), np.int64)
        for group in save.groups:
            whole[[places[node] for node in group.nodes]] = group.bytes_per_node
        left = whole.copy()
        told = save.requests or usual
        if told is None:
            raise ValueError(f"no save of the plan says how its requests went, {save.save_id} neither")
        for number, (at_ms, share) in enumerate(save.steps):
            is_last = number == len(save.steps) - 1
            part = left if is_last else np.round(whole * share).astype(np.int64)
            left = left - part
            steps.append(grid.step_of(at_ms))
            rows.append(part)
            requests.append(told)
            is_timed.append(save.requests is not None)
    return Transfers("WRITE", np.array(steps, np.int64), _stacked(rows, len(places)), requests, is_timed)


def _loaded(plan: Plan, grid: ScrapeGrid) -> Transfers:
    places = {node: place for place, node in enumerate(plan.cluster.nodes)}
    nodes = {session.session_id: session.nodes for session in plan.sessions}
    steps, rows, requests = [], [], []
    for load in plan.loads:
        own = [places[node] for node in nodes[load.session_id]]
        first = grid.step_of(load.started_ms)
        for number, rate in enumerate(load.rates_bytes_per_s):
            part = np.zeros(len(places), np.int64)
            part[own] = rate * grid.step_ms // 1000 // len(own)
            steps.append(first + number)
            rows.append(part)
            requests.append(load.requests)
    return Transfers("READ", np.array(steps, np.int64), _stacked(rows, len(places)), requests, [True] * len(rows))


def _stacked(rows: Sequence[Counts], width: int) -> Counts:
    return np.stack(rows) if rows else np.empty((0, width), np.int64)


def _count(meters: NfsMeters, transfers: Transfers, seed: int, step_ms: int) -> None:
    """Counts the bytes, their requests, the time these spent, and the metadata operations that went with them."""
    told, operation = transfers.requests, transfers.operation
    sizes = np.array([request.bytes_per_request for request in told])[:, None]
    counts = np.round(transfers.node_bytes / sizes).astype(np.int64)
    _add(meters.bytes[operation], transfers, transfers.node_bytes)
    _add(meters.program[operation], transfers, transfers.node_bytes)
    _add(meters.requests[operation], transfers, counts)
    spent = _spent(counts, transfers, seed)
    for which in TIMES:
        _add(meters.times[operation, which], transfers, spent[which])
    metadata = _metadata(counts, told)
    for name, share in METADATA_SHARES.items():
        idle = IDLE_GETATTR_PER_STEP if name == "GETATTR" else 0
        extra = np.maximum(np.round(metadata * share).astype(np.int64) - idle, 0)
        _add(meters.requests[name], transfers, extra)
        _add(meters.sends, transfers, extra)
        for which, spent_ms in GETATTR_TIMES_MS.items() if name == "GETATTR" else ():
            _add(meters.times[name, which], transfers, np.round(extra * spent_ms).astype(np.int64))
    _add(meters.sends, transfers, counts)
    # At each send the transport adds the length of its queue: arrivals a second times the time they wait.
    waiting = spent["queue_ms"] // step_ms
    _add(meters.backlog, transfers, counts * waiting)


def _spent(counts: Counts, transfers: Transfers, seed: int) -> dict[str, Counts]:
    """Milliseconds of all requests of a node and step: in the queue, until the answer, in all."""
    told = transfers.requests
    usual, order = told[0], np.random.default_rng([seed, 7]).permutation(counts.shape[1])
    weights, is_held = counts.astype(np.float64), np.array(transfers.is_timed)
    queue_factors = factors(weights, usual.node_queue_ms_p95 / usual.queue_ms, order, is_held)
    response_factors = factors(weights, usual.node_response_ms_p95 / usual.response_ms, order[::-1], is_held)
    mean = {name: np.array([getattr(request, name) for request in told])[:, None] for name in TIMES_OF_PLAN}
    queue = np.round(weights * queue_factors * mean["queue_ms"]).astype(np.int64)
    response = np.round(weights * response_factors * mean["response_ms"]).astype(np.int64)
    rest_ms = mean["total_ms"] - mean["queue_ms"] - mean["response_ms"]
    rest = np.round(weights * rest_ms).astype(np.int64)
    return {"queue_ms": queue, "response_ms": response, "request_ms": queue + response + rest}


TIMES_OF_PLAN = ("queue_ms", "response_ms", "total_ms")


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
