"""The value that every figure travels in: a number with its unit, its n, its interval and how it was made."""

import math
from dataclasses import dataclass
from typing import Self

from gangline.estimates.wording import number, span, word, words

USUAL_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its uncertainty.

    Attributes
    ----------
    value : float or None
        The figure; None if and only if `reason` says why there is none.
    unit : str
        `ratio` (shown as a percentage), `ratio_difference` (percentage points), `times` (a ratio of
        two figures), `index`, `shape`, `p`, `count`, `h`, `min`, `s`, `per_1000_node_days`, or the plural noun of what
        is counted (`sessions`).
    n : int or None
        What the figure rests on: the denominator of a proportion, the number of observations or events.
    low, high : float or None
        The interval. Where only one is None, that side has no bound. An interval may stand without a value
        (no failure seen: the mean time between failures has a lower bound only).
    level : float or None
        The interval's (true) coverage, 0 to 1.
    method : str
        The estimator and its interval, in a few words.
    reason : str or None
        Why there is no value.
    numerator : int or None
        The hits of a proportion.

    Raises
    ------
    ValueError
        If value and reason are both there or both missing, or a number is NaN or infinite.

    Examples
    --------
    >>> print(Estimate(1 / 3, "ratio", 12, 0.1381, 0.6094, 0.95, "Wilson", numerator=4))
    4 of 12, 33.3 % (13.8 to 60.9)
    >>> print(Estimate(1.9, "h", 4, 0.5, 9.7, 0.875, "median, smallest and largest"))
    1.9 h (n = 4; 0.5 to 9.7, 87.5 %)
    >>> print(Estimate.missing("h", "no closed episode"))
    not measured: no closed episode
    """

    value: float | None
    unit: str
    n: int | None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    method: str = ""
    reason: str | None = None
    numerator: int | None = None

    def __post_init__(self) -> None:
        if (self.value is None) != bool(self.reason):
            raise ValueError("an estimate has either a value or the reason why there is none")
        for name in ("value", "low", "high", "level"):
            part = getattr(self, name)
            if part is not None and not math.isfinite(part):
                raise ValueError(f"{name} of an estimate must be finite, or None; got {part}")

    @classmethod
    def missing(
        cls,
        unit: str,
        reason: str,
        *,
        n: int | None = None,
        low: float | None = None,
        high: float | None = None,
        level: float | None = None,
        method: str = "",
        numerator: int | None = None,
    ) -> Self:
        """Make an estimate without a value: `reason` reads after "not measured: "; a bound may still be known."""
        return cls(None, unit, n, low, high, level, method, reason, numerator)

    def __str__(self) -> str:
        return self.sentence()

    @property
    def brief(self) -> str:
        """The value with its unit alone, for a sentence that says the rest.

        Examples
        --------
        >>> Estimate(0.856, "ratio", 12).brief, Estimate(0.0004, "p", 17).brief, Estimate(0.25, "p", 17).brief
        ('85.6 %', 'p < 0.001', 'p = 0.250')
        >>> Estimate.missing("h", "no closed episode").brief
        'not measured'
        """
        if self.value is None:
            return "not measured"
        said = words(self.value, self.unit)
        if self.unit != "p":
            return said
        return f"p {said}" if said.startswith("<") else f"p = {said}"

    def sentence(self) -> str:
        """Say the figure with n and interval as it stands in running text; the level is named where it is not 95 %."""
        if self.value is None:
            bound = self._interval()
            return f"not measured: {self.reason}" + (f" ({bound} {word(self.unit)}".rstrip() + ")" if bound else "")
        head = words(self.value, self.unit)
        if self.numerator is not None and self.n is not None:
            head = f"{self.numerator:,} of {self.n:,}, {head}"
        notes = "; ".join(note for note in (self._population(), self._interval()) if note)
        return f"{head} ({notes})" if notes else head

    def _population(self) -> str:
        if self.n is None or self.numerator is not None or self.n == self.value:
            return ""
        return f"n = {self.n:,}"

    def _interval(self) -> str:
        text = span(self.low, self.high, self.unit)
        if text and self.level is not None and abs(self.level - USUAL_LEVEL) >= 0.0005:
            text += f", {number(self.level, 'ratio')} %"
        return text
