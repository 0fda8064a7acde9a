"""Counters kept as changes of rate: any stretch of them is what counting step by step gives."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gangline.simulate.meters import Meter

NODES, STEPS = 3, 20
SPANS = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, STEPS), st.integers(0, STEPS), st.integers(-5, 10**12)),
    max_size=8,
)


@given(SPANS, st.integers(0, STEPS - 1), st.integers(1, STEPS))
def test_any_stretch_is_the_sum_of_the_steps_before(
    spans: list[tuple[int, int, int, int]], first: int, width: int
) -> None:
    meter, slow = Meter(NODES), np.zeros((NODES, STEPS + 1), np.int64)
    for node, start, stop, amount in spans:
        meter.add(node, start, stop, amount)
        slow[node, start + 1 : stop + 1] += amount
    stop = min(first + width, STEPS)
    assert meter.counts(first, stop).tolist() == np.cumsum(slow, axis=1)[:, first:stop].tolist()


def test_a_reset_begins_at_zero_and_counts_on() -> None:
    meter = Meter(2, resets=[(1, 3), (1, 6)])
    meter.add([0, 1], 0, 10, 2)
    assert meter.counts(0, 8).tolist() == [[0, 2, 4, 6, 8, 10, 12, 14], [0, 2, 4, 0, 2, 4, 0, 2]]
    assert meter.counts(7, 8).tolist() == [[14], [2]]
    assert meter.rates(0, 2, 4).tolist() == [2, 2]
