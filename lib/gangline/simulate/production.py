"""The run itself: sessions that train, the pauses between them, and who ends each; laid out in time."""

from dataclasses import dataclass

from gangline.simulate import interruptions, loadings
from gangline.simulate.calibration import HOUR, MINUTE, SECOND, Calibration
from gangline.simulate.draws import Draws, Quantiles
from gangline.simulate.gangs import retry_gap_ms
from gangline.simulate.interruptions import Pieces, hours_of
from gangline.simulate.trainings import CHAIN, HOPELESS, RETRY, Marks, Training, marks_of, orders, trainings

RETRIED_MIN: Quantiles = ((0.0, 2.2), (0.6, 3.4), (1.0, 7.0))
HANG_MS = (6 * SECOND, 25 * SECOND)
RUN_AFTER_MS = (22 * SECOND, 40 * SECOND)
IDLE_BEFORE = 21 * MINUTE
MEDIAN_RUN_AFTER = 31 * SECOND


@dataclass(frozen=True, slots=True)
class Production:
    """All that is drawn of the telemetry's time before it is laid out.

    `hours` holds, for each session but the first, how long training stood still before its first step; `made_of` the
    launches in vain of the episodes that a person ends, `retried` the retries in vain (gap, length) of the others and
    of the hopeless chain, all by the session that ends the episode.
    """

    trainings: tuple[Training, ...]
    load_steps: tuple[int, ...]
    hours: dict[int, float]
    made_of: dict[int, Pieces]
    retried: dict[int, tuple[tuple[int, int], ...]]
    hangs: tuple[int, ...]
    marks: Marks


def produced(draws: Draws, calibration: Calibration) -> Production | None:
    """Draws the telemetry's time, or gives null where the draw does not fit the figures."""
    starts = orders(draws)
    marks = marks_of(draws, starts)
    episodes = list(range(1, len(starts)))
    automatic = _automatic(draws, calibration, [place for place in episodes if starts[place] == RETRY])
    ranked = _ranked(draws, [place for place in episodes if starts[place] != RETRY], marks)
    loads = loadings.load_steps(draws, calibration, _forced(calibration, automatic, ranked), marks.short)
    retried = _retried(draws, calibration, automatic, marks)
    hopeless_ms = sum(length for _, length in retried[marks.hopeless + 1])
    vain_ms = sum(length for place in automatic for _, length in retried[place])
    pieces = dict(zip(ranked, interruptions.pieces(draws, calibration, hopeless_ms + vain_ms), strict=True))
    hours = _manual(draws, calibration, automatic, ranked, loads, retried, pieces)
    if hours is None:
        return None
    hangs = [draws.whole(*HANG_MS) for _ in starts]
    train_ms = _train_ms(calibration, loads, pieces, hangs)
    overheads = [loadings.overhead_ms(steps) for steps in loads]
    drawn = trainings(draws, calibration, starts, marks, train_ms, overheads)
    if drawn is None:
        return None
    return Production(tuple(drawn), tuple(loads), hours | automatic, pieces, retried, tuple(hangs), marks)


def _automatic(draws: Draws, calibration: Calibration, places: list[int]) -> dict[int, float]:
    """How long each episode lasts that a retry ends."""
    return dict(zip(places, draws.shuffled(calibration.automatic_hours), strict=True))


def _ranked(draws: Draws, places: list[int], marks: Marks) -> list[int]:
    """Episodes that a person ends, the shortest first; that of the hopeless chain is the longest."""
    others = draws.shuffled([place for place in places if place != marks.hopeless + 1])
    if others[0] == marks.short:
        others.append(others.pop(0))
    return [*others, marks.hopeless + 1]


def _forced(calibration: Calibration, automatic: dict[int, float], ranked: list[int]) -> dict[int, int]:
    """Loads of the shortest episodes: those that a quick retry ends, and the shortest one by hand."""
    quick_ms = calibration.retry_delay_ms + loadings.RETRIED_GAP_MS
    quick = {place: hours for place, hours in automatic.items() if hours < 1}
    forced = {place: loadings.steps_within(round(hours * HOUR), quick_ms) for place, hours in quick.items()}
    by_hand = loadings.steps_within(round(calibration.manual_least_hours * HOUR), 100 * SECOND)
    return forced | {ranked[0]: by_hand}


def _retried(
    draws: Draws, calibration: Calibration, automatic: dict[int, float], marks: Marks
) -> dict[int, tuple[tuple[int, int], ...]]:
    """Retries in vain, by the session that ends the episode: none for three of the four that a retry ends."""
    third = calibration.automatic_hours[2]
    counts = {
        place: calibration.second_chain_retries - 1 if hours == third else 0 for place, hours in automatic.items()
    }
    counts[marks.hopeless + 1] = calibration.barren_retries
    return {place: _vain_retries(draws, calibration, count) for place, count in counts.items()}


def _vain_retries(draws: Draws, calibration: Calibration, count: int) -> tuple[tuple[int, int], ...]:
    lengths = [round(minutes * MINUTE) for minutes in draws.spread(RETRIED_MIN, count)] if count else []
    return tuple((retry_gap_ms(draws, calibration.retry_delay_ms), length) for length in lengths)


def _manual(
    draws: Draws,
    calibration: Calibration,
    automatic: dict[int, float],
    ranked: list[int],
    loads: list[int],
    retried: dict[int, tuple[tuple[int, int], ...]],
    pieces: dict[int, Pieces],
) -> dict[int, float] | None:
    """Lengths of the episodes that a person ends, such that all gaps of the telemetry's time sum to what is set."""
    overheads = {place: loadings.overhead_ms(loads[place]) for place in [*automatic, *ranked]}
    lengths = {place: sum(length for _, length in retried.get(place, ())) for place in overheads}
    automatic_gaps_ms = sum(
        round(hours * HOUR) - overheads[place] - lengths[place] for place, hours in automatic.items()
    )
    inside_ms = sum(overheads[place] + pieces[place].total_ms + lengths[place] for place in ranked)
    total_h = calibration.gap_hours - hours_of(IDLE_BEFORE + automatic_gaps_ms - inside_ms)
    last = ranked[-1]
    waited_ms = sum(gap + length for gap, length in retried[last])
    spare_ms = (len(pieces[last].lengths) + 1) * draws.whole(2, 8) * MINUTE + 25 * MINUTE
    hopeless_h = hours_of(waited_ms + overheads[last] + pieces[last].total_ms + spare_ms)
    hours = interruptions.manual_hours(draws, calibration, hopeless_h, total_h)
    return None if hours is None else dict(zip(ranked, hours, strict=True))


def _train_ms(calibration: Calibration, loads: list[int], pieces: dict[int, Pieces], hangs: list[int]) -> int:
    """Training within the telemetry, first to last step, such that the runs' hours come to what is set."""
    before_ms = sum(loadings.overhead_ms(steps) - MEDIAN_RUN_AFTER for steps in loads)
    barren_ms = sum(it.lengths[place] - MEDIAN_RUN_AFTER for it in pieces.values() for place in it.barren)
    return round(calibration.run_hours * HOUR) - before_ms - barren_ms - sum(hangs[:-1])


def is_chained(start: str) -> bool:
    """Whether retries follow a session that a person started."""
    return start in (CHAIN, HOPELESS)
