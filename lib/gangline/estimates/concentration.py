"""How unevenly something is spread over nodes: shares of the top, Gini, Herfindahl-Hirschman, Lorenz."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gangline.estimates.estimate import Estimate

Amounts = ArrayLike | Sequence[float]


@dataclass(frozen=True, eq=False, slots=True)
class Lorenz:
    """Lorenz curve from the smallest unit up, (0, 0) first: `units` share of all units, `amount` share they hold."""

    units: NDArray[np.float64]
    amount: NDArray[np.float64]


def top_share(amounts: Amounts, k: int = 3) -> Estimate:
    """Share of the whole that the k largest units hold; n counts all units, zeros included.

    >>> print(top_share([30, 20, 10] + [4] * 10 + [0] * 50))
    60.0 % (n = 63)
    """
    sizes = _sorted(amounts)
    n = int(sizes.size)
    return _estimate(sizes, "ratio", f"share of the top {k}", lambda: float(sizes[max(n - k, 0) :].sum() / sizes.sum()))


def top_fraction_share(amounts: Amounts, fraction: float) -> Estimate:
    """Share of the whole that the largest `fraction` of the units hold (5 % of 400 nodes: 20; at least one unit)."""
    k = max(1, math.floor(fraction * np.size(np.asarray(amounts)) + 1e-9))
    return top_share(amounts, k)


def gini(amounts: Amounts) -> Estimate:
    """Gini coefficient over all units, zeros included: 0 even, (n - 1) / n where one unit holds all.

    Half the mean absolute difference over the mean, without the n / (n - 1) correction (Gini 1912; Dixon et al. 1987,
    Ecology 68:1548).

    >>> round(gini([30, 20, 10] + [4] * 10 + [0] * 50).value, 4)
    0.8762
    """
    sizes = _sorted(amounts)
    weights = 2 * np.arange(1, sizes.size + 1) - sizes.size - 1
    return _estimate(sizes, "index", "Gini", lambda: float((weights * sizes).sum() / (sizes.size * sizes.sum())))


def hhi(amounts: Amounts) -> Estimate:
    """Herfindahl-Hirschman index: the sum of the squared shares, 1 / n even, 1 where one unit holds all.

    >>> round(hhi([30, 20, 10] + [4] * 10 + [0] * 50).value, 4)
    0.156
    """
    sizes = _sorted(amounts)
    return _estimate(sizes, "index", "Herfindahl-Hirschman", lambda: float(((sizes / sizes.sum()) ** 2).sum()))


def lorenz(amounts: Amounts) -> Lorenz | None:
    """Points of the Lorenz curve (Lorenz 1905), None where there is nothing to share."""
    sizes = _sorted(amounts)
    if sizes.size == 0 or sizes.sum() == 0:
        return None
    held = np.concatenate([[0.0], np.cumsum(sizes)]) / sizes.sum()
    return Lorenz(np.linspace(0.0, 1.0, sizes.size + 1), held)


def _sorted(amounts: Amounts) -> NDArray[np.float64]:
    sizes = np.sort(np.asarray(amounts, dtype=np.float64).ravel())
    if sizes.size and not (sizes[0] >= 0 and math.isfinite(sizes[-1])):
        raise ValueError("amounts to share must be numbers of at least 0, without NaN or infinity")
    return sizes


def _estimate(sizes: NDArray[np.float64], unit: str, method: str, value: Callable[[], float]) -> Estimate:
    n = int(sizes.size)
    if n == 0 or sizes.sum() == 0:
        return Estimate.missing(unit, "there are no units" if n == 0 else "every unit has 0", n=n, method=method)
    return Estimate(value(), unit, n, method=method)
