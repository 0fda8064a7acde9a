"""What a layout must come to before it is taken: the figures that are neither drawn nor stretched exactly."""

from collections.abc import Sequence
from itertools import pairwise

from gangline.simulate.calibration import HOUR, MINUTE, Calibration
from gangline.simulate.gangs import Gang
from gangline.simulate.layout import Course
from gangline.simulate.plan import Span

GAP_MEDIAN_MIN = (1.52, 2.48)
RETRY_GAP_MIN = ((9.6, 10.48), (10.52, 11.48), (10.55, 11.48))
RUN_HOURS = (1_293.51, 1_293.74)
GANG_SHARE = (0.96555, 0.96645)
LONGEST_MARGIN_H = 0.045
MOST_GAP_MIN = 24 * 60


def meets(calibration: Calibration, gangs: Sequence[Gang], courses: Sequence[Course]) -> bool:
    """Whether gaps, hours and shares come out within the printed digits."""
    return (
        _gaps_fit(calibration, gangs)
        and _within(run_hours(courses, calibration.telemetry), RUN_HOURS)
        and _within(gang_share(gangs, calibration), GANG_SHARE)
        and abs(_longest(gangs) - calibration.longest_session_hours) < LONGEST_MARGIN_H
    )


def manual_gaps(gangs: Sequence[Gang]) -> list[float]:
    """Minutes before launches by hand that follow within a day, ascending."""
    gaps = [_gap(before, after) for before, after in pairwise(gangs) if after.attempt in (None, 1)]
    return sorted(gap for gap in gaps if gap <= MOST_GAP_MIN)


def retry_gaps(gangs: Sequence[Gang]) -> list[float]:
    """Minutes before retries, ascending."""
    return sorted(_gap(before, after) for before, after in pairwise(gangs) if after.attempt not in (None, 1))


def run_hours(courses: Sequence[Course], span: Span) -> float:
    """Hours of runs within a span."""
    clipped = (min(it.run_ended_ms, span.to_ms) - max(it.run_started_ms, span.from_ms) for it in courses)
    return sum(length for length in clipped if length > 0) / HOUR


def gang_share(gangs: Sequence[Gang], calibration: Calibration) -> float:
    """Share of the telemetry's time in which a gang session ran."""
    span, to_ms = calibration.telemetry, calibration.sessions.to_ms
    clipped = (min(it.ended_ms or to_ms, span.to_ms) - max(it.started_ms, span.from_ms) for it in gangs)
    return sum(length for length in clipped if length > 0) / (span.to_ms - span.from_ms)


def quantile_of(values: Sequence[float], share: float) -> float:
    """The quantile of ascending values, linear between them.

    Examples
    --------
    >>> quantile_of([1.0, 2.0, 4.0], 0.75)
    3.0
    """
    place = (len(values) - 1) * share
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


def _gaps_fit(calibration: Calibration, gangs: Sequence[Gang]) -> bool:
    manual, moved = manual_gaps(gangs), calibration.retry_delay_ms / MINUTE - 10
    retried = [gap - moved for gap in retry_gaps(gangs)]
    shares = (0.25, 0.5, 0.75)
    return (
        _within(quantile_of(manual, 0.5), GAP_MEDIAN_MIN)
        and manual[-1] == calibration.longest_manual_gap_ms / MINUTE
        and all(_within(quantile_of(retried, share), ends) for share, ends in zip(shares, RETRY_GAP_MIN, strict=True))
    )


def _gap(before: Gang, after: Gang) -> float:
    return (after.started_ms - (before.ended_ms or after.started_ms)) / MINUTE


def _longest(gangs: Sequence[Gang]) -> float:
    return max(((gang.ended_ms or gang.started_ms) - gang.started_ms) / HOUR for gang in gangs)


def _within(value: float, ends: tuple[float, float]) -> bool:
    return ends[0] <= value <= ends[1]
