"""Timestamps of a Prometheus file: seconds or milliseconds, told by their size, one unit a file."""

from datetime import datetime

import numpy as np

from gangline.sources.prometheus_numbers import Numbers, parse_numbers
from gangline.sources.read_log import SourceRefusedError
from gangline.sources.samples import TimesMs

SECONDS_MIN, SECONDS_MAX = 946_684_800, 4_102_444_800  # 2000 to 2100: no scrape is older, no clock that far ahead
MS_MIN, MS_MAX = SECONDS_MIN * 1000, SECONDS_MAX * 1000
KEPT_TEXTS = 64
KEPT_BYTES = 64 << 20


class TimeError(ValueError):
    """A timestamp that no clock of this century shows."""


class Clock:
    """Reads a file's timestamps, and keeps the latest lists so that what a target's series share is parsed once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._unit: str | None = None
        self._kept: dict[tuple[int, bytes, bytes], tuple[bytes, TimesMs]] = {}
        self._kept_bytes = 0

    @property
    def unit(self) -> str | None:
        """`s` or `ms`; null before the first timestamp."""
        return self._unit

    def list_of_ms(self, text: bytes, line: int | None) -> TimesMs:
        """Milliseconds of a comma-separated list; the same text gives the same array."""
        key = (len(text), text[:64], text[-64:])
        known = self._kept.get(key)
        if known is not None and known[0] == text:
            return known[1]
        times_ms = self.to_ms(parse_numbers(text), line)
        self._keep(key, text, times_ms)
        return times_ms

    def to_ms(self, numbers: Numbers, line: int | None) -> TimesMs:
        """Milliseconds of timestamps in the file's unit.

        Raises
        ------
        TimeError
            Where a number is neither seconds nor milliseconds.
        SourceRefusedError
            Where the file mixes both.
        """
        if numbers.size == 0:
            return np.empty(0, np.int64)
        low, high = float(numbers.min()), float(numbers.max())
        units = {_unit_of(low, low, high), _unit_of(high, low, high)}
        self._unit = self._unit or _unit_of(float(numbers[0]), low, high)
        if units != {self._unit}:
            raise SourceRefusedError(
                f"{self._name}{'' if line is None else f':{line}'}: seconds and milliseconds are mixed in one file;"
                " export them apart, or bring them to one unit"
            )
        return np.rint(numbers * (1000.0 if self._unit == "s" else 1.0)).astype(np.int64)

    def token_of(self, instant: datetime) -> bytes:
        """An instant as a timestamp in the file's unit."""
        seconds = instant.timestamp()
        return f"{seconds:.3f}".encode() if self._unit == "s" else str(round(seconds * 1000)).encode()

    def _keep(self, key: tuple[int, bytes, bytes], text: bytes, times_ms: TimesMs) -> None:
        times_ms.setflags(write=False)
        if len(self._kept) >= KEPT_TEXTS or self._kept_bytes + len(text) > KEPT_BYTES:
            self._kept.clear()
            self._kept_bytes = 0
        self._kept[key] = (text, times_ms)
        self._kept_bytes += len(text)


def _unit_of(number: float, low: float, high: float) -> str:
    if SECONDS_MIN <= number < SECONDS_MAX:
        return "s"
    if MS_MIN <= number < MS_MAX:
        return "ms"
    said = f"a time of {low:.15g}" if low == high else f"times of {low:.15g} to {high:.15g}"
    raise TimeError(
        f"{said}: neither seconds nor milliseconds since 1970, in the years 2000 to 2099; set its clock,"
        " or leave it out"
    )
