"""Whole matrices as text: every number reads back as itself, whichever way it was written."""

import json

import numpy as np
import pytest
from numpy.typing import NDArray

from gangline.simulate.number_texts import row_texts

RNG = np.random.default_rng(3)
MATRICES = {
    "small": RNG.integers(-50, 50, (3, 40)),
    "table_edge": np.array([[0, 4095], [1, 2]]),
    "past_the_table": np.array([[0, 4096], [1, 2]]),
    "noisy": RNG.integers(-(10**12), 10**15, (3, 40)),
    "steady": np.repeat(RNG.integers(0, 10**15, (3, 4)), 10, axis=1),
    "changes_between_rows_only": np.array([[10**9] * 8, [2 * 10**9] * 8]),
    "one_number": np.array([[10**15]]),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("decimals", [0, 1, 3])
def test_numbers_read_back(name: str, decimals: int) -> None:
    values: NDArray[np.int64] = MATRICES[name]
    read = [json.loads(b"[" + text + b"]") for text in row_texts(values, decimals)]
    assert read == (values / 10**decimals).tolist()


def test_no_scrape_at_all_is_an_empty_list() -> None:
    assert row_texts(np.empty((2, 0), np.int64)) == [b"", b""]


def test_whole_numbers_have_no_point() -> None:
    assert row_texts(np.array([[-5, 10**12]])) == [b"-5,1000000000000"]
    assert row_texts(np.array([[20, 5_000_005]]), decimals=1) == [b"2,500000.5"]
