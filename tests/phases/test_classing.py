"""Phases of steps: which step is what, and that they tile their session (analyses 6)."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangline.phases.classing import Phase, load_stretches, phases_of, spans_of
from gangline.phases.findings import found_in
from gangline.phases.rules import Rules
from gangline.phases.steps import Flow, SessionSteps

RULES = Rules(20.0, 10.0, 5.0, 60.0, 1.0)
STEP_MS = 30_000
NODES = 10
WORDS = {"?": Phase.UNKNOWN, "S": Phase.SAVE, "L": Phase.LOAD, "T": Phase.TRAINING}
Step = tuple[float, int, float, int, float | None]
"""Bytes/s written, nodes that report it, bytes/s read, nodes that report it, GPU use."""
STEPS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 15.0, 25.0]),
        st.sampled_from([0, 8, 9, 10]),
        st.sampled_from([0.0, 9.0]),
        st.sampled_from([8, 9]),
        st.sampled_from([None, 0.3, 0.9]),
    ),
    max_size=40,
)


def steps_of(steps: list[Step], head_ms: int = 0, tail_ms: int = 0) -> SessionSteps:
    count = len(steps)
    columns = list(zip(*steps, strict=True)) if steps else [()] * 5
    return SessionSteps(
        1_000_000 - head_ms,
        1_000_000 + count * STEP_MS + tail_ms,
        1_000_000,
        STEP_MS,
        np.full(count, NODES, np.int32),
        np.full(count, STEP_MS, np.int32),
        Flow(30 * np.array(columns[0], float), np.array(columns[1], np.int32)),
        Flow(30 * np.array(columns[2], float), np.array(columns[3], np.int32)),
        np.array(columns[1], np.int32),
        np.array([np.nan if util is None else util for util in columns[4]], float),
    )


@pytest.mark.parametrize(
    ("step", "phase"),
    [
        ((0, 10, 9, 10, 0.3), Phase.LOAD),
        ((0, 9, 9, 9, 0.49), Phase.LOAD),
        ((0, 10, 9, 10, 0.5), Phase.TRAINING),
        ((0, 10, 5, 10, 0.3), Phase.TRAINING),
        ((0, 8, 9, 10, 0.3), Phase.UNKNOWN),
        ((0, 10, 9, 8, 0.3), Phase.UNKNOWN),
        ((0, 10, 9, 8, 0.9), Phase.TRAINING),
        ((0, 10, 9, 10, None), Phase.UNKNOWN),
        ((0, 10, 0, 10, None), Phase.TRAINING),
    ],
)
def test_a_step_alone(step: Step, phase: Phase) -> None:
    assert phases_of(steps_of([step]), RULES, []).tolist() == [phase]


def test_a_save_is_no_load_and_what_is_not_known_is_neither() -> None:
    steps = steps_of([(25, 10, 9, 10, 0.3), (25, 8, 9, 10, 0.3)])
    assert phases_of(steps, RULES, [(0, 2)]).tolist() == [Phase.SAVE, Phase.UNKNOWN]


@pytest.mark.parametrize(
    ("phases", "loads"),
    [
        ("TLLT", [(1, 3)]),
        ("LL??L", [(0, 5)]),
        ("LL???L", [(0, 2), (5, 6)]),
        ("LTL", [(0, 1), (2, 3)]),
        ("L?T?L", [(0, 1), (4, 5)]),
        ("?LL??", [(1, 3)]),
        ("", []),
    ],
)
def test_loads_go_on_over_two_unknown_steps(phases: str, loads: list[tuple[int, int]]) -> None:
    assert load_stretches(np.array([WORDS[word] for word in phases], np.int8)) == loads


@given(STEPS, st.integers(0, STEP_MS - 1), st.integers(0, STEP_MS - 1))
def test_phases_tile_the_session(steps: list[Step], head_ms: int, tail_ms: int) -> None:
    session = steps_of(steps, head_ms, tail_ms)
    phases = phases_of(session, RULES, [])
    spans = spans_of(session, phases)
    edges = [span[1:] for span in spans]
    assert all(start_ms < end_ms for start_ms, end_ms in edges)
    assert [start_ms for start_ms, _ in edges[1:]] == [end_ms for _, end_ms in edges[:-1]]
    whole = session.start_ms, session.until_ms
    assert ((edges[0][0], edges[-1][1]) if edges else (whole[0], whole[0])) == whole
    assert all(one[0] != other[0] for one, other in pairwise(spans))


@given(STEPS, st.integers(0, STEP_MS - 1))
def test_saves_and_phases_agree(steps: list[Step], tail_ms: int) -> None:
    found = found_in(steps_of(steps, 0, tail_ms), RULES)
    saving_ms = sum(end_ms - start_ms for phase, start_ms, end_ms in found.spans if phase == Phase.SAVE)
    assert saving_ms / 1000 == sum(save.burst.known_s for save in found.saves)
    assert all(
        save.is_completed or save.burst.end_ms == 1_000_000 + len(steps) * STEP_MS + tail_ms for save in found.saves
    )
    assert all((save.burst.peak_bytes_per_s or 0) > 20 for save in found.saves)


def test_without_a_rule_for_loads_only_busy_steps_are_training() -> None:
    rules = Rules(20.0, 10.0, None, 60.0, 1.0)
    steps = steps_of([(0, 10, 9, 10, 0.9), (0, 10, 9, 10, 0.3)])
    assert phases_of(steps, rules, []).tolist() == [Phase.TRAINING, Phase.UNKNOWN]


def test_without_a_rule_for_saves_loads_are_found_and_no_phases() -> None:
    found = found_in(steps_of([(25, 10, 9, 10, 0.3), (25, 0, 9, 10, 0.3)]), Rules(None, None, 5.0, 60.0, 1.0))
    assert (found.saves, [load.stretch for load in found.loads], found.spans) == ([], [(0, 2)], [])
