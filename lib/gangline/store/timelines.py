"""The timestamps of a series, cut by UTC day; the series of one scrape share them."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gangline.counters import gap_over_ms
from gangline.sources.samples import TimesMs
from gangline.store.layout import DAY_MS


@dataclass(frozen=True)
class DayStatistics:
    """What the timestamps of a series' day say: ends, usual step, gaps. Null where there are too few."""

    sample_count: int
    first_ms: int | None
    last_ms: int | None
    step_ms: int | None
    gap_count: int
    longest_gap_ms: int | None

    @classmethod
    def of(cls, times_ms: TimesMs) -> "DayStatistics":
        """Reads ascending timestamps."""
        if times_ms.size == 0:
            return cls(0, None, None, None, 0, None)
        steps = np.diff(times_ms)
        if steps.size == 0:
            return cls(1, int(times_ms[0]), int(times_ms[-1]), None, 0, None)
        step_ms = float(np.median(steps))
        gaps = steps[steps > gap_over_ms(step_ms)]
        longest = int(gaps.max()) if gaps.size else None
        return cls(int(times_ms.size), int(times_ms[0]), int(times_ms[-1]), int(step_ms), int(gaps.size), longest)


@dataclass(frozen=True, eq=False)
class DayTimes:
    """The timestamps of one UTC day, and where they stand in the timeline that they were cut from."""

    day: int
    start: int
    stop: int
    times_ms: TimesMs

    @cached_property
    def timeline_id(self) -> int:
        """A number that equal timestamps share."""
        digest = hashlib.blake2b(np.ascontiguousarray(self.times_ms).data, digest_size=8).digest()
        return int.from_bytes(digest, "little", signed=True)

    @cached_property
    def even_step_ms(self) -> int | None:
        """How far apart all of them are; null where they are not equally so, or fewer than two."""
        if self.times_ms.size < 2:
            return None
        first, second, last = (int(self.times_ms[place]) for place in (0, 1, -1))
        if last - first != (second - first) * (self.times_ms.size - 1):
            return None
        is_even = (self.times_ms == np.arange(first, last + 1, second - first)).all()
        return second - first if is_even else None

    @cached_property
    def statistics(self) -> DayStatistics:
        """Of every timestamp of the day."""
        return DayStatistics.of(self.times_ms)


def cut_by_day(times_ms: TimesMs) -> list[DayTimes]:
    """The days of ascending timestamps.

    >>> [(piece.day, piece.start, piece.stop) for piece in cut_by_day(np.array([0, 5, 86_400_000]))]
    [(0, 0, 2), (1, 2, 3)]
    """
    if times_ms.size == 0:
        return []
    first, last = int(times_ms[0]) // DAY_MS, int(times_ms[-1]) // DAY_MS
    edges = np.searchsorted(times_ms, np.arange(first, last + 2) * DAY_MS).tolist()
    return [
        DayTimes(day, start, stop, times_ms[start:stop])
        for day, start, stop in zip(range(first, last + 1), edges[:-1], edges[1:], strict=True)
        if stop > start
    ]


class Timelines:
    """Cuts each array of timestamps once, as long as series go on sharing it."""

    def __init__(self, kept: int = 256) -> None:
        self._kept_max = kept
        self._kept: dict[int, tuple[TimesMs, list[DayTimes] | None]] = {}

    def days(self, times_ms: TimesMs) -> list[DayTimes] | None:
        """The days of an array; null where it does not ascend strictly."""
        known = self._kept.get(id(times_ms))
        if known is not None:
            return known[1]
        if len(self._kept) >= self._kept_max:
            self._kept.clear()
        is_ascending = bool((times_ms[1:] > times_ms[:-1]).all())
        days = cut_by_day(times_ms) if is_ascending else None
        self._kept[id(times_ms)] = (times_ms, days)  # holding the array keeps its id from being used again
        return days
