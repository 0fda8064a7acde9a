"""How far each of a group of peers lies from the others: the modified z score (analyses 9)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEAST_PEERS = 8
MAD_FACTOR = 0.6745
MEAN_FACTOR = 1.2533


def modified_z(values: ArrayLike) -> NDArray[np.float64] | None:
    """The modified z of each value against all of them; NaN where a value is NaN.

    0.6745 (x - median) / MAD; where the MAD is 0, (x - median) over 1.2533 times the mean absolute deviation. None
    where fewer than eight values are known, or all are equal: nothing deviates from what does not vary.

    References
    ----------
    Iglewicz and Hoaglin 1993, How to Detect and Handle Outliers, ASQC.

    Examples
    --------
    >>> round(float(modified_z([0] * 59 + [5])[-1]), 1)
    47.9
    >>> scores = modified_z([10] * 40 + [11] * 19 + [50])
    >>> round(float(scores[-1]), 1), round(float(scores[-2]), 2)
    (32.5, 0.81)
    """
    given = np.asarray(values, float)
    known = given[~np.isnan(given)]
    if known.size < LEAST_PEERS:
        return None
    deviations = np.abs(known - np.median(known))
    spread = float(np.median(deviations)) / MAD_FACTOR or MEAN_FACTOR * float(deviations.mean())
    return None if spread == 0 else (given - np.median(known)) / spread
