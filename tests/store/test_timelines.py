"""Timestamps of a day: whether all are equally far apart."""

import numpy as np
import pytest

from gangline.store.timelines import DayTimes


@pytest.mark.parametrize(
    ("times", "step_ms"),
    [([0, 30, 60, 90], 30), ([0, 30], 30), ([0, 30, 61, 90], None), ([0, 30, 60, 91], None), ([5], None), ([], None)],
)
def test_even_days_are_told_by_every_sample(times: list[int], step_ms: int | None) -> None:
    assert DayTimes(0, 0, len(times), np.array(times, np.int64)).even_step_ms == step_ms
