"""How unlike nodes are in one thing: factors whose weighted mean is 1 in every event, with a wanted 95th percentile."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float64]
ROUNDS = 60  # halvings of the spread: far below the printed digits
WIDEST = 0.95
DIGITS = 6  # a sum's last bit may differ between machines: what is made of a factor must not


@dataclass(frozen=True, eq=False)
class Means:
    """What events have in common, and how far nodes may lie apart.

    Attributes
    ----------
    weights
        `[event, node]`: requests, say; 0 where a node took no part.
    of_event
        The weighted mean over nodes of each event.
    p95
        The 95th percentile over nodes of their own weighted mean over all events that are held to it.
    is_held
        Which events these are.
    """

    weights: Weights
    of_event: NDArray[np.float64]
    p95: float
    is_held: NDArray[np.bool_]


def factors(means: Means, order: NDArray[np.int64]) -> Weights:
    """A factor on its mean for every event and node.

    Parameters
    ----------
    order
        The nodes from least to greatest factor.

    Returns
    -------
    `[event, node]`, the weighted mean of every event 1 up to the sixth digit. Where the percentile is out of reach
    (it would take a factor below 0), the widest spread that is none.

    Examples
    --------
    >>> means = Means(np.ones((1, 21)), np.array([2.0]), 2.9, np.array([True]))
    >>> found = factors(means, np.arange(21))
    >>> [round(float(value), 3) for value in (found.mean(), found[0, 19], found[0, 0])]
    [1.0, 1.45, 0.5]
    """
    low, high = 0.0, WIDEST
    held, of_event = means.weights[means.is_held], means.of_event[means.is_held]
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        if _p95(held, _spread(held, middle, order) * of_event[:, None]) < means.p95:
            low = middle
        else:
            high = middle
    return np.asarray(np.round(_spread(means.weights, high, order), DIGITS))


def _spread(weights: Weights, width: float, order: NDArray[np.int64]) -> Weights:
    """Factors from 1 - width to 1 + width in even steps, brought to a mean of 1 in each event."""
    raw = np.ones(weights.shape[1])
    raw[order] = 1 + width * np.linspace(-1, 1, weights.shape[1])
    means = (weights * raw).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
    return np.asarray(raw / np.where(means > 0, means, 1)[:, None])


def _p95(weights: Weights, values: Weights) -> float:
    own = weights.sum(axis=0)
    is_seen = own > 0
    means = (weights * values).sum(axis=0)[is_seen] / own[is_seen]
    return float(np.quantile(means, 0.95)) if is_seen.any() else 0.0
