"""How long training stands still after each end, and what happens meanwhile: launches in vain, and waits."""

from dataclasses import dataclass

from gangline.simulate.calibration import HOUR, MINUTE, Calibration
from gangline.simulate.draws import Draws, Quantiles, scaled, stretched
from gangline.simulate.gangs import is_like_a_retry, short_gap_ms

LOW_SHARES: Quantiles = ((0.0, 0.14), (0.5, 0.42), (1.0, 0.93))
HIGH_HOURS: Quantiles = ((0.0, 3.45), (0.5, 4.2), (1.0, 6.6))
FAILED_MIN: Quantiles = ((0.0, 1.5), (0.6, 3.5), (1.0, 9.0))
BARREN_MIN: Quantiles = ((0.0, 27.0), (1.0, 44.0))
MOST_GAP = 420 * MINUTE
LEAST_THOUGHT = 17 * MINUTE
BARREN_RUNS = 3
WITHIN = 16
"""Episodes of the telemetry's time that a person ends."""
MEDIAN_PLACE = 8
"""Of those and the one after the telemetry, this one, counted from 0, is the median."""


@dataclass(frozen=True, slots=True)
class Vain:
    """A launch that does not train, and the gap before it."""

    gap_ms: int
    length_ms: int
    is_barren: bool


@dataclass(frozen=True, slots=True)
class Pieces:
    """What an episode that a person ends is made of: lengths of launches in vain, in order."""

    lengths: tuple[int, ...]
    barren: frozenset[int]

    @property
    def total_ms(self) -> int:
        """All of them."""
        return sum(self.lengths)


def manual_hours(draws: Draws, calibration: Calibration, hopeless_h: float, total_h: float) -> list[float] | None:
    """Lengths of the 16 episodes by their rank: the median and the ends are set, the rest is stretched to the sum."""
    least, middle = calibration.manual_least_hours, calibration.manual_median_hours
    low = [share * middle for share in sorted(draws.spread(LOW_SHARES, MEDIAN_PLACE - 1))]
    high = sorted(draws.spread(HIGH_HOURS, WITHIN - MEDIAN_PLACE - 2))
    left_h = total_h - least - middle - hopeless_h - sum(low)
    most_h = min(6.9, hopeless_h - 0.1)
    if left_h <= (middle + 0.02) * len(high):
        return None
    high = stretched(high, middle + 0.01, left_h)
    fits = low[0] > least + 0.05 and low[-1] < middle - 0.02 and high[-1] < most_h
    return [least, *low, middle, *high, hopeless_h] if fits else None


def pieces(draws: Draws, calibration: Calibration, hopeless_retries_ms: int) -> list[Pieces]:
    """Launches in vain by the rank of their episode: none in the shortest ones, and three whose runs log no step."""
    lengths = _failures(draws, calibration, hopeless_retries_ms)
    counts = [0, 0, 0, *(1 + extra for extra in draws.parts(len(lengths) - (WITHIN - 3), WITHIN - 3, 0))]
    barren_ranks = set(draws.chosen(range(MEDIAN_PLACE + 1, WITHIN - 1), BARREN_RUNS))
    barren_lengths = [round(minutes * MINUTE) for minutes in draws.spread(BARREN_MIN, BARREN_RUNS)]
    found = []
    for rank, count in enumerate(counts):
        own, lengths = lengths[:count], lengths[count:]
        if rank in barren_ranks:
            place = draws.whole(0, len(own))
            found.append(Pieces((*own[:place], barren_lengths.pop(), *own[place:]), frozenset({place})))
        else:
            found.append(Pieces(tuple(own), frozenset()))
    return found


def _failures(draws: Draws, calibration: Calibration, hopeless_retries_ms: int) -> list[int]:
    total_min = calibration.short_failures_hours * 60 - hopeless_retries_ms / MINUTE
    minutes = scaled(draws.spread(FAILED_MIN, calibration.manual_failures_within), total_min)
    return [round(value * MINUTE) for value in minutes]


def waits(draws: Draws, made_of: Pieces, gaps_ms: int) -> list[Vain] | None:
    """The gaps of an episode: someone answers after a while, then tries again at once, or goes to look.

    `gaps_ms` is their sum, the last one before the launch that trains included; gives the launches in vain with the gap
    before each, or null where no division of the gaps will do.
    """
    for _ in range(60):
        gaps = _divided(draws, len(made_of.lengths) + 1, gaps_ms)
        if gaps and all(0 < gap < MOST_GAP and not is_like_a_retry(gap) for gap in gaps):
            return [
                Vain(gap, length, place in made_of.barren)
                for place, (gap, length) in enumerate(zip(gaps, made_of.lengths, strict=False))
            ]
    return None


def _divided(draws: Draws, count: int, total_ms: int) -> list[int]:
    if count == 1:
        return [total_ms]
    thoughts = 1 + sum(draws.between(0, 1) < (0.16 if place else 0.9) for place in range(count - 1))
    thoughts = max(thoughts, -(-total_ms // MOST_GAP))
    shorts = [short_gap_ms(draws) for _ in range(count - thoughts)]
    left_ms = total_ms - sum(shorts)
    if left_ms < thoughts * LEAST_THOUGHT:
        return _hurried(draws, count, total_ms)
    longs = draws.parts(left_ms, thoughts, LEAST_THOUGHT)
    return [longs[0], *draws.shuffled([*longs[1:], *shorts])]


def _hurried(draws: Draws, count: int, total_ms: int) -> list[int]:
    """One wait and then at once."""
    shorts = [short_gap_ms(draws) for _ in range(count - 1)]
    first_ms = total_ms - sum(shorts)
    return [first_ms, *shorts] if first_ms > 0 else []


def hours_of(value_ms: int) -> float:
    """Milliseconds as hours."""
    return value_ms / HOUR
