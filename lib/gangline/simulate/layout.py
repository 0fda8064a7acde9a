"""The drawn history laid out in time: every gang session with its start and end, and the courses of its runs."""

from dataclasses import dataclass, replace

from gangline.simulate import loadings
from gangline.simulate.bring_up import bring_up
from gangline.simulate.calibration import HOUR, MINUTE, SCRAPE, SECOND, Calibration, StageCalibration
from gangline.simulate.draws import Draws
from gangline.simulate.gangs import BARREN, FAILED, TRAINED, Timeline
from gangline.simulate.interruptions import hours_of, waits
from gangline.simulate.production import IDLE_BEFORE, RUN_AFTER_MS, Production, is_chained
from gangline.simulate.trainings import HAND, RETRY, Training

OFFSET_MS = (700, 2_400)
"""From a scrape to a save's start, so that a save's write is seen in the steps that it was drawn for."""
JITTERED_SHARE = 0.3
MOST_JITTER_STEPS = 4
UNLIKE_SHARE, MOST_UNLIKE = 0.7, 0.08
AFTER_TELEMETRY_H = 5.0
AFTERMATH_MIN = (26, 55)


@dataclass(frozen=True, slots=True)
class Course:
    """What the run of one gang session went through; a run without a first step logged none.

    `saves` are the instants at which its saves start, `stalls` what each stalls the GPUs.
    """

    gang: int
    stage: StageCalibration
    run_started_ms: int
    run_ended_ms: int
    load_from_ms: int
    load_steps: int
    first_step_ms: int | None = None
    saves: tuple[int, ...] = ()
    stalls: tuple[int, ...] = ()
    last_step_ms: int | None = None


class Layout:
    """Lays a production out after the weeks that came before it."""

    def __init__(self, draws: Draws, calibration: Calibration, production: Production) -> None:
        self.timeline = Timeline(draws, calibration.retry_delay_ms)
        self.courses: list[Course] = []
        self._draws, self._calibration, self._production = draws, calibration, production

    def lay_out(self) -> bool:
        """Lays out everything; false where the gaps of an episode cannot be divided."""
        self._before()
        first_ms = self._calibration.telemetry.from_ms + IDLE_BEFORE
        first = self._production.trainings[0]
        self._train(first, 0, first_ms + loadings.overhead_ms(self._production.load_steps[0]))
        is_whole = all(self._episode(place) for place in range(1, len(self._production.trainings)))
        return is_whole and self._after()

    def _before(self) -> None:
        retried = self._production.retried[self._production.marks.hopeless + 1]
        chain_ms = round(self._calibration.failed_chain_hours * HOUR) - sum(length for _, length in retried)
        until_ms = self._calibration.telemetry.from_ms + IDLE_BEFORE
        bring_up(self.timeline, self._draws, self._calibration, chain_ms, until_ms)

    def _episode(self, place: int) -> bool:
        """One pause of training and the session that ends it."""
        training, hours = self._production.trainings[place], self._production.hours[place]
        first_step_ms = self._trained_until() + round(hours * HOUR)
        for gap_ms, length_ms in self._production.retried.get(place, ()):
            self.timeline.retry(FAILED, self.timeline.end_ms + gap_ms, length_ms)
        started_ms = self._load_from(place, first_step_ms) - self._setup_ms(place)
        if training.start != RETRY and not self._in_vain(place, started_ms, training.stage):
            return False
        self._train(training, place, first_step_ms, started_ms)
        return True

    def _trained_until(self) -> int:
        ended_ms = self.timeline.gangs[self.courses[-1].gang].ended_ms
        trained = next(course for course in reversed(self.courses) if course.first_step_ms)
        ended_ms = self.timeline.gangs[trained.gang].ended_ms
        assert ended_ms is not None, "only the last session is open"
        return ended_ms

    def _load_from(self, place: int, first_step_ms: int) -> int:
        from_ms = self._calibration.telemetry.from_ms
        load_to_ms = from_ms + (first_step_ms - loadings.WARM_UP_MS - from_ms) // SCRAPE * SCRAPE
        return load_to_ms - self._steps(place) * SCRAPE

    def _steps(self, place: int) -> int:
        loads = self._production.load_steps
        return loads[place] if place < len(loads) else self._calibration.load_median_steps

    def _setup_ms(self, place: int) -> int:
        low, high = loadings.SETUP_MS
        return low + (place * 7919) % (high - low)

    def _in_vain(self, place: int, started_ms: int, stage: StageCalibration) -> bool:
        """Launches by hand before the one that trains."""
        made_of = self._production.made_of[place]
        gaps_ms = started_ms - self.timeline.end_ms - made_of.total_ms
        vain = waits(self._draws, made_of, gaps_ms)
        for launch in vain or ():
            began_ms = self.timeline.end_ms + launch.gap_ms
            role = BARREN if launch.is_barren else FAILED
            self.timeline.by_hand(role, began_ms, began_ms + launch.length_ms, has_run=launch.is_barren)
            if launch.is_barren:
                self._barren(began_ms, began_ms + launch.length_ms, stage)
        return vain is not None

    def _barren(self, started_ms: int, ended_ms: int, stage: StageCalibration) -> None:
        """A run that loads and ends before its first step."""
        from_ms = self._calibration.telemetry.from_ms
        load_from_ms = from_ms + -(-(started_ms + loadings.SETUP_MS[0] - from_ms) // SCRAPE) * SCRAPE
        steps = (ended_ms - load_from_ms - MINUTE) // SCRAPE
        run_ms = started_ms + self._draws.whole(*RUN_AFTER_MS), ended_ms - SECOND
        self.courses.append(Course(len(self.timeline.gangs) - 1, stage, *run_ms, load_from_ms, steps))

    def _train(self, training: Training, place: int, first_step_ms: int, started_ms: int | None = None) -> None:
        if started_ms is None:
            started_ms = self._load_from(place, first_step_ms) - self._setup_ms(place)
        course = self._course(training, place, first_step_ms, started_ms)
        if training.start == RETRY:
            self.timeline.retry(TRAINED, started_ms, course.run_ended_ms - started_ms, has_run=True)
        else:
            self.timeline.by_hand(
                TRAINED, started_ms, course.run_ended_ms, is_retried=is_chained(training.start), has_run=True
            )
        self.courses.append(replace(course, gang=len(self.timeline.gangs) - 1))

    def _course(self, training: Training, place: int, first_step_ms: int, started_ms: int) -> Course:
        is_last = place == len(self._production.trainings) - 1
        count = training.saves + (self._saves_after(training, first_step_ms) if is_last else 0)
        saves = self._save_starts(training.stage, first_step_ms, count)
        stalls = self._stalls(training.stage.stall_ms, count)
        since_ms = saves[-1] + stalls[-1] if saves else first_step_ms
        last_step_ms = since_ms + training.lost_ms
        return Course(
            gang=0,
            stage=training.stage,
            run_started_ms=started_ms + self._draws.whole(*RUN_AFTER_MS),
            run_ended_ms=last_step_ms + self._production.hangs[min(place, len(self._production.hangs) - 1)],
            load_from_ms=self._load_from(place, first_step_ms),
            load_steps=self._steps(place),
            first_step_ms=first_step_ms,
            saves=saves,
            stalls=stalls,
            last_step_ms=last_step_ms,
        )

    def _saves_after(self, training: Training, first_step_ms: int) -> int:
        """Saves of the last session that the telemetry does not see any more."""
        left_ms = self._calibration.telemetry.to_ms - first_step_ms - training.saves * training.stage.interval_ms
        return max(1, round((AFTER_TELEMETRY_H * HOUR + left_ms) / training.stage.interval_ms))

    def _stalls(self, usual_ms: int, count: int) -> tuple[int, ...]:
        """Stalls about the stage's own, as many longer as shorter, and some of them exactly that."""
        unlike = int(count * UNLIKE_SHARE) // 2
        longer = [round(usual_ms * MOST_UNLIKE * self._draws.between(0, 1)) for _ in range(unlike)]
        offsets = self._draws.shuffled([*longer, *(-more for more in longer), *[0] * (count - 2 * unlike)])
        return tuple(usual_ms + more for more in offsets)

    def _save_starts(self, stage: StageCalibration, first_step_ms: int, count: int) -> tuple[int, ...]:
        """A save every so many steps; the steps' length varies a little, about the stage's own."""
        jittered = int(count * JITTERED_SHARE) // 2
        offsets = [self._draws.whole(1, MOST_JITTER_STEPS) for _ in range(jittered)]
        jitter = self._draws.shuffled([*offsets, *(-it for it in offsets), *[0] * (count - 2 * jittered)])
        from_ms = self._calibration.telemetry.from_ms
        at_ms = from_ms + -(-(first_step_ms - from_ms) // SCRAPE) * SCRAPE
        starts = []
        for steps in jitter:
            at_ms += (stage.interval_steps + steps) * SCRAPE
            starts.append(at_ms + self._draws.whole(*OFFSET_MS))
        return tuple(starts)

    def _after(self) -> bool:
        """What follows the telemetry: the longest downtime, and the session that still trains at the end."""
        for place in range(self._calibration.manual_failures_after):
            gap_ms = self._draws.whole(22, 60) * MINUTE if place == 0 else self._draws.whole(40, 150) * SECOND
            length_ms = self._draws.whole(*AFTERMATH_MIN) * 6 * SECOND
            began_ms = self.timeline.end_ms + gap_ms
            self.timeline.by_hand(FAILED, began_ms, began_ms + length_ms)
        place = len(self._production.trainings)
        first_step_ms = self._trained_until() + round(self._calibration.manual_most_hours * HOUR)
        started_ms = self._load_from(place, first_step_ms) - self._setup_ms(place)
        to_ms = self._calibration.sessions.to_ms
        stage = self._production.trainings[-1].stage
        count = (to_ms - first_step_ms) // stage.interval_ms
        training = Training(HAND, stage, count, 0)
        course = self._course(training, place, first_step_ms, started_ms)
        self.timeline.by_hand(TRAINED, started_ms, None, has_run=True)
        open_course = replace(
            course, gang=len(self.timeline.gangs) - 1, run_ended_ms=to_ms, last_step_ms=to_ms - 20_000
        )
        self.courses.append(open_course)
        return hours_of(to_ms - first_step_ms) > 1
