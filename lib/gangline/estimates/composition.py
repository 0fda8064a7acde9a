"""How alike node sets are: is the composition of gangs fixed?"""

from collections.abc import Collection, Sequence
from itertools import pairwise


def jaccard(first: Collection[str], second: Collection[str]) -> float | None:
    """Shared members over all members of two sets, 0 to 1; None where both are empty (Jaccard 1901).

    >>> jaccard({"a", "b"}, {"b", "c"})
    0.3333333333333333
    """
    left, right = set(first), set(second)
    union = left | right
    return len(left & right) / len(union) if union else None


def consecutive_jaccard(sets: Sequence[Collection[str]]) -> tuple[float | None, ...]:
    """Similarity of each set to the one before it: one value fewer than sets.

    >>> consecutive_jaccard([{"a", "b"}, {"a", "b"}, {"c"}])
    (1.0, 0.0)
    """
    return tuple(jaccard(left, right) for left, right in pairwise(sets))
