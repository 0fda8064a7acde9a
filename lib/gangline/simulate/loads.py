"""The loads at the sessions' starts: how fast the storage was read, step by step."""

from collections.abc import Sequence

from gangline.simulate.calibration import SCRAPE, Calibration
from gangline.simulate.draws import Draws, scaled
from gangline.simulate.layout import Course
from gangline.simulate.plan import LoadPlan, RequestPlan, RunPlan

PAGE_CACHE_BYTES = 200_000_000_000
MEAN_SPREAD, PEAK_SPREAD = 0.12, 0.028
EVENNESS = (0.72, 1.18)
READ = RequestPlan(440_000, 54.2, 24.0, 78.2, 0.0085, 81.0, 31.0)
"""Requests of READ as published: 78.2 ms a request, 54.2 of them in the queue."""


def loads(
    draws: Draws, calibration: Calibration, courses: Sequence[Course], runs: Sequence[RunPlan], counted: Sequence[bool]
) -> list[LoadPlan]:
    """A load for each course; those `counted` come to the published means of rates and of peaks."""
    means = _around(draws, calibration.load_bytes_per_s, MEAN_SPREAD, counted)
    peaks = _around(draws, calibration.load_peak_bytes_per_s, PEAK_SPREAD, counted)
    return [
        LoadPlan(
            load_id=f"load-{place:03d}",
            session_id=run.session_id,
            started_ms=course.load_from_ms,
            ended_ms=course.load_from_ms + course.load_steps * SCRAPE,
            rates_bytes_per_s=_rates(draws, course.load_steps, means[place], peaks[place]),
            page_cache_bytes_per_node=PAGE_CACHE_BYTES,
            requests=READ,
        )
        for place, (course, run) in enumerate(zip(courses, runs, strict=True))
    ]


def _around(draws: Draws, mean: float, spread: float, counted: Sequence[bool]) -> list[float]:
    """A value for each, near the mean; the mean of those counted is exact."""
    drawn = [mean * (1 + spread * draws.between(-1, 1)) for _ in counted]
    factor = mean * sum(counted) / sum(value for value, is_counted in zip(drawn, counted, strict=True) if is_counted)
    return [value * factor for value in drawn]


def _rates(draws: Draws, steps: int, mean: float, peak: float) -> tuple[int, ...]:
    """Rates of a load's scrape steps: one peak, the rest uneven, in all at the mean."""
    rest = scaled([draws.between(*EVENNESS) for _ in range(steps - 1)], mean * steps - peak)
    place = draws.whole(0, steps - 1)
    return tuple(round(rate) for rate in [*rest[:place], peak, *rest[place:]])
