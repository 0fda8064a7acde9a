"""What a save costs by GPU use (analyses 6)."""

import numpy as np
import pytest

from gangline.phases.saves import stall_s


@pytest.mark.parametrize(
    ("util", "training", "stall"),
    [
        ([0.9, 0.0, 0.0, 0.9], 0.9, 60.0),
        ([0.9, 0.45, 0.9], 0.9, 15.0),
        ([1.0, 0.9, 1.0], 0.9, 0.0),  # floored once, not step by step: one busy step makes up for an idle one
        ([1.0, 0.8, 1.0], 0.9, 0.0),
        ([0.9, np.nan, 0.9], 0.9, None),
        ([0.9, 0.1, 0.9], None, None),
        ([0.0, 0.0, 0.0], 0.0, None),
    ],
)
def test_stalls(util: list[float], training: float | None, stall: float | None) -> None:
    assert stall_s(np.array(util), training, 30.0) == (None if stall is None else pytest.approx(stall))
