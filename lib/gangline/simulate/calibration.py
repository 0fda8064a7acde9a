"""What the drawn history is held to: the published figures, and what moves them in tests.

Figures and their reading: published.md of the design, that is arXiv 2605.09370. Choices where it is silent are ours:
the calendar, the two kinds of pauses before the run, the stages' share of the hours.
"""

from dataclasses import dataclass

from gangline.simulate.plan import Span

SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000
DAY = 24 * HOUR
SCRAPE = 30 * SECOND
# 2025-09-01 00:00 and 2025-09-15 00:12 in Asia/Seoul; 73 days and 1,343.8 hours from there.
SESSIONS_FROM = 1_756_652_400_000
TELEMETRY_FROM = SESSIONS_FROM + 14 * DAY + 12 * MINUTE
TELEMETRY_TO = SESSIONS_FROM + 70 * DAY
SESSIONS_TO = SESSIONS_FROM + 73 * DAY
NODES = tuple(f"gpu{number:03d}" for number in range(62, 125))
GANG_NODES = 60
SESSIONS, TELEMETRY = Span(SESSIONS_FROM, SESSIONS_TO), Span(TELEMETRY_FROM, TELEMETRY_TO)


@dataclass(frozen=True, slots=True)
class StageCalibration:
    """One training stage: its saves, how far apart, how long a save stalls it, its share of the training hours.

    A save comes after `save_steps` training steps; `interval_steps` is the median interval in scrape steps.
    """

    name: str
    context_length: int
    save_steps: int
    interval_steps: int
    stall_ms: int
    training_h: float

    @property
    def interval_ms(self) -> int:
        """From a save's start to the next one's."""
        return self.interval_steps * SCRAPE

    @property
    def step_ms(self) -> float:
        """How long a training step takes."""
        return (self.interval_ms - self.stall_ms) / self.save_steps


STAGES = (
    StageCalibration("4K", 4_096, 573, 268, 18_000, 458.0),
    StageCalibration("32K", 32_768, 500, 398, 31_700, 623.0),
    StageCalibration("100K", 102_400, 180, 163, 30_000, 177.0),
)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Everything the draw is conditioned on; a test may move one field."""

    sessions: Span = SESSIONS
    telemetry: Span = TELEMETRY
    stages: tuple[StageCalibration, ...] = STAGES
    saves: int = 523
    measured_saves: int = 406
    many_writer_saves: int = 357
    run_hours: float = 1293.62
    gap_hours: float = 45.68
    lost_hours: float = 22.6
    longest_session_hours: float = 222.9
    barren_chain_hours: float = 25.4
    failed_chain_hours: float = 35.0
    short_failures_hours: float = 4.28
    retry_delay_ms: int = 10 * MINUTE
    chain_retries_before: tuple[int, int] = (7, 24)
    barren_retries: int = 30
    second_chain_retries: int = 4
    automatic_hours: tuple[float, float, float, float] = (0.48, 0.55, 3.25, 9.65)
    manual_least_hours: float = 0.42
    manual_median_hours: float = 3.336
    manual_most_hours: float = 53.0
    manual_sessions: int = 104
    manual_failures_within: int = 36
    manual_failures_after: int = 3
    other_multi_sessions: int = 47
    longest_manual_gap_ms: int = 430 * MINUTE
    load_mean_steps: int = 66
    load_median_steps: int = 62
    load_bytes_per_s: float = 150.8e9
    load_peak_bytes_per_s: float = 223.8e9
    save_bytes_per_s: float = 40.1e9
    save_bytes_per_node: float = 20.55e9
    held_share: tuple[tuple[str, float], ...] = (
        ("gpu074", 1.0),
        ("gpu086", 0.97),
        ("gpu116", 0.996),
        ("gpu085", 0.04),
    )
    most_excluded: tuple[str, str, str] = ("gpu074", "gpu119", "gpu086")
