"""Random numbers that are the same on every machine: PCG64 streams by topic, shaped by sums and products alone.

No logarithm and no normal deviate is taken: their last bit differs between machines, and with it a count might.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np

Value = TypeVar("Value")

Quantiles = Sequence[tuple[float, float]]
"""Pairs (share, value), ascending, from share 0 to share 1: a quantile function that is linear between them."""


class Draws:
    """One stream of a seed for one topic; topics do not disturb one another.

    Examples
    --------
    >>> Draws(1, 0, "nodes").between(0, 10) == Draws(1, 0, "nodes").between(0, 10)
    True
    """

    def __init__(self, seed: int, attempt: int, topic: str) -> None:
        words = [seed, attempt, *topic.encode()]
        self._generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))

    def between(self, low: float, high: float) -> float:
        """A value in [low, high)."""
        return low + (high - low) * float(self._generator.random())

    def whole(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return int(self._generator.integers(low, high, endpoint=True))

    def shuffled(self, values: Sequence[Value]) -> list[Value]:
        """The values in another order."""
        return [values[place] for place in self._generator.permutation(len(values))]

    def chosen(self, values: Sequence[Value], count: int) -> list[Value]:
        """So many different ones of the values, in their own order."""
        return [values[place] for place in sorted(self._generator.permutation(len(values))[:count])]

    def spread(self, quantiles: Quantiles, count: int) -> list[float]:
        """Values of a distribution, one from each of `count` equal shares of it, in no order."""
        places = [(place + float(self._generator.random())) / count for place in range(count)]
        return self.shuffled([quantile(quantiles, share) for share in places])

    def parts(self, total: int, count: int, least: int) -> list[int]:
        """`count` whole numbers of at least `least` that sum to `total`."""
        cuts = sorted(self.whole(0, total - count * least) for _ in range(count - 1))
        return [high - low + least for low, high in pairwise([0, *cuts, total - count * least])]


def quantile(quantiles: Quantiles, share: float) -> float:
    """The value below which this share lies.

    Examples
    --------
    >>> quantile([(0, 1.0), (0.5, 2.0), (1, 6.0)], 0.75)
    4.0
    """
    for (low, low_value), (high, high_value) in pairwise(quantiles):
        if share <= high:
            return low_value + (high_value - low_value) * (share - low) / (high - low)
    return quantiles[-1][1]


def scaled(values: Sequence[float], total: float) -> list[float]:
    """The values times what makes them sum to `total`."""
    factor = total / sum(values)
    return [value * factor for value in values]


def stretched(values: Sequence[float], least: float, total: float) -> list[float]:
    """The values with their distance above `least` scaled so that they sum to `total`: ranks stay.

    Examples
    --------
    >>> stretched([2.0, 3.0], 1.0, 8.0)
    [3.0, 5.0]
    """
    return [least + distance for distance in scaled([value - least for value in values], total - least * len(values))]
