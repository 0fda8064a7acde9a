"""Clusters of any size: what holds of every draw, and a small one through the ordinary path."""

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from gangline.config import load
from gangline.ingest import ingest
from gangline.simulate.exports import write_exports
from gangline.simulate.free_history import draw_free
from gangline.simulate.free_launches import Scale, ScaleError
from gangline.simulate.truth import truth_of
from gangline.warehouse import connect

SCALES = [Scale(), Scale(nodes=12, days=7, spares=2, hazard=40), Scale(nodes=400, days=30, spares=8, hazard=6.5)]


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: str(scale.nodes))
@pytest.mark.parametrize("seed", range(3))
def test_what_holds_of_every_draw(scale: Scale, seed: int) -> None:
    plan = draw_free(seed, scale)
    assert plan == draw_free(seed, scale)
    assert all(len(session.nodes) == scale.gang for session in plan.sessions)
    for before, after in pairwise(plan.sessions):
        assert before.ended_ms is not None
        assert before.ended_ms < after.created_ms < (after.started_ms or 0)
    for state in plan.node_states:
        later = [it for it in plan.sessions if state.from_ms < (it.started_ms or 0) < (state.to_ms or 0)]
        assert not any(state.node in session.nodes for session in later)
    for earlier, later_run in pairwise(plan.runs):
        assert earlier.resume_step <= later_run.resume_step <= earlier.last_step


def test_a_higher_hazard_interrupts_more() -> None:
    counts = [
        sum(len(draw_free(seed, Scale(nodes=100, days=30, hazard=hazard)).failures) for seed in range(5))
        for hazard in (3.0, 12.0)
    ]
    assert counts[1] > 2 * counts[0]


def test_a_scale_without_a_gang() -> None:
    with pytest.raises(ScaleError, match="--nodes 4 less --spares 3 leaves 1 for the job: it needs at least 2"):
        draw_free(1, Scale(nodes=4, spares=3))


@pytest.mark.parametrize(
    ("scale", "told"),
    [
        (Scale(nodes=100_000_000), "--nodes 100,000,000: must be above 0 and at most 20,000"),
        (Scale(days=0), "--days 0: must be above 0 and at most 3,660"),
        (Scale(hazard=math.inf), "--hazard inf: must be above 0 and at most 10,000"),
        (Scale(hazard=math.nan), "--hazard nan: must be above 0 and at most 10,000"),
        (Scale(nodes=20_000, days=3_660), "--nodes times --days 73,200,000: must be above 0 and at most 2,000,000"),
    ],
    ids=lambda it: "" if isinstance(it, str) else repr(it),
)
def test_a_scale_beyond_what_can_be_drawn(scale: Scale, told: str) -> None:
    with pytest.raises(ScaleError) as caught:
        draw_free(1, scale)
    assert str(caught.value) == told


def test_a_history_in_which_nothing_ever_trains() -> None:
    plan = draw_free(1, Scale(nodes=5, days=1, spares=0, hazard=10_000))
    in_vain = tuple(replace(it, training_from_ms=None) for it in plan.sessions)
    assert truth_of(replace(plan, sessions=in_vain))["episodes"] == []


def test_a_small_one_reads_back(tmp_path: Path) -> None:
    plan = draw_free(2, Scale(nodes=5, days=2, spares=1, hazard=300))
    write_exports(tmp_path, plan, lambda *_: None, workers=1)
    report = ingest(load(tmp_path / "cluster.toml"))
    assert [outcome.shown_path for outcome in report.outcomes if not outcome.is_clean] == []
    with connect(load(tmp_path / "cluster.toml")) as con:
        sessions = con.execute(
            "select session_id, is_gang, coalesce(reached_training, false) from marts.sessions order by started_at"
        ).fetchall()
        assert sessions == [(it.session_id, True, it.training_from_ms is not None) for it in plan.sessions]
        saves = con.execute("select epoch_ms(started_at), stall_s from marts.checkpoint_saves order by 1").fetchall()
        assert saves == [(save.started_ms, 20.0) for save in plan.saves]
        assert len(saves) > 3
        attempts = con.execute("select count(distinct chain_id), count(chain_id) from marts.sessions").fetchall()
        drawn = [it.chain for it in plan.sessions if it.chain is not None]
        assert attempts == [(len(set(drawn)), len(drawn))]
