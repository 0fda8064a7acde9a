"""Counters: what they counted, how much of the time is known, and samples brought onto one grid (analyses 10).

All from consecutive raw samples of one series: no extrapolation, unlike PromQL's `increase()`, which stretches the
samples to the window's edges (prometheus#3806, #12967). `sql/macros/counter_*.sql` compute the same in SQL.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TimesMs = NDArray[np.int64]
Values = NDArray[np.float64]
Flags = NDArray[np.bool_]

FLIP_MAX_DROP_RATIO = 0.01  # a replica that lags, not a restart (thanos#2890, #981)
FLIP_MAX_SAMPLES = 2
GAP_STEPS = 2
JITTER_MAX_RATIO, JITTER_MAX_MS = 0.1, 1000  # of a scrape step: one missed scrape leaves two of them, nearly
MIN_COVERAGE_RATIO = 0.9


@dataclass(frozen=True)
class CounterSum:
    """What a counter counted in a window.

    Attributes
    ----------
    increase
        Sum of its deltas, those across gaps included.
    covered_s, wanted_s
        Seconds of the window between samples that are no gap apart (`gap_over_ms`), and of the window.
    """

    increase: float
    covered_s: float
    wanted_s: float

    @property
    def coverage(self) -> float | None:
        """Covered share of the window; null where the window is empty."""
        return self.covered_s / self.wanted_s if self.wanted_s > 0 else None

    @property
    def rate_per_s(self) -> float | None:
        """Increase per second of the window; null below a coverage of 0.9."""
        coverage = self.coverage
        return None if coverage is None or coverage < MIN_COVERAGE_RATIO else self.increase / self.wanted_s


@dataclass(frozen=True, eq=False)
class Deltas:
    """What was counted between consecutive samples: the rate over [start, end) is `increase` / (end - start)."""

    start_ms: TimesMs
    end_ms: TimesMs
    increase: Values
    is_gap: Flags


def gap_over_ms(step_ms: float) -> float:
    """Above what distance two samples have a gap between them: two scrape steps and a scrape's jitter.

    One missed scrape leaves two steps give or take what the scraper was late: at most a tenth of a step, or 1 s where
    that is less, is taken for it, so that whole steps stay as they are: two are no gap, three are one.

    >>> gap_over_ms(30_000), gap_over_ms(5_000)
    (61000, 10500.0)
    """
    return GAP_STEPS * step_ms + min(step_ms * JITTER_MAX_RATIO, JITTER_MAX_MS)


def increases(values: Values) -> Values:
    """What a counter counted between consecutive samples.

    A drop is a restart and counts from 0, but a drop of at most 1 % that is back at or above the old value within two
    samples is another replica's view: there, only what exceeds the highest value so far counts.

    Examples
    --------
    >>> increases(np.array([100.0, 130, 10, 40])).tolist()
    [30.0, 10.0, 30.0]
    >>> increases(np.array([1000.0, 1010, 1008, 1020])).tolist()
    [10.0, 0.0, 10.0]
    """
    if values.size < 2:
        return np.empty(0)
    reached = _without_flips(values)
    deltas = np.diff(reached)
    return np.where(deltas < 0, reached[1:], deltas)


def _without_flips(values: Values) -> Values:
    """The values with each replica's dip raised to the value before it.

    A dip is one or two samples long and ends at or above the value before it, so that no dip begins inside another:
    each is told from its neighbours alone.
    """
    before, dipped = values[:-1], values[1:]
    is_drop = dipped < before
    if not is_drop.any():
        return values
    never = np.full(FLIP_MAX_SAMPLES, -np.inf)
    is_back = np.zeros(before.size, bool)
    for later in range(1, FLIP_MAX_SAMPLES + 1):
        is_back |= np.concatenate([values, never])[1 + later : 1 + later + before.size] >= before
    is_flip = is_drop & is_back & (dipped >= before * (1 - FLIP_MAX_DROP_RATIO))
    raised = values.copy()
    raised[1:][is_flip] = before[is_flip]
    is_second = is_flip[:-1] & (values[2:] < values[:-2])
    raised[2:][is_second] = values[:-2][is_second]
    return raised


def deltas_of(times_ms: TimesMs, values: Values, step_ms: float | None = None) -> Deltas:
    """The deltas of one series, and which of them span more than two scrape steps.

    Parameters
    ----------
    times_ms, values
        Its samples in time order, NaN left out.
    step_ms
        The scrape step; the median distance of the samples by default.
    """
    distances = np.diff(times_ms)
    if distances.size and step_ms is None:
        step_ms = float(np.median(distances))
    is_gap = distances > gap_over_ms(step_ms or 0)
    return Deltas(times_ms[:-1], times_ms[1:], increases(values), is_gap)


def count_within(deltas: Deltas, start_ms: int, end_ms: int) -> CounterSum:
    """What was counted in [start, end); a delta that straddles an edge is split by time.

    Examples
    --------
    >>> scrapes = np.array([15_000, 45_000, 75_000, 105_000])
    >>> counted = count_within(deltas_of(scrapes, np.array([100.0, 130, 160, 190])), 0, 120_000)
    >>> counted.increase, counted.coverage, counted.rate_per_s
    (90.0, 0.75, None)
    """
    first = int(np.searchsorted(deltas.end_ms, start_ms, side="right"))
    last = int(np.searchsorted(deltas.start_ms, end_ms, side="left"))
    chosen = slice(first, max(first, last))
    starts, ends = deltas.start_ms[chosen], deltas.end_ms[chosen]
    inside = np.minimum(ends, end_ms) - np.maximum(starts, start_ms)
    increase = float((deltas.increase[chosen] * inside / (ends - starts)).sum())
    covered_s = float(inside[~deltas.is_gap[chosen]].sum()) / 1000
    return CounterSum(increase, covered_s, max(0, end_ms - start_ms) / 1000)


def count_by_step(deltas: Deltas, start_ms: int, step_ms: int, step_count: int) -> Values:
    """Increase in each step of a grid, deltas split at its edges; NaN where no delta that is no gap covers a step.

    A step that a gap or the series' end covers in part is known for less than its length and is NaN too; the totals
    of `count_within` hold what was counted there.
    """
    knots = np.concatenate([deltas.start_ms[:1], deltas.end_ms])
    edges = start_ms + step_ms * np.arange(step_count + 1, dtype=np.int64)
    cuts = np.sort(np.concatenate([knots, edges]), kind="stable")  # two runs, merged; equal cuts hold nothing
    pieces, lengths = cuts[:-1], np.diff(cuts)
    delta, step = np.searchsorted(knots, pieces, side="right") - 1, (pieces - start_ms) // step_ms
    is_inside = (delta >= 0) & (delta < deltas.end_ms.size) & (step >= 0) & (step < step_count)
    is_inside[is_inside] &= ~deltas.is_gap[delta[is_inside]]
    delta, step, lengths = delta[is_inside], step[is_inside], lengths[is_inside]
    shares = lengths / (deltas.end_ms - deltas.start_ms)[delta]
    increase = np.bincount(step, deltas.increase[delta] * shares, step_count)
    known_ms = np.bincount(step, lengths, step_count)
    return np.where(known_ms == step_ms, increase, np.nan)


def regrid(times_ms: TimesMs, values: Values, start_ms: int, step_ms: int, step_count: int) -> Values:
    """The latest sample in each step [start + k step, start + (k + 1) step); NaN where a step has none.

    Nothing is carried forward or interpolated.

    Examples
    --------
    >>> regrid(np.array([1, 11, 14, 35]), np.array([1.0, 2.0, 3.0, 4.0]), 0, 10, 4).tolist()
    [1.0, 3.0, nan, 4.0]
    """
    grid = np.full(step_count, np.nan)
    steps = (times_ms - start_ms) // step_ms
    is_inside = (steps >= 0) & (steps < step_count)
    grid[steps[is_inside]] = values[is_inside]  # of several samples of a step numpy keeps the last
    return grid
