"""Headline figures: what a page prints large, what `figures.json` holds, and what may be said of a change."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gangline.estimates import Estimate

WINDOWS_BEFORE = 8
SIGNIFICANT = 0.05
KEYS = ("id", "value", "unit", "n", "low", "high", "level", "method", "reason", "previous")


class Direction(StrEnum):
    """Which way a figure should go; `NEITHER` where that is not for us to say."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


class Judgement(StrEnum):
    """The only words that a page may use of a change; colour follows the word."""

    BETTER = "better"
    WORSE = "worse"
    OUTSIDE = "outside the usual range"
    USUAL = "within the usual range"
    UNKNOWN = "no value to compare with"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its stable id (docs/reports.md lists them).

    Attributes
    ----------
    estimate : Estimate
        Value, unit, n, interval and method, or the reason why there is none.
    previous : float or None
        The same figure over the window before, recomputed on today's data; None for the whole export.
    label, definition : str
        For its card: what it is, and in one line what it counts over what.
    better : Direction
        Which way is good, where that is beyond dispute.
    p_value : float or None
        Of the exact test of two rates against the window before, where the figure is a rate.
    history : sequence of float or None
        The windows before, oldest first, up to eight; filled from the stored pages where it is empty.
    """

    id: str
    estimate: Estimate
    previous: float | None = None
    label: str = ""
    definition: str = ""
    better: Direction = Direction.NEITHER
    p_value: float | None = None
    history: Sequence[float | None] = ()

    @property
    def change(self) -> float | None:
        """The value less the one before."""
        if self.estimate.value is None or self.previous is None:
            return None
        return self.estimate.value - self.previous

    def row(self) -> dict[str, Any]:
        """Give the figure as `figures.json` holds it."""
        estimate = self.estimate
        parts = (estimate.value, estimate.unit, estimate.n, estimate.low, estimate.high, estimate.level)
        return dict(zip(KEYS, (self.id, *parts, estimate.method, estimate.reason, self.previous), strict=True))

    def judgement(self) -> Judgement:
        """Say what the change may be called.

        "Better" and "worse" need a direction, and either an exact test of two rates below 0.05 or a value outside
        the range of the eight windows before; everything else is within the usual range.
        """
        if self.change is None:
            return Judgement.UNKNOWN
        if self.change == 0 or not (self._is_significant() or self._leaves_range()):
            return Judgement.USUAL
        if self.better is Direction.NEITHER:
            return Judgement.OUTSIDE
        return Judgement.BETTER if (self.change > 0) == (self.better is Direction.HIGHER) else Judgement.WORSE

    def _is_significant(self) -> bool:
        return self.p_value is not None and self.p_value < SIGNIFICANT

    def _leaves_range(self) -> bool:
        known = [value for value in self.history if value is not None]
        value = self.estimate.value
        if value is None or len(known) < WINDOWS_BEFORE:
            return False
        return value < min(known) or value > max(known)
