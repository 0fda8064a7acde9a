"""Courses as runs: steps, knots and saves, from the checkpoint that each run resumed from."""

from collections.abc import Sequence

from gangline.simulate.gangs import Gang
from gangline.simulate.identities import PRETRAINING, run_id, session_id
from gangline.simulate.layout import Course
from gangline.simulate.plan import Knot, RunPlan

LOG_EVERY = 10
RUN_AFTER_MS = 31_000


def runs(seed: int, gangs: Sequence[Gang], courses: Sequence[Course], to_ms: int) -> list[RunPlan]:
    """All runs in order: those of the bring-up's retried launches, which log no step, and those of the courses."""
    by_gang = {course.gang: course for course in courses}
    first_stage = courses[0].stage
    found: list[RunPlan] = []
    saved = 0
    for place, gang in enumerate(gangs):
        course = by_gang.get(place)
        if course is None and gang.has_run:
            ended_ms = (gang.ended_ms or to_ms) - 1_000
            course = Course(place, first_stage, gang.started_ms + RUN_AFTER_MS, ended_ms, gang.started_ms, 0)
        if course is not None:
            found.append(_run(seed, len(found), course, saved))
            saved += course.stage.save_steps * len(course.saves)
    return found


def save_step(run: RunPlan, course: Course, number: int) -> int:
    """The step that a course's save, counted from 0, holds."""
    return run.resume_step + course.stage.save_steps * (number + 1)


def _run(seed: int, number: int, course: Course, saved: int) -> RunPlan:
    knots = _knots(course, saved)
    return RunPlan(
        run_id=run_id(seed, number),
        session_id=session_id(seed, "gang", course.gang),
        name=f"{PRETRAINING}-{course.stage.name.lower()}-{number:02d}",
        stage=course.stage.name,
        context_length=course.stage.context_length,
        started_ms=course.run_started_ms,
        ended_ms=course.run_ended_ms,
        state="crashed",
        resume_step=saved,
        first_step_ms=course.first_step_ms,
        last_step=knots[-1].step if knots else saved,
        log_every=LOG_EVERY,
        knots=knots,
    )


def _knots(course: Course, saved: int) -> tuple[Knot, ...]:
    """The first step, each save's start and end, and the last step."""
    if course.first_step_ms is None or course.last_step_ms is None:
        return ()
    stage, knots = course.stage, [Knot(course.first_step_ms, saved + 1)]
    for number, (at_ms, stall_ms) in enumerate(zip(course.saves, course.stalls, strict=True), start=1):
        step = saved + stage.save_steps * number
        knots += [Knot(at_ms, step), Knot(at_ms + stall_ms, step)]
    since = knots[-1]
    steps = round((course.last_step_ms - since.at_ms) / stage.step_ms)
    if steps > 0:
        knots.append(Knot(since.at_ms + round(steps * stage.step_ms), since.step + steps))
    return tuple(knots)
