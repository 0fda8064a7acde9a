"""Medians by row are numpy's to the bit, whatever the rows hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from gangline.estimates.medians import BLOCK_VALUES, MAD_SCALE, PeerScores, peer_scores, row_medians

AWKWARD = st.sampled_from([0.0, -0.0, 1e9, 1e9 + 1, 1e9 + 2, 1e300, -1e300, np.inf, np.nan, 0.1, 0.1 + 1e-12])
NUMBERS = st.one_of(AWKWARD, st.floats(width=64, allow_nan=True), st.integers(-5, 5).map(float))


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9), elements=NUMBERS))
@pytest.mark.filterwarnings("ignore")  # numpy warns of rows without a number, of infinities and of overflow
def test_any_rows_have_the_median_that_numpy_finds(values: np.ndarray) -> None:
    np.testing.assert_array_equal(row_medians(values), np.nanmedian(values, axis=1))


def test_many_rows_are_taken_in_blocks() -> None:
    values = np.random.default_rng(1).normal(1e9, 30, (3 * BLOCK_VALUES // 500, 501))
    np.testing.assert_array_equal(row_medians(values), np.median(values, axis=1))


def test_numbers_that_single_precision_cannot_tell_apart_are_told_apart() -> None:
    values = 1e9 + np.array([[3.0, 1.0, 2.0, 0.0, 5.0]])
    assert len(set(values.astype(np.float32).ravel().tolist())) == 1
    assert row_medians(values).tolist() == [1e9 + 2]


def test_no_rows_or_no_columns_have_no_median() -> None:
    assert row_medians(np.empty((0, 3))).tolist() == []
    np.testing.assert_array_equal(row_medians(np.empty((2, 0))), [np.nan, np.nan])


def test_peers_that_are_alike_have_no_score() -> None:
    values = np.array([[5.0, 5.0, 5.0, 9.0], [1.0, 2.0, np.nan, 4.0]])
    scores = peer_scores(values)
    assert np.isnan(scores[0]).all()
    np.testing.assert_allclose(scores[1], np.array([-1.0, 0.0, np.nan, 2.0]) / MAD_SCALE, rtol=1e-15)


def test_blocks_are_scored_in_the_same_memory_as_if_each_were_alone() -> None:
    """Whole numbers, some that single precision confuses, some with NaN, a last block that is smaller."""
    numbers = np.random.default_rng(3)
    blocks = [
        numbers.integers(0, 9, (4, 7)).astype(np.float64),
        1e9 + numbers.integers(0, 200, (4, 7)),
        np.where(numbers.random((4, 7)) < 0.2, np.nan, numbers.normal(5, 1, (4, 7))),
        numbers.normal(700, 40, (2, 7)),
    ]
    peers = PeerScores(4, 7)
    for block in blocks:
        distance = block - np.nanmedian(block, axis=1)[:, None]
        deviation = np.nanmedian(np.abs(distance), axis=1)[:, None]
        np.testing.assert_allclose(peers.of(block), distance / (MAD_SCALE * deviation), rtol=1e-14)
