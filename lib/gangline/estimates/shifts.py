"""Two small samples of durations: is one longer, by how much, and how often."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

from gangline.estimates.estimate import USUAL_LEVEL, Estimate
from gangline.estimates.quantiles import known, omission

DRAWS = 100_000
MOST_EXACT_STEPS = 200_000_000
"""Additions that an exact rank sum may take (about half a second); past it permutations are drawn."""
CELLS_AT_ONCE = 2_000_000
"""Counts of drawn permutations that are held together."""

Numbers = NDArray[np.float64]
Sample = ArrayLike | Sequence[Any]


def rank_sum_p(first: Sample, second: Sample, seed: int = 0, draws: int = DRAWS) -> Estimate:
    """Two-sided permutation p of the rank sum: could the labels of the two samples be swapped?

    Ties take mid-ranks; p is the share of all splits whose rank sum lies at least as far from its mean as the one
    seen. Exact by counting subsets where feasible, else (1 + hits) / (1 + draws) over seeded draws; `method` says
    which. NaN and null are left out; `n` is what is left in both.

    References
    ----------
    Lehmann 1975, Nonparametrics, sections 1.2 to 1.4; checked against Hollander and Wolfe 1973, p. 69.

    Examples
    --------
    >>> rank_sum_p([1, 2, 3], [4, 5, 6]).value
    0.1
    """
    left, right, notes = _two(first, second)
    n = int(left.size + right.size)
    if left.size == 0 or right.size == 0:
        return Estimate.missing("p", "one of the two samples is empty", n=n)
    ranks = _doubled_ranks(left, right)
    size = min(left.size, right.size)
    smaller = ranks[: left.size] if left.size == size else ranks[left.size :]
    distance = abs(n * int(smaller.sum()) - size * int(ranks.sum()))
    if _steps(ranks, size) <= MOST_EXACT_STEPS:
        p, method = _exact_tail(ranks, size, distance), "rank sum, exact permutation distribution, two-sided"
    else:
        p = _drawn_tail(ranks, size, distance, seed, draws)
        method = f"rank sum, {draws:,} drawn permutations (seed {seed}), two-sided"
    return Estimate(p, "p", n, method=method + notes)


def shift(first: Sample, second: Sample, unit: str, level: float = USUAL_LEVEL) -> Estimate:
    """Hodges-Lehmann shift: the median of all differences, first minus second.

    The interval takes the differences in order and inverts the exact rank sum test without ties; its `level` is the
    true one, at least what was asked. Samples too small for the level: smallest and largest difference; too large for
    the exact law: its normal approximation.

    References
    ----------
    Hodges and Lehmann 1963, Annals of Mathematical Statistics 34:598; Hollander and Wolfe 1973, section 4.3.

    Examples
    --------
    >>> print(shift([3.0, 4.0, 5.0], [1.0, 2.0], "h"))
    2.5 h (n = 5; 1.0 to 4.0, 80.0 %)
    """
    left, right, notes = _two(first, second)
    n = int(left.size + right.size)
    if left.size == 0 or right.size == 0:
        return Estimate.missing(unit, "one of the two samples is empty", n=n)
    rank, coverage, kind = _difference_rank(int(left.size), int(right.size), level)
    pairs = int(left.size * right.size)
    places = [(pairs + 1) // 2, pairs // 2 + 1, rank, pairs + 1 - rank]
    below, above, low, high = (_difference(np.sort(left), np.sort(right), place) for place in places)
    method = f"Hodges-Lehmann shift, {kind} interval{notes}"
    return Estimate((below + above) / 2, unit, n, low, high, coverage, method)


def chance_less(first: Sample, second: Sample, level: float = USUAL_LEVEL) -> Estimate:
    """P(X < Y) + P(X = Y) / 2: how often a value of the first sample is below one of the second.

    References
    ----------
    Newcombe 2006, Statistics in Medicine 25:559, method 5 for the interval.

    Examples
    --------
    >>> chance_less([1, 2], [2, 3]).value
    0.875
    """
    left, right, notes = _two(first, second)
    n, method = int(left.size + right.size), f"P(X < Y) with ties as halves, Newcombe's method 5{notes}"
    if left.size == 0 or right.size == 0:
        return Estimate.missing("ratio", "one of the two samples is empty", n=n, method=method)
    ordered = np.sort(right)
    below, not_above = (int(np.searchsorted(ordered, left, side=side).sum()) for side in ("left", "right"))
    pairs = int(left.size * right.size)
    share = (2 * pairs - below - not_above) / (2 * pairs)
    low, high = _chance_bounds(share, int(left.size), int(right.size), level)
    return Estimate(share, "ratio", n, low, high, level, method)


def _two(first: Sample, second: Sample) -> tuple[Numbers, Numbers, str]:
    (left, left_out), (right, right_out) = known(first), known(second)
    return left, right, omission(left_out + right_out)


def _doubled_ranks(left: Numbers, right: Numbers) -> NDArray[np.int64]:
    # Twice the mid-ranks are whole numbers, so that sums compare exactly.
    return np.asarray(np.rint(2 * stats.rankdata(np.concatenate([left, right]))), dtype=np.int64)


def _steps(ranks: NDArray[np.int64], size: int) -> int:
    return int(ranks.size) * size * int(np.sort(ranks)[-size:].sum())


def _exact_tail(ranks: NDArray[np.int64], size: int, distance: int) -> float:
    chances = _sum_chances(ranks, size)
    is_far = np.abs(ranks.size * np.arange(chances.size) - size * int(ranks.sum())) >= distance
    return float(min(chances[is_far].sum(), 1.0))


def _sum_chances(ranks: NDArray[np.int64], size: int) -> Numbers:
    """Chance of each sum of a random subset of the size: subsets counted rank by rank, never listed."""
    total, most = int(ranks.size), int(np.sort(ranks)[-size:].sum())
    # Row k holds the counts of k-subsets over C(total, k): all terms positive and at most 1, so nothing is lost.
    chances = np.zeros((size + 1, most + 1))
    chances[0, 0] = 1.0
    for seen, rank in enumerate(ranks.tolist(), start=1):
        for count in range(min(size, seen), max(0, size - total + seen - 1), -1):
            share = count / (total - count + 1)
            chances[count, rank:] += chances[count - 1, : most + 1 - rank] * share
    return np.asarray(chances[size] / chances[size].sum())


def _drawn_tail(ranks: NDArray[np.int64], size: int, distance: int, seed: int, draws: int) -> float:
    generator = np.random.default_rng(seed)
    values, counts = np.unique(ranks, return_counts=True)
    hits, centre, rows = 0, size * int(ranks.sum()), max(1, CELLS_AT_ONCE // values.size)
    # "count" walks the subset, "marginals" the values
    way: Literal["count", "marginals"] = "count" if size < values.size else "marginals"
    for start in range(0, draws, rows):
        drawn = generator.multivariate_hypergeometric(counts, size, size=min(rows, draws - start), method=way)
        hits += int(np.count_nonzero(np.abs(ranks.size * (drawn @ values) - centre) >= distance))
    return (1 + hits) / (1 + draws)


def _difference(left: Numbers, right: Numbers, place: int) -> float:
    """The difference at a place (from 1) among all of two sorted samples, which are never listed."""
    low, high = float(left[0] - right[-1]), float(left[-1] - right[0])
    blur = float(np.spacing(max(abs(low), abs(high), np.abs(left).max(), np.abs(right).max())))
    while high - low > blur:
        middle = low + (high - low) / 2
        # of each value on the left, how many on the right it exceeds by the middle at most
        reached = left.size * right.size - int(np.searchsorted(right, left - middle).sum())
        low, high = (low, middle) if reached >= place else (middle, high)
    return _nearest_difference(left, right, high)


def _nearest_difference(left: Numbers, right: Numbers, value: float) -> float:
    """The difference that there is, for one that rounding has moved."""
    after = np.searchsorted(right, left - value).clip(max=right.size - 1)
    near = np.concatenate([left - right[after], left - right[np.maximum(after - 1, 0)]])
    return float(near[np.abs(near - value).argmin()])


def _difference_rank(first: int, second: int, level: float) -> tuple[int, float, str]:
    ranks, size = np.arange(1, first + second + 1), min(first, second)
    if _steps(ranks, size) <= MOST_EXACT_STEPS:
        tail = np.cumsum(_sum_chances(ranks, size)[size * (size + 1) // 2 :])
        rank = max(int(np.searchsorted(tail, (1 - level) / 2 * (1 + 1e-12), side="right")), 1)
        return rank, float(1 - 2 * tail[rank - 1]), "exact"
    spread = np.sqrt(first * second * (first + second + 1) / 12)
    rank = int(first * second / 2 - stats.norm.isf((1 - level) / 2) * spread)
    return max(rank, 1), level, "approximate"


def _chance_bounds(share: float, first: int, second: int, level: float) -> tuple[float, float]:
    z = float(stats.norm.isf((1 - level) / 2))
    spare = (first + second) / 2 - 1

    def low(value: float) -> float:
        def distance(at: float) -> float:
            bracket = 1 + spare * ((1 - at) / (2 - at) + at / (1 + at))
            return (value - at) ** 2 - z * z * at * (1 - at) * bracket / (first * second)

        # The value itself solves the equation where it is 1, so the search stops just below it.
        return float(optimize.brentq(distance, 0.0, value * (1 - 1e-9))) if value > 0 else 0.0

    return low(share), 1 - low(1 - share)
