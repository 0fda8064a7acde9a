"""A session's steps: how long, from where on, and who is in for which of them (analyses 6)."""

import numpy as np
import pytest

from gangline.phases.counted import EvenlyCounted, StepCounts
from gangline.phases.gathering import Beat, Gathering, Member
from gangline.roles.gpu_use import NodeSums

MIN = 60_000


def scraped(step_ms: int, offset_ms: int, samples: int = 10) -> EvenlyCounted:
    return EvenlyCounted(offset_ms, step_ms, np.ones(samples - 1))


@pytest.mark.parametrize(
    ("scrapes", "beat"),
    [
        ([(30_000, 0), (30_000, 0), (15_000, 0)], (30_000, 0)),
        ([(30_000, 0), (15_000, 0)], (30_000, 0)),
        ([(30_000, 7_003), (30_000, 7_950), (30_000, 12_000)], (30_000, 7_000)),
        ([(30_000, 1_000), (30_000, 9_000), (30_000, 17_000)], (30_000, 0)),
        ([(30_004, 0)], (30_000, 0)),
        ([(250, 0)], (250, 0)),
    ],
)
def test_the_commonest_step_from_where_most_scrapes_fall(scrapes: list[tuple[int, int]], beat: tuple[int, int]) -> None:
    found = Beat.of(scraped(*each) for each in scrapes)
    assert (found.step_ms, found.origin_ms) == beat


def steps_of(values: list[float]) -> StepCounts:
    return StepCounts.of(np.array(values))


def test_a_node_counts_while_it_is_in() -> None:
    """The second node leaves after two and a half steps: two of them are its own."""
    session = Gathering(1, [Member("a", 30_000, 5 * MIN, 8), Member("b", 30_000, 3 * MIN + 30_000, 8)])
    beat = Beat(MIN, 0)
    session.begin(beat)
    grid = beat.grid(0, 6 * MIN)
    written = {"a": steps_of([9, 1, 2, 3, 4, 9]), "b": steps_of([90, 10, np.nan, 30, 40, 90])}
    session.take_written(grid, written, 25 / 60)
    session.take_scrapes(grid, MIN)
    steps = session.steps()
    assert steps.first_ms == MIN
    assert steps.members.tolist() == [2, 2, 1, 1]
    assert steps.write.bytes.tolist() == [11, 2, 3, 4]
    assert steps.write.reporting.tolist() == [2, 1, 1, 1]
    assert steps.writers.tolist() == [0, 0, 0, 0]
    assert steps.scrape_ms.tolist() == [MIN] * 4


def test_use_of_a_node_that_is_shared_is_not_known() -> None:
    """Both nodes show eight GPUs; of the second the session holds four."""
    session = Gathering(1, [Member("a", 0, 3 * MIN, 8), Member("b", 0, 3 * MIN, 4)])
    beat = Beat(MIN, 0)
    session.begin(beat)
    session.begin_util(beat)
    sums = NodeSums(np.array([[8.0, 4.0, 0.0], [8.0, 2.0, 2.0]]), np.array([[8.0, 8.0, 0.0], [8.0, 4.0, 4.0]]))
    session.take_util(beat.grid(0, 3 * MIN), sums, {"a": 0, "b": 1})
    np.testing.assert_equal(session.steps().util, [np.nan, 0.5, np.nan])


@pytest.mark.parametrize(
    ("util_step_ms", "use", "util"),
    [
        (2 * MIN, [0.2, 0.6], [0.2, 0.2, 0.6, 0.6]),
        (MIN // 2, [0.2, 0.4, np.nan, 0.6, np.nan, np.nan, 1, 1], [0.3, 0.6, np.nan, 1]),
    ],
)
def test_use_at_another_step(util_step_ms: int, use: list[float], util: list[float]) -> None:
    session = Gathering(1, [Member("a", 0, 4 * MIN, 8)])
    session.begin(Beat(MIN, 0))
    beat = Beat(util_step_ms, 0)
    session.begin_util(beat)
    levels = np.array([use])
    is_known = ~np.isnan(levels)
    session.take_util(beat.grid(0, 4 * MIN), NodeSums(np.where(is_known, levels, 0), is_known * 1.0), {"a": 0})
    np.testing.assert_allclose(session.steps().util, util)
