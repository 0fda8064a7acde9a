"""Sets of half-open intervals [start, end) on a line of numbers: union, intersection, difference, measure."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Marks = NDArray[Any]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class Intervals:
    """A set of instants as disjoint intervals in order; touching ones are one. Make it with `of` or `of_times`.

    Attributes
    ----------
    starts, ends : array
        First instants in and first instants out, ascending; whole numbers or floats, in the caller's unit.

    Examples
    --------
    >>> excluded = Intervals.of([(0, 10)])
    >>> held = Intervals.of([(1, 4), (3, 6), (8, 12), (10, 15)])
    >>> (excluded & held).measure() / excluded.measure()
    0.7
    """

    starts: Marks
    ends: Marks

    @classmethod
    def of(cls, pairs: Iterable[tuple[float, float]]) -> Self:
        """Take (start, end) pairs in any order, overlapping or not; empty ones (start = end) vanish.

        Raises
        ------
        ValueError
            If an end lies before its start, or is NaN.
        """
        table = np.array(list(pairs) or np.empty((0, 2), dtype=np.int64))
        starts, ends = table[:, 0], table[:, 1]
        if not np.all(starts <= ends):
            start, end = table[np.flatnonzero(~(starts <= ends))[0]]
            raise ValueError(f"an interval must not end before it starts; got [{start}, {end})")
        kept = starts < ends
        return cls(*_merged(starts[kept], ends[kept]))

    @classmethod
    def of_times(cls, pairs: Iterable[tuple[datetime, datetime]]) -> Self:
        """Take pairs of zone-aware instants, kept as whole microseconds since 1970 UTC.

        Raises
        ------
        TypeError
            If an instant has no zone.
        """
        return cls.of((_microseconds(start), _microseconds(end)) for start, end in pairs)

    def __or__(self, other: Self) -> Self:
        """Instants in either set."""
        return self._combined(other, np.logical_or)

    def __and__(self, other: Self) -> Self:
        """Instants in both sets."""
        return self._combined(other, np.logical_and)

    def __sub__(self, other: Self) -> Self:
        """Instants in this set but not in the other."""
        return self._combined(other, lambda mine, theirs: mine & ~theirs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Intervals):
            return NotImplemented
        return np.array_equal(self.starts, other.starts) and np.array_equal(self.ends, other.ends)

    def __hash__(self) -> int:
        return hash((tuple(self.starts.tolist()), tuple(self.ends.tolist())))

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(zip(self.starts.tolist(), self.ends.tolist(), strict=True))

    def __len__(self) -> int:
        return int(self.starts.size)

    def __contains__(self, instant: float) -> bool:
        return bool(self.covers(np.array([instant]))[0])

    def covers(self, instants: Marks) -> Flags:
        """Whether each instant lies in the set: a start does, an end does not."""
        return np.asarray(
            np.searchsorted(self.starts, instants, side="right") > np.searchsorted(self.ends, instants, side="right")
        )

    def measure(self) -> float:
        """Length of the set in the caller's unit."""
        return float((self.ends - self.starts).sum())

    def hours(self) -> float:
        """Length in hours of a set made by `of_times`."""
        return self.measure() / 3.6e9

    def clip(self, start: float, end: float) -> Self:
        """Instants of the set in [start, end)."""
        return self & type(self).of([(start, end)])

    def coverage(self, start: float, end: float) -> float | None:
        """Share of the window [start, end) that the set covers; None where the window is empty.

        >>> Intervals.of([(0, 4), (2, 6)]).coverage(5, 9)
        0.25
        """
        return self.clip(start, end).measure() / (end - start) if end > start else None

    def _combined(self, other: Self, rule: Callable[[Flags, Flags], Flags]) -> Self:
        edges = np.unique(np.concatenate([self.starts, self.ends, other.starts, other.ends]))
        inside = np.concatenate([rule(self.covers(edges), other.covers(edges)), [False]])
        turns = np.diff(np.concatenate([[False], inside]).astype(np.int8))[:-1]
        return type(self)(edges[turns == 1], edges[turns == -1])


def union(sets: Iterable[Intervals]) -> Intervals:
    """Instants in any of many sets, in one sweep.

    >>> list(union([Intervals.of([(0, 2)]), Intervals.of([(5, 6)]), Intervals.of([(1, 3)])]))
    [(0, 3), (5, 6)]
    """
    parts = list(sets)
    if not parts:
        return Intervals.of([])
    starts, ends = (np.concatenate([getattr(part, name) for part in parts]) for name in ("starts", "ends"))
    return Intervals(*_merged(starts, ends))


def _merged(starts: Marks, ends: Marks) -> tuple[Marks, Marks]:
    if starts.size == 0:
        return starts, ends
    order = np.argsort(starts, kind="stable")
    starts, reach = starts[order], np.maximum.accumulate(ends[order])
    is_first = np.concatenate([[True], starts[1:] > reach[:-1]])
    is_last = np.concatenate([is_first[1:], [True]])
    return starts[is_first], reach[is_last]


def _microseconds(instant: datetime) -> int:
    return (instant - EPOCH) // timedelta(microseconds=1)
