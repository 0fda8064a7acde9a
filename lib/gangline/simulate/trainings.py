"""How long each session trains: its stage, its saves, and what it had done since the last one when it ended."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from gangline.simulate.calibration import HOUR, MINUTE, Calibration, StageCalibration
from gangline.simulate.draws import Draws, Quantiles, scaled, stretched

HAND, CHAIN, RETRY, HOPELESS = "hand", "chain", "retry", "hopeless"
"""Started by a person; the same and retried later; a retry itself; the same and retried in vain."""
HOURS: Quantiles = ((0.0, 4.0), (0.25, 24.0), (0.5, 48.0), (0.75, 85.0), (1.0, 170.0))
SHARE_LOST: Quantiles = ((0.0, 0.06), (1.0, 0.94))
SHORT_TRAINING = 20 * MINUTE
LEAST_FIT, MOST_FIT = 0.35, 2.6
TAIL_MARGIN = 6 * MINUTE


class Marks(NamedTuple):
    """Places of the longest session, of the one that lasts under an hour, and of the one retried in vain."""

    longest: int
    short: int
    hopeless: int


@dataclass(frozen=True, slots=True)
class Training:
    """One session's training, from its first step to its last.

    `lost_ms` is the work since the last save, or since the first step where it has none; the last one of the telemetry
    outlasts it and its `lost_ms` counts from its own last save.
    """

    start: str
    stage: StageCalibration
    saves: int
    lost_ms: int
    is_longest: bool = False

    @property
    def train_ms(self) -> int:
        """First step to last step."""
        return self.saves * self.stage.interval_ms + (self.stage.stall_ms if self.saves else 0) + self.lost_ms


def orders(draws: Draws) -> list[str]:
    """How the 21 sessions that train in the telemetry's time are started, in order."""
    units = [*([CHAIN, RETRY] for _ in range(4)), *([HAND] for _ in range(12))]
    shuffled = draws.shuffled(units)
    place = draws.whole(4, len(units) - 3)
    return [start for unit in [*shuffled[:place], [HOPELESS], *shuffled[place:]] for start in unit]


def trainings(
    draws: Draws, calibration: Calibration, starts: list[str], marks: Marks, train_ms: int, overheads: list[int]
) -> list[Training] | None:
    """The sessions in order, or null where this draw does not fit.

    `train_ms`: training within the telemetry in all; `overheads`: each session's time before its first step.
    """
    hours = _hours(draws, calibration, starts, marks, overheads)
    stages = _stages(calibration, hours)
    fitted = None if stages is None else _fitted(calibration, hours, stages, marks)
    if fitted is None or stages is None:
        return None
    drawn = _with_losses(draws, calibration, starts, fitted, stages, marks)
    return None if drawn is None else _counted(draws, calibration, drawn, train_ms, marks)


def last_saves(drawn: list[Training], train_ms: int) -> tuple[int, int]:
    """Saves of the last session within the telemetry, and what then remains of it there."""
    left = train_ms - sum(training.train_ms for training in drawn[:-1])
    return left // drawn[-1].stage.interval_ms, left % drawn[-1].stage.interval_ms


def marks_of(draws: Draws, starts: list[str]) -> Marks:
    """Which sessions of that order are of a set length."""
    inner = [place for place in range(1, len(starts) - 1) if starts[place] == HAND]
    longest, short = draws.shuffled(inner)[:2]
    return Marks(longest, short, starts.index(HOPELESS))


def _hours(
    draws: Draws, calibration: Calibration, starts: list[str], marks: Marks, overheads: list[int]
) -> list[float]:
    hours = draws.spread(HOURS, len(starts))
    hours[marks.longest] = calibration.longest_session_hours - overheads[marks.longest] / HOUR
    hours[marks.hopeless] = calibration.barren_chain_hours - overheads[marks.hopeless] / HOUR
    hours[marks.short] = SHORT_TRAINING / HOUR
    return hours


def _stages(calibration: Calibration, hours: list[float]) -> list[int] | None:
    """The stage of each session: stages follow one another, each for about its share of the hours."""
    total, wanted = sum(hours), sum(stage.training_h for stage in calibration.stages)
    found, done = [], 0.0
    for value in hours:
        middle = (done + value / 2) * wanted / total
        first, second = calibration.stages[0].training_h, calibration.stages[1].training_h
        found.append(0 if middle < first else 1 if middle < first + second else 2)
        done += value
    is_full = all(found.count(stage) >= least for stage, least in ((0, 4), (1, 4), (2, 3)))
    return found if is_full else None


def _fitted(calibration: Calibration, hours: list[float], stages: list[int], marks: Marks) -> list[float] | None:
    """The hours scaled within each stage to its share; sessions of a set length stay."""
    fitted = list(hours)
    for number, stage in enumerate(calibration.stages):
        own = [place for place, value in enumerate(stages) if value == number]
        free = [place for place in own if place not in marks]
        fixed_h = sum(hours[place] for place in own if place in marks)
        if not free or not LEAST_FIT < (stage.training_h - fixed_h) / sum(hours[place] for place in free) < MOST_FIT:
            return None
        for place, value in zip(
            free, scaled([hours[place] for place in free], stage.training_h - fixed_h), strict=True
        ):
            fitted[place] = value
    longest = fitted[marks.longest]
    return fitted if all(value < longest - 5 or place == marks.longest for place, value in enumerate(fitted)) else None


def _with_losses(
    draws: Draws,
    calibration: Calibration,
    starts: list[str],
    hours: list[float],
    stages: list[int],
    marks: Marks,
) -> list[Training] | None:
    own = [calibration.stages[number] for number in stages]
    shares = draws.spread(SHARE_LOST, len(starts))
    drawn = []
    for place, (start, stage) in enumerate(zip(starts, own, strict=True)):
        train_ms = round(hours[place] * HOUR)
        lost_ms = round(shares[place] * stage.interval_ms)
        saves = round((train_ms - lost_ms) / stage.interval_ms)
        if place in marks:
            saves = max(train_ms - stage.stall_ms, 0) // stage.interval_ms
            lost_ms = train_ms - saves * stage.interval_ms - (stage.stall_ms if saves else 0)
        if saves < 1 and place != marks.short:
            return None
        drawn.append(Training(start, stage, saves, lost_ms, place == marks.longest))
    return _losing(calibration, drawn, marks)


def _losing(calibration: Calibration, drawn: list[Training], marks: Marks) -> list[Training] | None:
    """Losses of all that end within the telemetry, stretched to sum to what was lost in all."""
    free = [place for place in range(len(drawn) - 1) if place not in marks]
    fixed_ms = sum(drawn[place].lost_ms for place in marks)
    losses = stretched([drawn[place].lost_ms for place in free], MINUTE, calibration.lost_hours * HOUR - fixed_ms)
    adjusted = list(drawn)
    for place, lost in zip(free, losses, strict=True):
        adjusted[place] = replace(drawn[place], lost_ms=_whole_steps(lost, drawn[place].stage))
    for place in marks:
        adjusted[place] = replace(drawn[place], lost_ms=_whole_steps(drawn[place].lost_ms, drawn[place].stage))
    for place in free:
        left_ms = calibration.lost_hours * HOUR - sum(it.lost_ms for it in adjusted[:-1])
        lost_ms = adjusted[place].lost_ms + left_ms
        adjusted[place] = replace(adjusted[place], lost_ms=_whole_steps(lost_ms, drawn[place].stage))
    fits = all(2 * MINUTE < it.lost_ms < 0.96 * it.stage.interval_ms - it.stage.stall_ms for it in adjusted)
    return adjusted if fits else None


def _whole_steps(lost_ms: float, stage: StageCalibration) -> int:
    """The nearest length that whole training steps take."""
    return round(round(lost_ms / stage.step_ms) * stage.step_ms)


def _counted(
    draws: Draws, calibration: Calibration, drawn: list[Training], train_ms: int, marks: Marks
) -> list[Training] | None:
    """Saves added to, or taken from, sessions of the first stages until there are as many as there should be."""
    free = [place for place, it in enumerate(drawn[:-1]) if place not in marks and it.stage is not drawn[-1].stage]
    for _ in range(400):
        within, left_ms = last_saves(drawn, train_ms)
        missing = calibration.saves - within - sum(training.saves for training in drawn[:-1])
        has_room = TAIL_MARGIN < left_ms < drawn[-1].stage.interval_ms - TAIL_MARGIN
        if within < 3:
            return None
        if missing == 0 and has_room:
            return [*drawn[:-1], replace(drawn[-1], saves=within)]
        place = draws.shuffled(free)[0]
        # each save of these takes more than one of the last session's stage away
        saves = drawn[place].saves + (draws.shuffled([1, -1])[0] if missing == 0 else -1 if missing > 0 else 1)
        if saves >= 2:
            drawn[place] = replace(drawn[place], saves=saves)
    return None
