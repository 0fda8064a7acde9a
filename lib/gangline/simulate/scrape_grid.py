"""The instants at which a plan's telemetry is scraped, and the UTC days that they fall into."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from gangline.simulate.plan import Plan
from gangline.sources.samples import instant_of_ms

DAY_MS = 86_400_000
Steps = NDArray[np.int64]


@dataclass(frozen=True)
class DaySlice:
    """The scrapes [first, stop) of one UTC day."""

    day: date
    first: int
    stop: int

    @property
    def count(self) -> int:
        """How many scrapes the day has."""
        return self.stop - self.first


@dataclass(frozen=True)
class ScrapeGrid:
    """Scrape k is at `from_ms + k * step_ms`; step k lies between scrapes k and k + 1."""

    from_ms: int
    step_ms: int
    count: int

    @classmethod
    def of(cls, plan: Plan) -> "ScrapeGrid":
        """The scrapes of a plan's telemetry: none at its very end."""
        span, step_ms = plan.telemetry, plan.cluster.scrape_ms
        return cls(span.from_ms, step_ms, -(-(span.to_ms - span.from_ms) // step_ms))

    def step_of(self, at_ms: int) -> int:
        """The step that an instant lies in, cut to the grid.

        >>> ScrapeGrid(1000, 30, 10).step_of(1059)
        1
        """
        return min(max((at_ms - self.from_ms) // self.step_ms, 0), self.count)

    def scrape_from(self, at_ms: int | None) -> int:
        """The first scrape at or after an instant, cut to the grid; its end where the instant is null.

        >>> ScrapeGrid(1000, 30, 10).scrape_from(1061), ScrapeGrid(1000, 30, 10).scrape_from(None)
        (3, 10)
        """
        if at_ms is None:
            return self.count
        return min(max(-(-(at_ms - self.from_ms) // self.step_ms), 0), self.count)

    def times_ms(self, day: DaySlice) -> Steps:
        """The day's scrape instants."""
        return self.from_ms + self.step_ms * np.arange(day.first, day.stop, dtype=np.int64)

    def days(self) -> Iterator[DaySlice]:
        """The UTC days that have scrapes, in order."""
        first = 0
        while first < self.count:
            at_ms = self.from_ms + first * self.step_ms
            stop = self.scrape_from((at_ms // DAY_MS + 1) * DAY_MS)
            yield DaySlice(instant_of_ms(at_ms).date(), first, stop)
            first = stop
