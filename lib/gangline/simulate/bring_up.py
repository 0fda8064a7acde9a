"""The two weeks before the run trains: bursts of launches that fail, chains of retries among them, days of pause."""

from dataclasses import dataclass

from gangline.simulate.calibration import HOUR, MINUTE, Calibration
from gangline.simulate.draws import Draws, Quantiles, scaled
from gangline.simulate.gangs import FAILED, Timeline, retry_gap_ms, short_gap_ms

BURSTS = 8
FIRST_AFTER = 10 * HOUR
LEAST_PAUSE = 25 * HOUR
HANGS_MIN: Quantiles = ((0.0, 18.0), (0.4, 52.0), (0.8, 80.0), (1.0, 125.0))
CRASHES_MIN: Quantiles = ((0.0, 1.5), (0.5, 5.0), (0.9, 14.0), (1.0, 24.0))
THINKING_MIN: Quantiles = ((0.0, 22.0), (0.5, 70.0), (1.0, 260.0))
THOUGHTS = 9


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch by hand and the retries after it; `gap_ms` is that before it, each retry a gap and a length."""

    gap_ms: int
    length_ms: int
    retries: tuple[tuple[int, int], ...] = ()

    @property
    def total_ms(self) -> int:
        """From the end before it to the end of its last retry."""
        return self.gap_ms + self.length_ms + sum(gap + length for gap, length in self.retries)


def bring_up(timeline: Timeline, draws: Draws, calibration: Calibration, chain_ms: int, until_ms: int) -> None:
    """Draws all launches until `until_ms`, when the first launch that trains begins.

    `chain_ms`: what the attempts of the chains of this time last in all.
    """
    bursts = _bursts(draws, calibration, chain_ms)
    first_ms = calibration.sessions.from_ms + FIRST_AFTER
    busy_ms = sum(launch.total_ms for burst in bursts for launch in burst)
    pauses = draws.parts(until_ms - first_ms - busy_ms, BURSTS, LEAST_PAUSE)
    at_ms = first_ms
    for burst, pause in zip(bursts, pauses, strict=True):
        for launch in burst:
            at_ms = _launch(timeline, launch, at_ms)
        at_ms += pause


def _launch(timeline: Timeline, launch: Launch, at_ms: int) -> int:
    started_ms = at_ms + launch.gap_ms
    has_retries = bool(launch.retries)
    timeline.by_hand(FAILED, started_ms, started_ms + launch.length_ms, is_retried=has_retries, has_run=has_retries)
    for gap_ms, length_ms in launch.retries:
        timeline.retry(FAILED, timeline.end_ms + gap_ms, length_ms, has_run=True)
    return timeline.end_ms


def _bursts(draws: Draws, calibration: Calibration, chain_ms: int) -> list[list[Launch]]:
    launches = draws.shuffled([*_chains(draws, calibration, chain_ms), *_singles(draws, calibration)])
    sizes = draws.parts(len(launches), BURSTS, 4)
    gaps = _gaps(draws, calibration, len(launches) - BURSTS)
    bursts = []
    for size in sizes:
        burst, launches = launches[:size], launches[size:]
        own, gaps = [0, *gaps[: size - 1]], gaps[size - 1 :]
        bursts.append([Launch(gap, it.length_ms, it.retries) for gap, it in zip(own, burst, strict=True)])
    return bursts


def _chains(draws: Draws, calibration: Calibration, chain_ms: int) -> list[Launch]:
    chains, retries = calibration.chain_retries_before
    counts = draws.parts(retries, chains, 1)
    minutes = scaled(draws.spread(HANGS_MIN, chains + retries), chain_ms / MINUTE)
    lengths = [round(value * MINUTE) for value in minutes]
    found = []
    for count in counts:
        own, lengths = lengths[: count + 1], lengths[count + 1 :]
        gaps = [retry_gap_ms(draws, calibration.retry_delay_ms) for _ in range(count)]
        found.append(Launch(0, own[0], tuple(zip(gaps, own[1:], strict=True))))
    return found


def _singles(draws: Draws, calibration: Calibration) -> list[Launch]:
    trained_by_hand, barren = 13, 3
    elsewhere = trained_by_hand + barren + calibration.manual_failures_within + calibration.manual_failures_after
    count = calibration.manual_sessions - elsewhere
    return [Launch(0, round(minutes * MINUTE)) for minutes in draws.spread(CRASHES_MIN, count)]


def _gaps(draws: Draws, calibration: Calibration, count: int) -> list[int]:
    """Gaps within bursts: someone waits at the terminal, or goes to look for the cause; one is the longest of all."""
    thoughts = [round(minutes * MINUTE) for minutes in draws.spread(THINKING_MIN, THOUGHTS)]
    shorts = [short_gap_ms(draws) for _ in range(count - THOUGHTS - 1)]
    return draws.shuffled([calibration.longest_manual_gap_ms, *thoughts, *shorts])
