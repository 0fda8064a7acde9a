"""A plan with one truth moved, so that a test can see which figures move with it, and that no other does."""

from dataclasses import replace

from gangline.simulate.plan import Plan, RunPlan, SavePlan, SessionPlan


def with_retries_later(plan: Plan, by_ms: int) -> Plan:
    """Every automatic retry submitted and started so much later; it ends when it did."""
    return replace(plan, sessions=tuple(_later(session, by_ms) for session in plan.sessions))


def with_node_released(plan: Plan, node: str) -> Plan:
    """Nobody holds the node: without the single-node sessions on it."""
    kept = (session for session in plan.sessions if session.kind != "single" or session.nodes != (node,))
    return replace(plan, sessions=tuple(kept))


def with_every_second_save(plan: Plan, stage: str) -> Plan:
    """Saves of the stage come half as often: of each run the second, the fourth and so on are left."""
    numbers = {run.run_id: 0 for run in plan.runs}
    saves: list[SavePlan] = []
    last_ms: dict[str, int] = {}
    for save in plan.saves:
        numbers[save.run_id] += 1
        if save.stage != stage:
            saves.append(save)
        elif numbers[save.run_id] % 2 == 0:
            before = last_ms.get(save.run_id)
            saves.append(replace(save, interval_ms=None if before is None else save.started_ms - before))
            last_ms[save.run_id] = save.started_ms
    kept = {(save.run_id, save.step) for save in saves}
    return replace(plan, saves=tuple(saves), runs=tuple(_without_stalls(run, stage, kept) for run in plan.runs))


def _later(session: SessionPlan, by_ms: int) -> SessionPlan:
    if (session.attempt or 1) == 1 or session.started_ms is None:
        return session
    return replace(session, created_ms=session.created_ms + by_ms, started_ms=session.started_ms + by_ms)


def _without_stalls(run: RunPlan, stage: str, kept: set[tuple[str, int]]) -> RunPlan:
    """The run without the stalls of saves that are no more: the step before the stall is reached at its end."""
    if run.stage != stage:
        return run
    stalls = {before.step for before, after in zip(run.knots, run.knots[1:], strict=False) if before.step == after.step}
    left = [
        knot
        for place, knot in enumerate(run.knots)
        if knot.step not in stalls or (run.run_id, knot.step) in kept or run.knots[place - 1].step == knot.step
    ]
    return replace(run, knots=tuple(left))
