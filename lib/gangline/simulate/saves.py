"""The saves that the telemetry sees: who wrote how much, in which scrape steps, and how the requests went.

Two published figures cannot both hold: 20.55 GB a node, and about 26 and 2 GB from 48 and 12 nodes (21.2 a node). The
first is held, so that the larger writers come to 25.2 GB. The 1,295 GB in all are 63 nodes: those on the bench write
in the same step, as much as the others; a session's own nodes write 1,233 GB.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gangline.simulate.calibration import GANG_NODES, SCRAPE, SECOND, Calibration
from gangline.simulate.draws import Draws
from gangline.simulate.layout import Course
from gangline.simulate.plan import NodeBytes, RequestPlan, RunPlan, SavePlan
from gangline.simulate.progress import save_step

LARGE_WRITERS = 48
LARGE_BYTES, SMALL_BYTES, BESIDE_BYTES = 25.25e9, 1.99e9, 20.55e9
LARGE_STAGED, SMALL_STAGED = 48_000_000_000, 9_000_000_000
FEW_WRITERS_BEFORE = 14
FIRST_PART = (0.58, 0.64)
SPREAD_OF_BYTES = 0.012
SPREAD_OF_QUEUE = 0.12
WRITE = RequestPlan(1_021_000, 1_890.0, 136.0, 2_030.0, 0.0085, 3_020.0, 166.0)
"""Requests of WRITE as published: 2.03 s a request, 1.89 of them in the queue and 136 ms until the answer."""


@dataclass(frozen=True, slots=True)
class SeenSave:
    """One save of a course, and what is to be written of it."""

    course: Course
    run: RunPlan
    number: int
    bench: frozenset[str]
    nodes: tuple[str, ...]

    @property
    def started_ms(self) -> int:
        """When all GPUs begin to wait."""
        return self.course.saves[self.number]


def saves(draws: Draws, calibration: Calibration, seen: Sequence[SeenSave]) -> list[SavePlan]:
    """All saves in order. The exporter tells of NFS times from the first of the measured ones on."""
    count, untold = len(seen), len(seen) - calibration.measured_saves
    few = set(draws.chosen(range(untold), FEW_WRITERS_BEFORE))
    few |= set(draws.chosen(range(untold, count), calibration.measured_saves - calibration.many_writer_saves))
    factors = [1 + SPREAD_OF_BYTES * draws.between(-1, 1) for _ in range(count)]
    split = set(draws.chosen(range(count), _split_count(calibration, count)))
    whole = [_bytes(factor, place in few) for place, factor in enumerate(factors)]
    scale = calibration.save_bytes_per_node * GANG_NODES * count / sum(whole)
    queues = _queues(draws, whole[untold:])
    return [
        _save(
            draws,
            calibration,
            place,
            save,
            factors[place] * scale,
            is_few=place in few,
            is_split=place in split,
            requests=_requests(queues[place - untold]) if place >= untold else None,
        )
        for place, save in enumerate(seen)
    ]


def _bytes(factor: float, is_few: bool) -> float:
    """What the session's nodes write in a save."""
    return factor * (LARGE_WRITERS * LARGE_BYTES + (0 if is_few else 12 * SMALL_BYTES))


def _queues(draws: Draws, weights: Sequence[float]) -> list[float]:
    """How long each save's requests queued, as a multiple of the mean over all requests."""
    drawn = [1 + SPREAD_OF_QUEUE * draws.between(-1, 1) for _ in weights]
    mean = sum(value * weight for value, weight in zip(drawn, weights, strict=True)) / sum(weights)
    return [value / mean for value in drawn]


def _split_count(calibration: Calibration, count: int) -> int:
    """How many saves must fall into two scrape steps for their mean rate to be the published one."""
    in_one_step = calibration.save_bytes_per_node * GANG_NODES / (SCRAPE / SECOND)
    return math.ceil(2 * (1 - calibration.save_bytes_per_s / in_one_step) * count)


def _save(
    draws: Draws,
    calibration: Calibration,
    place: int,
    save: SeenSave,
    factor: float,
    *,
    is_few: bool,
    is_split: bool,
    requests: RequestPlan | None,
) -> SavePlan:
    from_ms = calibration.telemetry.from_ms
    step_ms = from_ms + (save.started_ms - from_ms) // SCRAPE * SCRAPE
    first = round(draws.between(*FIRST_PART), 3)
    large = NodeBytes(save.nodes[:LARGE_WRITERS], round(LARGE_BYTES * factor), LARGE_STAGED)
    small = NodeBytes(save.nodes[LARGE_WRITERS:], round(SMALL_BYTES * factor), SMALL_STAGED)
    beside = NodeBytes(tuple(sorted(save.bench)), round(BESIDE_BYTES * factor))
    before = save.course.saves[save.number - 1] if save.number else None
    return SavePlan(
        save_id=f"save-{place:04d}",
        session_id=save.run.session_id,
        run_id=save.run.run_id,
        stage=save.run.stage,
        step=save_step(save.run, save.course, save.number),
        started_ms=save.started_ms,
        stall_ms=save.course.stalls[save.number],
        steps=((step_ms, first), (step_ms + SCRAPE, 1 - first)) if is_split else ((step_ms, 1.0),),
        groups=(large, beside) if is_few else (large, small, beside),
        interval_ms=None if before is None else save.started_ms - before,
        requests=requests,
    )


def _requests(queue: float) -> RequestPlan:
    """Requests whose queue was so many times the mean."""
    queue_ms = WRITE.queue_ms * queue
    return RequestPlan(
        bytes_per_request=WRITE.bytes_per_request,
        queue_ms=queue_ms,
        response_ms=WRITE.response_ms,
        total_ms=WRITE.total_ms - WRITE.queue_ms + queue_ms,
        metadata_share=WRITE.metadata_share,
        node_queue_ms_p95=WRITE.node_queue_ms_p95 * queue,
        node_response_ms_p95=WRITE.node_response_ms_p95,
    )
