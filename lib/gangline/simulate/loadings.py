"""How long each session loads before its first step, in scrape steps."""

from collections.abc import Mapping

from gangline.simulate.calibration import SCRAPE, SECOND, Calibration
from gangline.simulate.draws import Draws, Quantiles, stretched

SHORT_LOADS: Quantiles = ((0.0, 45.0), (1.0, 60.0))
LONG_LOADS: Quantiles = ((0.0, 64.0), (0.6, 80.0), (1.0, 125.0))
SETUP_MS = (60 * SECOND, 78 * SECOND)
WARM_UP_MS = 75 * SECOND
NOMINAL_MS = (SETUP_MS[0] + SETUP_MS[1]) // 2 + WARM_UP_MS + SCRAPE // 2
"""From the session's start to the load, and from the load to the first step, on the mean."""
RETRIED_GAP_MS = 45 * SECOND
"""What a quick retry takes beyond the delay, at least."""


def steps_within(hours_ms: int, gap_ms: int) -> int:
    """The load that fits into an episode of that length after a gap of at least so much."""
    return (hours_ms - gap_ms - SETUP_MS[1] - WARM_UP_MS - SCRAPE) // SCRAPE


def load_steps(draws: Draws, calibration: Calibration, forced: Mapping[int, int], short: int) -> list[int]:
    """Loads of the 21 sessions of the telemetry, by place: `forced` ones, and that of the session under an hour.

    Among the other 20 the median and the mean are as published.
    """
    places = [place for place in range(21) if place not in forced and place != short]
    middle, total = calibration.load_median_steps, calibration.load_mean_steps * 20
    lows = [round(value) for value in draws.spread(SHORT_LOADS, 9 - len(forced))]
    high_count = len(places) - len(lows) - 2
    left = total - sum(forced.values()) - sum(lows) - 2 * middle
    highs = [round(value) for value in stretched(draws.spread(LONG_LOADS, high_count), middle + 1, left)]
    highs[highs.index(max(highs))] += left - sum(highs)
    drawn = dict(zip(places, draws.shuffled([*lows, middle, middle, *highs]), strict=True))
    return [({**drawn, **forced}).get(place, 48) for place in range(21)]


def overhead_ms(steps: int) -> int:
    """From a session's start to its first step, on the mean.

    Examples
    --------
    >>> overhead_ms(62) / 60_000
    33.65
    """
    return steps * SCRAPE + NOMINAL_MS
