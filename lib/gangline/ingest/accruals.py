"""What a counter had counted at any instant between its samples (analyses 10): windows and steps are differences."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from gangline.counters import gap_over_ms, increases
from gangline.sources.samples import TimesMs, Values

ROUNDING_MS = 0.5


@dataclass(frozen=True, eq=False)
class Accrual:
    """One series: what it `counted` from its first sample on.

    Attributes
    ----------
    step_ms
        Its scrape step; by default the median distance of the samples.
    """

    times_ms: TimesMs
    counted: Values
    step_ms: float | None = None

    @classmethod
    def of(cls, times_ms: TimesMs, values: Values, step_ms: float | None = None) -> Self:
        """Reads samples in time order, NaN left out; there must be one."""
        return cls(times_ms, _summed(increases(values)), step_ms)

    @cached_property
    def known_ms(self) -> Values:
        """Milliseconds from the first sample on that are no gap."""
        distances = np.diff(self.times_ms)
        if not distances.size:
            return np.zeros(1)
        step_ms = float(np.median(distances)) if self.step_ms is None else self.step_ms
        return _summed(np.where(distances > gap_over_ms(step_ms), 0, distances))

    def increase(self, starts_ms: TimesMs, ends_ms: TimesMs) -> Values:
        """What was counted in each [start, end), a delta that straddles an edge split by time.

        >>> scrapes = np.array([15_000, 45_000, 75_000, 105_000])
        >>> counted = Accrual.of(scrapes, np.array([100.0, 130, 160, 190]))
        >>> counted.increase(np.array([0, 30_000]), np.array([120_000, 60_000])).tolist()
        [90.0, 30.0]
        >>> counted.coverage(np.array([0]), np.array([120_000])).tolist()
        [0.75]
        """
        return self._at(self.counted, ends_ms) - self._at(self.counted, starts_ms)

    def coverage(self, starts_ms: TimesMs, ends_ms: TimesMs) -> Values:
        """The share of each [start, end) that lies between samples that no gap is between."""
        known = self._at(self.known_ms, ends_ms) - self._at(self.known_ms, starts_ms)
        share: Values = known / np.maximum(ends_ms - starts_ms, 1)
        return share

    def reached_ms(self, starts_ms: TimesMs, amounts: Values) -> Values:
        """When each amount had been counted since its start, between samples by time.

        >>> scrapes = np.array([0, 30_000, 60_000])
        >>> Accrual.of(scrapes, np.array([0.0, 60.0, 90.0])).reached_ms(np.array([0]), np.array([75.0])).tolist()
        [45000.0]
        """
        reached: Values = np.interp(self._at(self.counted, starts_ms) + amounts, self.counted, self.times_ms)
        return reached

    def by_step(self, edges_ms: TimesMs) -> Values:
        """What was counted between consecutive edges; NaN where a gap or the series' end touches a step."""
        counted, known = np.diff(self._at(self.counted, edges_ms)), np.diff(self._at(self.known_ms, edges_ms))
        return np.where(known >= np.diff(edges_ms) - ROUNDING_MS, counted, np.nan)

    def _at(self, summed: Values, edges_ms: TimesMs) -> Values:
        found: Values = np.interp(edges_ms, self.times_ms, summed)
        return found


def level_at(times_ms: TimesMs, values: Values, edges_ms: TimesMs, age_ms: float) -> Values:
    """The latest sample before each edge, at most `age_ms` old; NaN where there is none.

    >>> level_at(np.array([0, 30, 95]), np.array([1.0, 2.0, 3.0]), np.array([30, 60, 90, 120]), 45).tolist()
    [1.0, 2.0, nan, 3.0]
    """
    before = np.searchsorted(times_ms, edges_ms, side="left") - 1
    is_known = (before >= 0) & (edges_ms - times_ms[before] <= age_ms)
    return np.where(is_known, values[before], np.nan)


def _summed(parts: Values) -> Values:
    return np.concatenate([[0.0], np.cumsum(parts)])
