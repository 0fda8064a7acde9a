"""How unlike nodes are in one thing: factors whose weighted mean is 1 in every event, with a wanted 95th percentile."""

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float64]
ROUNDS = 60  # halvings of the spread: far below the printed digits


def factors(
    weights: Weights, p95_ratio: float, order: NDArray[np.int64], is_held: NDArray[np.bool_] | None = None
) -> Weights:
    """A factor for every event and node.

    Parameters
    ----------
    weights
        `[event, node]`: requests, say; 0 where a node took no part.
    p95_ratio
        The 95th percentile over nodes of their own weighted mean, as a multiple of the mean over all.
    order
        The nodes from least to greatest factor.
    is_held
        The events that the percentile is taken over; all of them where null.

    Returns
    -------
    `[event, node]`, the weighted mean of every event exactly 1 up to rounding. Where the ratio is out of reach (it
    would take a factor below 0), the widest spread that is none.

    Examples
    --------
    >>> found = factors(np.ones((1, 21)), 1.45, np.arange(21))
    >>> [round(float(value), 3) for value in (found.mean(), found[0, 19], found[0, 0])]
    [1.0, 1.45, 0.5]
    """
    low, high = 0.0, 0.95
    held = weights if is_held is None else weights[is_held]
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        if _p95(held, _spread(held, middle, order)) < p95_ratio:
            low = middle
        else:
            high = middle
    return _spread(weights, high, order)


def _spread(weights: Weights, width: float, order: NDArray[np.int64]) -> Weights:
    """Factors from 1 - width to 1 + width in even steps, brought to a mean of 1 in each event."""
    raw = np.ones(weights.shape[1])
    raw[order] = 1 + width * np.linspace(-1, 1, weights.shape[1])
    means = (weights * raw).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
    return np.asarray(raw / np.where(means > 0, means, 1)[:, None])


def _p95(weights: Weights, spread: Weights) -> float:
    own = weights.sum(axis=0)
    is_seen = own > 0
    means = (weights * spread).sum(axis=0)[is_seen] / own[is_seen]
    return float(np.quantile(means, 0.95)) if is_seen.any() else 1.0
