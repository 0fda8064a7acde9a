"""The drawn history: the same for the same seed, another for another, and always with the published counts."""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise

import pytest

from gangline.simulate import bring_up, conditions, history
from gangline.simulate.calibration import HOUR, MINUTE, SCRAPE, Calibration
from gangline.simulate.history import NoFitError, draw
from gangline.simulate.plan import Plan, SessionPlan

SEEDS = (2605, 1, 7)


@pytest.fixture(scope="module", params=SEEDS)
def plan(request: pytest.FixtureRequest) -> Plan:
    return draw(request.param)


def _gangs(plan: Plan) -> list[SessionPlan]:
    return sorted((it for it in plan.sessions if it.kind == "gang"), key=lambda session: session.started_ms or 0)


def _span(plan: Plan, session: SessionPlan) -> tuple[int, int]:
    return session.started_ms or 0, session.ended_ms or plan.exported_ms


def test_a_seed_gives_one_plan() -> None:
    assert draw(2605) == draw(2605)
    assert draw(2605).sessions != draw(1).sessions


def test_sessions_are_as_many_as_published(plan: Plan) -> None:
    started = Counter(session.kind for session in plan.sessions if session.started_ms is not None)
    assert (started["gang"], started["multi"]) == (177, 47)
    gangs = _gangs(plan)
    assert all(len(session.nodes) == 60 for session in gangs)
    chained = [session for session in gangs if session.chain is not None]
    assert (len(chained), len({session.chain for session in chained})) == (73, 12)
    trained = [session for session in gangs if session.training_from_ms is not None]
    by_hand = [session for session in trained if session.chain is None]
    assert (len(trained), len(by_hand)) == (22, 13)


def test_four_chains_recover_three_of_them_at_once_one_after_xid_94(plan: Plan) -> None:
    chains: dict[int, list[SessionPlan]] = defaultdict(list)
    for session in _gangs(plan):
        chains[session.chain or 0].append(session)
    chains.pop(0)
    recovered = [own for own in chains.values() if any(session.training_from_ms for session in own[1:])]
    assert sorted(len(own) - 1 for own in recovered) == [1, 1, 1, 4]
    failures = {failure.failure_id: failure for failure in plan.failures}
    quick = [own for own in recovered if len(own) == 2]
    assert sum(failures[own[0].failure_id].xids == (94,) for own in quick if own[0].failure_id) == 1
    barren = max(chains.values(), key=len)
    assert len(barren) == 31
    assert [bool(session.training_from_ms) for session in barren] == [True, *[False] * 30]
    first, last = _span(plan, barren[0])
    assert (last - first) / HOUR == pytest.approx(25.4, abs=0.05)


def test_no_node_is_in_two_sessions_at_once(plan: Plan) -> None:
    spans = defaultdict(list)
    for session in plan.sessions:
        for node in session.nodes if session.started_ms is not None else ():
            spans[node].append((*_span(plan, session), session.gpus_per_node))
    for own in spans.values():
        for (_, ended_ms, gpus), (started_ms, _, next_gpus) in pairwise(sorted(own)):
            assert started_ms >= ended_ms or gpus + next_gpus <= 8


def test_sessions_start_after_they_were_made_and_end_after_they_started(plan: Plan) -> None:
    for session in plan.sessions:
        started_ms, ended_ms = _span(plan, session)
        assert session.started_ms is None or session.created_ms < started_ms < ended_ms


def test_retries_are_made_after_the_delay_and_people_do_not_look_like_them(plan: Plan) -> None:
    for before, after in pairwise(_gangs(plan)):
        waited_min = (after.created_ms - (before.ended_ms or 0)) / MINUTE
        assert (10 <= waited_min < 10.2) if (after.attempt or 1) > 1 else not 9 <= waited_min <= 15


def test_saves_and_loads_are_as_published(plan: Plan) -> None:
    assert len(plan.saves) == 523
    assert sum(save.requests is not None for save in plan.saves) == 406
    assert [save.requests is None for save in plan.saves] == [True] * 117 + [False] * 406
    nodes = {session.session_id: set(session.nodes) for session in plan.sessions}
    own = [[group for group in it.groups if {*group.nodes} <= nodes[it.session_id]] for it in plan.saves]
    writers = [sum(len(group.nodes) for group in groups) for groups in own]
    assert sum(count >= 50 for count in writers[117:]) == 357
    rates = [
        sum(len(group.nodes) * group.bytes_per_node for group in groups) / (len(save.steps) * 30)
        for save, groups in zip(plan.saves, own, strict=True)
    ]
    assert sum(rates) / 523 == pytest.approx(40.1e9, abs=0.05e9)
    handed = [sum(len(group.nodes) * group.bytes_per_node for group in groups) / 60 for groups in own]
    assert sum(handed) / 523 == pytest.approx(20.55e9, rel=1e-6)
    long = {it.session_id for it in plan.sessions if it.started_ms and _span(plan, it)[1] - it.started_ms >= HOUR}
    loads = [load for load in plan.loads if load.session_id in long]
    steps = sorted((load.ended_ms - load.started_ms) // SCRAPE for load in loads)
    assert (len(loads), sum(steps) / 20, (steps[9] + steps[10]) / 2) == (20, 66, 62)
    means = [sum(load.rates_bytes_per_s) / len(load.rates_bytes_per_s) for load in loads]
    assert sum(means) / 20 == pytest.approx(150.8e9, rel=1e-6)
    assert sum(max(load.rates_bytes_per_s) for load in loads) / 20 == pytest.approx(223.8e9, rel=1e-6)


def test_saves_fall_where_the_grid_sees_them(plan: Plan) -> None:
    from_ms = plan.telemetry.from_ms
    for save in plan.saves:
        first_ms, share = save.steps[0]
        assert (first_ms - from_ms) % SCRAPE == 0
        assert first_ms < save.started_ms < first_ms + SCRAPE
        assert share == 1 or (0.5 < share < 0.7 and sum(part for _, part in save.steps) == pytest.approx(1))


def test_runs_go_on_from_the_last_save(plan: Plan) -> None:
    for run in plan.runs:
        steps = [knot.step for knot in run.knots]
        instants = [knot.at_ms for knot in run.knots]
        assert steps == sorted(steps)
        assert instants == sorted(instants)
        assert not steps or (steps[0], steps[-1]) == (run.resume_step + 1, run.last_step)
        assert all(run.started_ms < at_ms <= run.ended_ms for at_ms in instants)


def test_faults_are_as_published(plan: Plan) -> None:
    assert len(plan.failures) == 21
    assert sum(bool(failure.xids) for failure in plan.failures) == 10
    codes = [code for failure in plan.failures for code in failure.xids]
    assert (len(codes), sum(code in (145, 149) for code in codes)) == (17, 5)
    assert [case.node for case in plan.cases] == ["gpu071", "gpu096", "gpu122", "gpu124"]


def test_another_delay_moves_the_gaps_of_retries_by_as_much() -> None:
    usual, slower = draw(2605), draw(2605, Calibration(retry_delay_ms=12 * MINUTE))
    medians = [_retry_gap_median(plan) for plan in (usual, slower)]
    assert medians[1] - medians[0] == pytest.approx(2, abs=0.25)
    assert len(slower.saves) == 523
    assert len(_gangs(slower)) == 177


def _retry_gap_median(plan: Plan) -> float:
    gaps = [
        ((after.started_ms or 0) - (before.ended_ms or 0)) / MINUTE
        for before, after in pairwise(_gangs(plan))
        if (after.attempt or 1) > 1
    ]
    return conditions.quantile_of(sorted(gaps), 0.5)


def test_what_cannot_be_drawn_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST_ATTEMPTS", 5)
    with pytest.raises(NoFitError, match="seed 3: none of 5 draws fits the calibration"):
        draw(3, replace(Calibration(), saves=60))


def test_bring_up_has_no_gap_that_is_neither_short_nor_a_pause() -> None:
    gangs = _gangs(draw(2605))
    first = next(place for place, it in enumerate(gangs) if it.training_from_ms is not None)
    gaps = [((after.started_ms or 0) - (before.ended_ms or 0)) / HOUR for before, after in pairwise(gangs[: first + 1])]
    pauses = [gap for gap in gaps if gap > 24]
    assert len(pauses) == bring_up.BURSTS
    assert max(gap for gap in gaps if gap <= 24) == pytest.approx(430 / 60)
