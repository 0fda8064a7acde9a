"""The gang's life as it is drawn: one launch after the other, by people and by the scheduler's retries."""

from dataclasses import dataclass

from gangline.simulate.calibration import MINUTE, SECOND
from gangline.simulate.draws import Draws

TRAINED, BARREN, FAILED = "trained", "barren", "failed"
"""What a launch came to: it trained; its run logged no step; it failed before there was a run."""
SHORT_GAPS = ((0.0, 0.12), (0.25, 0.9), (0.5, 1.5), (0.75, 2.2), (1.0, 4.0))
"""Minutes until a person who waits at the terminal launches again."""
RETRY_EXTRA_S = ((0.0, 10.0), (0.3, 22.0), (0.45, 38.0), (0.75, 58.0), (1.0, 84.0))
"""Seconds from the end of a retry's delay to its start: a poll of the scheduler, and the containers' start."""
RETRY_WINDOW_MIN = (8.0, 16.0)
"""Gaps in which a launch by hand would be taken for a retry: people are drawn outside of them."""


@dataclass(frozen=True, slots=True)
class Gang:
    """One gang session. `chain` and `attempt` number retries; `ended_ms` is null where it outlasts the export."""

    role: str
    created_ms: int
    started_ms: int
    ended_ms: int | None
    chain: int | None = None
    attempt: int | None = None
    has_run: bool = False


class Timeline:
    """Launches in order; each begins after the end of the one before."""

    def __init__(self, draws: Draws, delay_ms: int) -> None:
        self.gangs: list[Gang] = []
        self._draws = draws
        self._delay_ms = delay_ms
        self._chains = 0

    @property
    def end_ms(self) -> int:
        """The end of the last launch."""
        last = self.gangs[-1].ended_ms
        assert last is not None, "nothing follows a session that is still open"
        return last

    def by_hand(
        self, role: str, started_ms: int, ended_ms: int | None, *, is_retried: bool = False, has_run: bool = False
    ) -> None:
        """Adds a launch by a person; retries of it may follow."""
        room = started_ms - self.end_ms if self.gangs else MINUTE
        created_ms = started_ms - min(self._draws.whole(6, 20) * SECOND, room // 2)
        self._chains += is_retried
        chain, attempt = (self._chains, 1) if is_retried else (None, None)
        self.gangs.append(Gang(role, created_ms, started_ms, ended_ms, chain, attempt, has_run))

    def retry(self, role: str, started_ms: int, length_ms: int | None, *, has_run: bool = False) -> None:
        """Adds a retry of the last launch, submitted by the scheduler after its delay."""
        last = self.gangs[-1]
        created_ms = min(self.end_ms + self._delay_ms + self._draws.whole(0, 8_000), started_ms - 2 * SECOND)
        ended_ms = None if length_ms is None else started_ms + length_ms
        self.gangs.append(Gang(role, created_ms, started_ms, ended_ms, last.chain, (last.attempt or 0) + 1, has_run))


def retry_gap_ms(draws: Draws, delay_ms: int) -> int:
    """From an end to the start of its retry."""
    return delay_ms + round(draws.spread(RETRY_EXTRA_S, 1)[0] * SECOND)


def short_gap_ms(draws: Draws) -> int:
    """A relaunch by someone who waits for it."""
    return round(draws.spread(SHORT_GAPS, 1)[0] * MINUTE)


def is_like_a_retry(gap_ms: int) -> bool:
    """Whether a launch by hand at this gap would pass for a retry."""
    low, high = RETRY_WINDOW_MIN
    return low * MINUTE < gap_ms < high * MINUTE
