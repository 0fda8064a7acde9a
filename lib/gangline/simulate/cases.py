"""The four nodes that page 09 looks at: what each one's own values did before and after its fault."""

from collections.abc import Mapping

from gangline.simulate.calibration import DAY, HOUR, MINUTE, Calibration
from gangline.simulate.plan import CasePlan, CoursePlan, FailurePlan, Span

WEEKS = 14 * DAY
FAILED_ROWS, ROWS_A_WEEK_BEFORE = 254, 48


def cases(calibration: Calibration, failures: Mapping[str, FailurePlan], returned: Mapping[str, int]) -> list[CasePlan]:
    """The cases, in order of their nodes; `returned` is when each node's next duty begins, or the telemetry's end."""
    telemetry = calibration.telemetry
    drawn = {"gpu071": _bus, "gpu096": _ecc, "gpu122": _uncorrectable, "gpu124": _correctable}
    found = []
    for node, courses in drawn.items():
        failure = failures[node]
        after_ms = min(returned[node], failure.at_ms + DAY)
        span = Span(max(telemetry.from_ms, failure.at_ms - WEEKS), min(telemetry.to_ms, failure.at_ms + DAY))
        name = f"{node} {failure.kind}"
        own = courses(failure, span, after_ms)
        found.append(CasePlan(name, node, failure.gpu or 0, failure.at_ms, span, own))
    return found


def _course(failure: FailurePlan, measure: str, points: tuple[tuple[int, float], ...], **ways: bool) -> CoursePlan:
    gpu = failure.gpu if ways.get("is_of_gpu") else None
    return CoursePlan(measure, failure.node, gpu, points, by_steps=ways.get("by_steps", False))


def _bus(failure: FailurePlan, span: Span, after_ms: int) -> tuple[CoursePlan, ...]:
    """Link errors for two days; with the fault interrupts fall from 300 K to 70-100 K and nothing is runnable."""
    at_ms, until_ms = failure.at_ms, min(after_ms, failure.at_ms + 20 * MINUTE)
    errors = tuple((max(at_ms - hours * HOUR, span.from_ms + (48 - hours) * MINUTE), level) for hours, level in _ERRORS)
    return (
        _course(failure, "nvlink_errors_per_s", (*errors, (at_ms, 40.0)), is_of_gpu=True),
        _course(failure, "interrupts_per_s", ((at_ms, 100_000.0), (until_ms, 70_000.0))),
        _course(failure, "runnable", ((at_ms, 0.0), (until_ms, 0.0))),
    )


_ERRORS = ((48, 0.0), (24, 1.5), (6, 6.0), (1, 18.0))


def _ecc(failure: FailurePlan, span: Span, after_ms: int) -> tuple[CoursePlan, ...]:
    """Minutes before the code, GETATTR takes far longer and pages go out."""
    at_ms, from_ms = failure.at_ms, max(span.from_ms, failure.at_ms - 24 * MINUTE)
    until_ms = min(after_ms, at_ms + 3 * MINUTE)
    return (
        _course(failure, "getattr_response_ms", ((from_ms, 18.0), (at_ms, 42.0), (until_ms, 30.0))),
        _course(failure, "page_outs_per_s", ((from_ms, 60_000.0), (at_ms, 180_000.0), (until_ms, 90_000.0))),
    )


def _uncorrectable(failure: FailurePlan, span: Span, after_ms: int) -> tuple[CoursePlan, ...]:
    """Remaps of uncorrectable errors come one by one, the last of them shortly before the code."""
    length_ms = failure.at_ms - span.from_ms
    steps = [(0.0, 0.0), (0.35, 1.0), (0.6, 2.0), (0.82, 3.0), (0.93, 4.0), (0.985, 5.0)]
    points = tuple((span.from_ms + round(length_ms * share), value) for share, value in steps)
    end = (max(after_ms, failure.at_ms + HOUR), 6.0)
    return (
        _course(failure, "uncorrectable_remaps", (*points, (failure.at_ms, 6.0), end), is_of_gpu=True, by_steps=True),
    )


def _correctable(failure: FailurePlan, span: Span, after_ms: int) -> tuple[CoursePlan, ...]:
    """Remaps of correctable errors grow slowly, then by more than two hundred in the last week, up to 254."""
    at_ms = failure.at_ms
    week_ms = max(at_ms - 7 * DAY, span.from_ms + HOUR)
    points = (
        (span.from_ms, 20.0),
        (week_ms, float(ROWS_A_WEEK_BEFORE)),
        (week_ms + (at_ms - week_ms) // 2, 110.0),
        (at_ms - HOUR, float(FAILED_ROWS)),
        (at_ms, float(FAILED_ROWS)),
    )
    flag = ((at_ms - HOUR, 1.0), (max(after_ms, at_ms + HOUR), 1.0))
    return (
        _course(failure, "correctable_remaps", points, is_of_gpu=True),
        _course(failure, "remap_failure", flag, is_of_gpu=True, by_steps=True),
    )
